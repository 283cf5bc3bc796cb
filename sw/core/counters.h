// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>

#include "sw/core/energy.h"
#include "sw/core/units.h"

namespace sluice {

/// Why an SM issued nothing in a cycle, summed over SMs (Warped-Slicer figure 1). A cycle in which both schedulers issued
/// nothing counts once, for the reason of most of its warps.
struct StallCycles {
  std::uint64_t long_memory = 0, execution_resource = 0, raw = 0, instruction_buffer = 0, barrier = 0, idle = 0;
  StallCycles& operator+=(const StallCycles& other);
};

/// Counters of one kernel (or, in `RunResult::total`, of the machine), over the whole run and all SMs.
struct KernelCounters {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t alu_busy = 0, sfu_busy = 0, ldst_busy = 0;  ///< pipeline-cycles held (ALU: summed over its pipes)
  std::uint64_t l1_accesses = 0, l1_misses = 0;             ///< load lines; misses are requests to L2
  std::uint64_t l1_merges = 0;                              ///< load lines that were on their way: neither hits nor misses
  std::uint64_t alu_lanes = 0, sfu_lanes = 0, dp_lanes = 0, tensor_lanes = 0;  ///< lane operations issued to each pipeline
  std::uint64_t shared_passes = 0, store_lines = 0;                            ///< passes over the scratchpad banks, lines stored
  std::uint64_t noc_bytes = 0;                                                 ///< over the interconnect, both ways, with headers
  std::uint64_t l2_accesses = 0, l2_misses = 0;                                ///< lines, loads and stores
  std::uint64_t dram_bytes = 0, dram_row_hits = 0, dram_requests = 0;
  std::uint64_t ctas_dispatched = 0, ctas_completed = 0;
  std::uint64_t finish_cycle = 0;                           ///< cycle the target was reached; 0 = not reached
  KernelCounters& operator+=(const KernelCounters& other);  ///< finish_cycle: the later one
};

/// Counters of one SM, all kernels.
struct SmCounters {
  KernelCounters work;  ///< what the SM itself counts: issue, pipelines, L1; no L2, DRAM, CTAs
  StallCycles stalls;
};

/// Names in JSON, one table for every writer and reader.
inline constexpr std::pair<const char*, std::uint64_t KernelCounters::*> kCounterFields[] = {
    {"warp_instructions", &KernelCounters::warp_instructions},
    {"thread_instructions", &KernelCounters::thread_instructions},
    {"alu_busy", &KernelCounters::alu_busy},
    {"sfu_busy", &KernelCounters::sfu_busy},
    {"ldst_busy", &KernelCounters::ldst_busy},
    {"l1_accesses", &KernelCounters::l1_accesses},
    {"l1_misses", &KernelCounters::l1_misses},
    {"l1_merges", &KernelCounters::l1_merges},
    {"alu_lanes", &KernelCounters::alu_lanes},
    {"sfu_lanes", &KernelCounters::sfu_lanes},
    {"dp_lanes", &KernelCounters::dp_lanes},
    {"tensor_lanes", &KernelCounters::tensor_lanes},
    {"shared_passes", &KernelCounters::shared_passes},
    {"store_lines", &KernelCounters::store_lines},
    {"noc_bytes", &KernelCounters::noc_bytes},
    {"l2_accesses", &KernelCounters::l2_accesses},
    {"l2_misses", &KernelCounters::l2_misses},
    {"dram_bytes", &KernelCounters::dram_bytes},
    {"dram_row_hits", &KernelCounters::dram_row_hits},
    {"dram_requests", &KernelCounters::dram_requests},
    {"ctas_dispatched", &KernelCounters::ctas_dispatched},
    {"ctas_completed", &KernelCounters::ctas_completed},
    {"finish_cycle", &KernelCounters::finish_cycle},
};
inline constexpr std::pair<const char*, std::uint64_t StallCycles::*> kStallFields[] = {
    {"long_memory", &StallCycles::long_memory},
    {"execution_resource", &StallCycles::execution_resource},
    {"raw", &StallCycles::raw},
    {"instruction_buffer", &StallCycles::instruction_buffer},
    {"barrier", &StallCycles::barrier},
    {"idle", &StallCycles::idle},
};

/// What the counters say about energy. @param cycles  length of the run
[[nodiscard]] EnergyEvents energy_events(const KernelCounters& counters, Cycles cycles);

}  // namespace sluice
