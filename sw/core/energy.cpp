// SPDX-License-Identifier: Apache-2.0
#include "sw/core/energy.h"

namespace sluice {

Energy energy_of(const EnergyEvents& events, const MachineConfig& machine) {
  const EnergyConfig& pj = machine.energy;
  const auto times = [](std::uint64_t count, double picojoule) { return static_cast<double>(count) * picojoule * 1e-12; };
  const std::uint64_t lanes = events.alu_lanes + events.sfu_lanes + events.dp_lanes + events.tensor_lanes;
  Energy energy;
  energy.seconds = static_cast<double>(events.cycles) / (machine.core_mhz * 1e6);
  energy.sm_dynamic = times(events.warp_instructions, pj.instruction) + times(lanes, pj.registers) +
                      times(events.alu_lanes, pj.alu) + times(events.sfu_lanes, pj.sfu) + times(events.dp_lanes, pj.dp) +
                      times(events.tensor_lanes, pj.tensor) + times(events.shared_passes, pj.shared) +
                      times(events.l1_lines, pj.l1) + pj.sm_clock_watts * machine.num_sms * energy.seconds;
  energy.memory_dynamic = times(events.l2_lines, pj.l2) + times(events.noc_bytes, pj.noc_byte) +
                          times(events.dram_bytes, pj.dram_byte) + times(events.dram_activates, pj.dram_activate);
  energy.sm_leakage = pj.sm_leakage_watts * machine.num_sms * energy.seconds;
  return energy;
}

}  // namespace sluice
