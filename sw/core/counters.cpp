// SPDX-License-Identifier: Apache-2.0
#include "sw/core/counters.h"

#include <algorithm>

namespace sluice {

StallCycles& StallCycles::operator+=(const StallCycles& other) {
  long_memory += other.long_memory;
  execution_resource += other.execution_resource;
  raw += other.raw;
  instruction_buffer += other.instruction_buffer;
  barrier += other.barrier;
  idle += other.idle;
  return *this;
}

KernelCounters& KernelCounters::operator+=(const KernelCounters& other) {
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  alu_busy += other.alu_busy;
  sfu_busy += other.sfu_busy;
  ldst_busy += other.ldst_busy;
  l1_accesses += other.l1_accesses;
  l1_misses += other.l1_misses;
  l1_merges += other.l1_merges;
  alu_lanes += other.alu_lanes;
  sfu_lanes += other.sfu_lanes;
  dp_lanes += other.dp_lanes;
  tensor_lanes += other.tensor_lanes;
  shared_passes += other.shared_passes;
  store_lines += other.store_lines;
  noc_bytes += other.noc_bytes;
  l2_accesses += other.l2_accesses;
  l2_misses += other.l2_misses;
  dram_bytes += other.dram_bytes;
  dram_row_hits += other.dram_row_hits;
  dram_requests += other.dram_requests;
  ctas_dispatched += other.ctas_dispatched;
  ctas_completed += other.ctas_completed;
  finish_cycle = std::max(finish_cycle, other.finish_cycle);
  return *this;
}

EnergyEvents energy_events(const KernelCounters& k, Cycles cycles) {
  return {cycles.value(), k.warp_instructions, k.alu_lanes,     k.sfu_lanes,
          k.dp_lanes,     k.tensor_lanes,      k.shared_passes, k.l1_accesses + k.store_lines,
          k.l2_accesses,  k.noc_bytes,         k.dram_bytes,    k.dram_requests - k.dram_row_hits};
}

}  // namespace sluice
