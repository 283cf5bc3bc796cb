// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was measured of two kernels side by side on a GPU, and what Kernelet makes of it; needs no GPU.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sw/gpu/apps/ncu_page.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice::gpu {

/// What was measured of the kernels of a paper, each with the grid of equal length.
struct CorunRates {
  std::map<std::string, std::vector<double>> alone;  ///< blocks a second with 1, 2, ... CTAs on every SM
  CoRunTable table;                                  ///< of every pair, as if a block were one instruction
};

/// @param sm_cycles  of all SMs together, a second
/// @throws InputError naming the file when it is not there or lacks a kernel of the paper
[[nodiscard]] CorunRates read_corun_rates(const std::filesystem::path& file, const std::string& paper, double sm_cycles);

/// What Kernelet and its OPT decide by.
/// @param paper    whose kernels they are
/// @param kernels  of paper_kernels(paper), in its order and under its names
/// @throws InputError when the page lacks a kernel
[[nodiscard]] CoRunTables kernelet_tables(const MarkovPage& page, const CorunRates& rates, const std::string& paper,
                                          const std::vector<KernelDescriptor>& kernels, MachineConfig machine, double sm_cycles);

}  // namespace sluice::gpu
