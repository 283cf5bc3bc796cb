#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "sw/core/machine.h"
#include "systemc/memory/packet.h"
#include "systemc/sim_clock.h"

namespace sluice {

/// Crossbar between SMs and L2 slices: fixed latency, and one port a slice and an SM in each direction, each of
/// `bytes_per_cycle`. A packet reserves its ports when it is sent, so a hop costs no event; ports serve in order of sending.
/// TLM-2.0 non-blocking: BEGIN_REQ is answered END_REQ at once, the response completes with TLM_COMPLETED.
class Interconnect : public sc_core::sc_module {
 public:
  using Target = tlm_utils::simple_target_socket_tagged<Interconnect>;
  using Initiator = tlm_utils::simple_initiator_socket_tagged<Interconnect>;

  Interconnect(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock);

  std::vector<std::unique_ptr<Target>> from_sm;      ///< one an SM
  std::vector<std::unique_ptr<Initiator>> to_slice;  ///< one an L2 slice

  /// Which slice holds a line: neighbouring pairs of lines go to neighbouring slices.
  [[nodiscard]] std::uint32_t slice_of(std::uint64_t address) const;

 private:
  tlm::tlm_sync_enum request(int sm, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int slice, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  [[nodiscard]] std::uint64_t transfer_cycles(std::uint32_t payload_bytes) const;

  InterconnectConfig config_;
  SimClock clock_;
  std::vector<std::uint64_t> slice_in_free_, slice_out_free_, sm_out_free_, sm_in_free_;  ///< cycle each port is free
};

}  // namespace sluice
