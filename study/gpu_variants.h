// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "study/gpu_lines.h"

// Figures of what the papers build otherwise than Sluice does, and of the same scenes through the sharing service. Each is empty
// where its measurement is not there.
namespace sluice::gpu {

/// EffiSha, figure 10: the flag in host memory, the proxy, adaptive checks, beside the pushed quota.
[[nodiscard]] figures::Figure effisha_flags(const std::filesystem::path& folder, RunChecks& checks);
/// EffiSha, figure 13: two processes of each kernel that take turns under the service.
[[nodiscard]] figures::Figure effisha_service_latency(const std::filesystem::path& folder, RunChecks& checks);
/// Slate, figure 5: sizes of tasks.
[[nodiscard]] figures::Figure slate_tasks(const std::filesystem::path& folder);
/// What the service adds to each of Slate's kernels alone.
[[nodiscard]] figures::Figure slate_service(const std::filesystem::path& folder);
/// Kernelet, figure 8: copies beside kernels.
[[nodiscard]] figures::Figure kernelet_copies(const std::filesystem::path& folder, RunChecks& checks);
/// The 45 pairs as processes.
[[nodiscard]] figures::Figure five_service(const std::filesystem::path& folder, RunChecks& checks);

}  // namespace sluice::gpu
