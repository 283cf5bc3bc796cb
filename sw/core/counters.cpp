// SPDX-License-Identifier: Apache-2.0
#include "sw/core/counters.h"

#include <algorithm>

namespace sluice {

StallCycles& StallCycles::operator+=(const StallCycles& other) {
  for (const auto& [name, field] : kStallFields) this->*field += other.*field;
  return *this;
}

KernelCounters& KernelCounters::operator+=(const KernelCounters& other) {
  const std::uint64_t later = std::max(finish_cycle, other.finish_cycle);
  for (const auto& [name, field] : kCounterFields) this->*field += other.*field;
  finish_cycle = later;
  return *this;
}

EnergyEvents energy_events(const KernelCounters& k, Cycles cycles) {
  return {cycles.value(), k.warp_instructions, k.alu_lanes,     k.sfu_lanes,
          k.dp_lanes,     k.tensor_lanes,      k.shared_passes, k.l1_accesses + k.store_lines,
          k.l2_accesses,  k.noc_bytes,         k.dram_bytes,    k.dram_requests - k.dram_row_hits};
}

}  // namespace sluice
