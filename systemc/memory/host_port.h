// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <queue>
#include <systemc>
#include <vector>

#include "sw/core/machine.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// Host memory behind PCIe: every read takes the same time, and only so many are in flight; a read that finds no place waits for
/// the next that is free. Each answer is announced, with its time, as its read arrives: it costs no event.
class HostPort : public sc_core::sc_module {
 public:
  HostPort(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock);

  tlm_utils::simple_target_socket<HostPort> from_interconnect;
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& packet, tlm::tlm_phase& phase, sc_core::sc_time& delay);

  SimClock clock_;
  std::uint64_t latency_;  ///< core cycles
  std::size_t places_;
  std::uint64_t reads_ = 0;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ends_;  ///< of the reads in flight
};

/// Core cycles that a read of host memory takes while none waits.
[[nodiscard]] std::uint64_t host_read_cycles(const MachineConfig& machine);

}  // namespace sluice
