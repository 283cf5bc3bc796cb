// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/machine.h"
#include "systemc/memory/input_queued_switch.h"
#include "systemc/memory/packet.h"
#include "systemc/memory/port_calendar.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// Crossbars between SMs and L2 slices, one each way: fixed latency, and one port a slice and an SM of `bytes_per_cycle`.
/// Two models of switching. Without FIFO inputs a packet reserves its ports when it is sent (PortCalendar), so a hop costs no
/// event, and nothing blocks what is behind it. With `input_queued` the ports arbitrate every cycle (InputQueuedSwitch).
/// TLM-2.0 non-blocking: BEGIN_REQ is answered END_REQ at once, BEGIN_RESP with TLM_COMPLETED.
class Interconnect : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Interconnect);
  using Target = tlm_utils::simple_target_socket_tagged<Interconnect>;
  using Initiator = tlm_utils::simple_initiator_socket_tagged<Interconnect>;

  Interconnect(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock,
               std::vector<KernelCounters>& counters);

  std::vector<std::unique_ptr<Target>> from_sm;      ///< one an SM
  std::vector<std::unique_ptr<Initiator>> to_slice;  ///< one an L2 slice
  Initiator to_host;                                 ///< what is at kHostMemory and above: so rare that no port is reserved

  /// Which slice holds a line: neighbouring pairs of lines go to neighbouring slices.
  [[nodiscard]] std::uint32_t slice_of(std::uint64_t address) const;

 private:
  using Switch = InputQueuedSwitch<tlm::tlm_generic_payload*>;
  /// What a packet takes of an SM's port, and of a slice's: `units` transfers of so many cycles each.
  struct Transfer {
    std::uint32_t units = 1;
    std::uint64_t unit_cycles = 1, slice_unit_cycles = 1;
    [[nodiscard]] std::uint64_t cycles() const { return units * unit_cycles; }
    [[nodiscard]] std::uint64_t slice_cycles() const { return units * slice_unit_cycles; }
  };

  tlm::tlm_sync_enum request(int sm, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum from_host(int, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum response(int slice, tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void arbitrate();  ///< SC_METHOD, with FIFO inputs only
  void wake();
  enum class Way : std::uint8_t { ToL2, ToSm };
  /// A header, and the data of stores and of what atomics add on the way to L2, of reads and of what atomics return on the way
  /// back.
  Transfer transfer(tlm::tlm_generic_payload& packet, Way way);  ///< counts its bytes, too
  /// Reserves both ports of a way. @return cycle in which the packet is whole at the far end
  std::uint64_t through(PortCalendar& out, std::uint64_t out_cycles, PortCalendar& in, std::uint64_t in_cycles,
                        std::uint64_t ready);
  void to_l2(tlm::tlm_generic_payload& packet, std::uint64_t arrival);
  tlm::tlm_sync_enum to_sm(tlm::tlm_generic_payload& packet, std::uint64_t arrival);

  InterconnectConfig config_;
  bool sectored_;  ///< L2 answers a sector at a time
  SimClock clock_;
  std::vector<KernelCounters>& counters_;
  std::vector<PortCalendar> slice_in_, slice_out_, sm_out_, sm_in_;  ///< the ports, without FIFO inputs
  Switch requests_, responses_;
  sc_core::sc_event wake_;
};

}  // namespace sluice
