// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/gpu/apps/corun_rates.h"
#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

/// Writes NAME.jsonl: a line a kernel with its rates alone, a line a pair with the rates at every slice ratio.
/// @param paper   of paper_kernels()
/// @param splits  also where each kernel of a pair has SMs of its own, in steps of a dozen
void measure_corun_rates(GpuSession& session, const ExperimentOptions& options, const std::string& paper, const std::string& name,
                         bool splits);

/// What such a file says.
[[nodiscard]] CorunRates known_rates(const GpuSession& session, const ExperimentOptions& options, const std::string& paper,
                                     const std::string& name);
/// What Kernelet's model makes of the counters in --profiles, and those rates. @param experiment  for a message
[[nodiscard]] CoRunTables kernelet_knows(GpuSession& session, const ExperimentOptions& options, const std::string& paper,
                                         const CorunRates& rates, const char* experiment);

}  // namespace sluice::gpu
