// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sw/core/machine.h"

namespace sluice {

/// Events of a run that cost energy, summed over SMs.
struct EnergyEvents {
  std::uint64_t cycles = 0;  ///< core cycles of the run
  std::uint64_t warp_instructions = 0;
  std::uint64_t alu_lanes = 0, sfu_lanes = 0, dp_lanes = 0, tensor_lanes = 0;
  std::uint64_t shared_passes = 0, l1_lines = 0, l2_lines = 0;
  std::uint64_t noc_bytes = 0, dram_bytes = 0, dram_activates = 0;
};

/// Energy of a run, joules.
struct Energy {
  double sm_dynamic = 0;      ///< issue, registers, pipelines, scratchpad, L1; the clock of every SM
  double sm_leakage = 0;      ///< of every SM, busy or not
  double memory_dynamic = 0;  ///< interconnect, L2, DRAM
  double seconds = 0;
  [[nodiscard]] double total() const { return sm_dynamic + sm_leakage + memory_dynamic; }
  [[nodiscard]] double sm_dynamic_watts() const { return seconds > 0 ? sm_dynamic / seconds : 0; }
  [[nodiscard]] double watts() const { return seconds > 0 ? total() / seconds : 0; }
};

[[nodiscard]] Energy energy_of(const EnergyEvents& events, const MachineConfig& machine);

}  // namespace sluice
