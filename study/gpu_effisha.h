// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "study/gpu_lines.h"

// Figures of EffiSha's evaluation on a GPU.
namespace sluice::gpu {

/// Median milliseconds of a launch alone.
struct Alone {
  double native = 0, quota = 0;
};
[[nodiscard]] figures::Figure effisha_kernels(const std::map<std::string, Alone>& alone);
[[nodiscard]] figures::Figure effisha_overhead(const std::filesystem::path& folder);
[[nodiscard]] figures::Figure effisha_slices(const std::filesystem::path& folder, RunChecks& checks);
[[nodiscard]] figures::Figure effisha_latency(const std::filesystem::path& folder);
/// Of the latencies of effisha_latency: means over the kernels of the medians.
[[nodiscard]] HandoverCosts handover_costs(const std::filesystem::path& folder);
/// Figures 12, 14, 15 of one setting of priorities.
[[nodiscard]] figures::Figure effisha_schedules(const std::string& setting, const std::map<std::string, ScenarioOutcome>& systems,
                                                const std::map<std::string, Alone>& alone, const HandoverCosts& costs,
                                                RunChecks& checks);
[[nodiscard]] figures::Figure effisha_evictions(const std::filesystem::path& folder);

}  // namespace sluice::gpu
