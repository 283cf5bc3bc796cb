// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures of Kernelet's model for one kernel from what it does alone: counters, and its IPC at two occupancies.
#include "sw/partition/markov.h"

namespace sluice {

/// What the model needs of a machine. Latencies in cycles, for an access with nothing else under way.
struct MarkovMachine {
  unsigned schedulers = 4;        ///< virtual SMs of an SM, at least 1
  double cycles_per_sector = 0;   ///< a_0: cycles of DRAM for a 32-byte sector, of one virtual SM's share of the bandwidth
  double dram_latency = 600;      ///< b_0 in the paper
  double l2_latency = 270;        ///< of an access that hits in L2
  double l1_latency = 33;         ///< of one that hits in L1
  double memory_stall_limit = 6;  ///< a kernel with fewer `memory_stalls` is limited by its pipes
};

/// Counters of one kernel alone, each for one warp instruction of it. At least 0 and finite.
struct MarkovCounters {
  double loads = 0;             ///< global load instructions, at most 1
  double l2_sectors = 0;        ///< sectors that loads read from L2
  double dram_sectors = 0;      ///< of these, that L2 has to fetch from DRAM
  double store_sectors = 0;     ///< sectors that stores write
  double memory_stalls = 0;     ///< warps that wait for memory in a cycle that issues ("long scoreboard")
  double dram_utilisation = 0;  ///< of the bandwidth that the machine reaches, 0..1
};

/// IPC of one SM with one CTA of the kernel, and with as many as fit.
struct MarkovWindows {
  unsigned warps_per_cta = 1, full_ctas = 1;
  double one_ipc = 0, full_ipc = 0;  ///< above 0, at most the SM's schedulers
};

/// One kind of wait, with R_m and requests such that the model gives the IPC of both windows, as nearly as it can. Counted are
/// waits, not loads: a warp runs on after a load until it needs the value, and may by then wait for several.
/// issue_cycles: schedulers / full_ipc where pipes limit the kernel. traffic: its DRAM utilisation. exposure: DRAM's share of
/// its L2 sectors. @throws InputError naming the figure that is out of its range
[[nodiscard]] MarkovKernel calibrated_kernel(const MarkovCounters& counters, const MarkovWindows& windows,
                                             const MarkovMachine& machine);

}  // namespace sluice
