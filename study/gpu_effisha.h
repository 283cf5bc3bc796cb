// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "study/gpu_lines.h"

// Figures of single kernels in EffiSha's evaluation on a GPU.
namespace sluice::gpu {

/// Median milliseconds of a launch alone.
struct Alone {
  double native = 0, quota = 0;
};
[[nodiscard]] figures::Figure effisha_kernels(const std::map<std::string, Alone>& alone);
[[nodiscard]] figures::Figure effisha_overhead(const std::filesystem::path& folder);
[[nodiscard]] figures::Figure effisha_latency(const std::filesystem::path& folder);

}  // namespace sluice::gpu
