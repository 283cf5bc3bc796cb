#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "sw/device/i_device.h"
#include "systemc/memory/cache_tags.h"
#include "systemc/memory/packet.h"
#include "systemc/sim_clock.h"

namespace sluice {

/// One L2 slice: write-back, write-allocate without fetch (stores are whole lines), allocate on miss, one lookup a cycle.
/// Misses to a line already on its way wait in its MSHR. A full MSHR table, or a set whose ways are all reserved, holds the
/// queue.
class L2Slice : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(L2Slice);
  L2Slice(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock, PacketPool& pool,
          std::vector<KernelCounters>& counters);

  tlm_utils::simple_target_socket<L2Slice> from_interconnect;
  tlm_utils::simple_initiator_socket<L2Slice> to_dram;

 private:
  struct Arrival {
    std::uint64_t cycle;
    tlm::tlm_generic_payload* packet;
  };

  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum fill(tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void serve();                                   ///< SC_METHOD: head of the queue, one lookup a cycle
  bool lookup(tlm::tlm_generic_payload& packet);  ///< false: must wait for a fill
  void respond(tlm::tlm_generic_payload& packet, std::uint64_t delay_cycles);
  void evict(CacheTags::Way& way, std::uint32_t sm, std::uint32_t kernel);
  void send_to_dram(tlm::tlm_generic_payload& packet);

  SimClock clock_;
  CacheConfig config_;
  PacketPool& pool_;
  std::vector<KernelCounters>& counters_;
  CacheTags tags_;
  std::vector<std::vector<tlm::tlm_generic_payload*>> mshrs_;  ///< packets that wait for each outstanding line
  std::vector<std::uint32_t> free_mshrs_;
  std::deque<Arrival> queue_;
  std::uint64_t next_lookup_ = 0;
  bool blocked_ = false;
  sc_core::sc_event wake_;
};

}  // namespace sluice
