// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "sw/core/counters.h"
#include "systemc/memory/cache_tags.h"
#include "systemc/memory/packet.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// One L2 slice: write-back, write-allocate without fetch, allocate on miss, one lookup a cycle. With sectors it fetches and
/// writes back only those asked for or dirty; where the DRAM joins the sectors of a block, it fetches the whole block. If it
/// fills partial writes, a sector of which some bytes were never written is fetched before it leaves and when it is read. If it
/// writes rows, a dirty line that leaves takes those of its DRAM row along; they stay, clean.
/// Misses to sectors already on their way wait in the line's MSHR. A full MSHR table, or a set whose ways all await sectors,
/// holds the queue.
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
  [[nodiscard]] double lookup_cycles(tlm::tlm_generic_payload& packet) const;
  void write(CacheTags::Way& way, const PacketInfo& who) const;
  void respond(tlm::tlm_generic_payload& packet, std::uint64_t delay_cycles);
  /// The way for a miss of `line`, emptied and reserved; nullptr when the packet must wait.
  CacheTags::Way* allocate(std::uint64_t line, const PacketInfo& who);
  /// Packets that a miss of `sectors` would wait with: those of its line, or, with sectors, those that want one of its own.
  [[nodiscard]] std::uint32_t merged(const std::vector<tlm::tlm_generic_payload*>& waiting, std::uint8_t sectors) const;
  [[nodiscard]] std::uint8_t with_their_blocks(std::uint8_t sectors) const;
  void write_row_back(std::uint64_t line, const PacketInfo& who);  ///< the dirty lines in the DRAM row of `line`
  void send_to_dram(tlm::tlm_generic_payload& packet);

  SimClock clock_;
  CacheConfig config_;
  std::uint32_t block_sectors_;  ///< that one DRAM access brings
  std::uint64_t row_lines_;      ///< of a DRAM row over all channels
  PacketPool& pool_;
  std::vector<KernelCounters>& counters_;
  CacheTags tags_;
  std::vector<std::vector<tlm::tlm_generic_payload*>> mshrs_;  ///< packets that wait for each line with pending sectors
  std::vector<std::uint32_t> free_mshrs_;
  std::deque<Arrival> queue_;
  std::uint64_t next_lookup_ = 0;
  double lookup_rest_ = 0;  ///< part of a cycle by which the last lookups took longer
  /// That the DRAM takes. At 0 or less a miss that would evict a dirty line blocks the slice: a line that is read before it
  /// leaves holds an MSHR until then, and goes on at once.
  std::int64_t write_backs_left_;
  bool blocked_ = false;
  sc_core::sc_event wake_;
};

}  // namespace sluice
