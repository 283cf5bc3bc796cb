// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a raw Nsight Compute page (`ncu --page raw --csv`) of the applications alone says about their use of the memory system.
// Silicon has no such counters that software could read while kernels run side by side.
#include <filesystem>
#include <map>
#include <string>

#include "sw/partition/markov_fit.h"

namespace sluice::gpu {

/// Blocks a second of each application that the shared memory system can give all SMs together: B_max over the traffic of a block
/// (docs/reference/blocks/profile_counters.md), the lesser of crossbar (L2 slices of 64 bytes a cycle; lines of loads that leave
/// the SM, of stores) and DRAM (the bus at its clock; bytes read and written). Infinity for one without traffic.
/// @throws InputError when the page lacks a column, is cut off, or a launch has no blocks
[[nodiscard]] std::map<std::string, double> read_ceilings(const std::filesystem::path& page);

/// What Kernelet's model takes of a page.
struct MarkovPage {
  struct App {
    MarkovCounters counters;
    double instructions_per_block = 0;  ///< warp instructions, above 0
  };
  MarkovMachine machine;  ///< cycles_per_sector from the highest DRAM bandwidth that a launch on the page reaches
  std::map<std::string, App> apps;
};
/// @throws InputError when the page lacks a column, is cut off, or a launch has no blocks, instructions, time or schedulers
[[nodiscard]] MarkovPage read_markov(const std::filesystem::path& page);

/// "BLK" for "black_scholes(const float *, ...)"; empty when no application has such a kernel.
[[nodiscard]] std::string app_of_kernel(const std::string& kernel_name);

}  // namespace sluice::gpu
