// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sw/gpu/experiments/experiments.h"
#include "sw/policy/corun_table.h"
#include "sw/scheduler/slate_scheduler.h"

namespace sluice::gpu {

/// What was measured of the kernels of a paper, each with the grid of equal length.
struct CorunRates {
  std::map<std::string, std::vector<double>> alone;  ///< blocks a second with 1, 2, ... CTAs on every SM
  CoRunTable table;                                  ///< of every pair, as if a block were one instruction
  std::vector<CorunMeasurement> splits;              ///< of every pair on SMs of their own; may be empty
};

/// Writes NAME.jsonl: a line a kernel with its rates alone, a line a pair with the rates at every slice ratio.
/// @param paper   of paper_kernels()
/// @param splits  also where each kernel of a pair has SMs of its own, in steps of a dozen
void measure_corun_rates(GpuSession& session, const ExperimentOptions& options, const std::string& paper, const std::string& name,
                         bool splits);
/// @param sm_cycles  of all SMs together, a second
/// @throws InputError naming the file when it is not there or lacks a kernel of the paper
[[nodiscard]] CorunRates read_corun_rates(const std::filesystem::path& file, const std::string& paper, double sm_cycles);

}  // namespace sluice::gpu
