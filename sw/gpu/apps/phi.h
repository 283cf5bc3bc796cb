// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>

namespace sluice::gpu {

/// Equation 3's phi_mem of each application, from a raw Nsight Compute page of the applications alone: cycles in which a
/// scheduler issued nothing, times the share of the long scoreboard among the reasons its warps waited for. Silicon has no such
/// counter that software could read while kernels run side by side, so a profile of each kernel alone stands in.
/// @throws InputError when the page lacks a column
[[nodiscard]] std::map<std::string, double> read_phi(const std::filesystem::path& page);

/// "BLK" for "black_scholes(const float *, ...)"; empty when no application has such a kernel.
[[nodiscard]] std::string app_of_kernel(const std::string& kernel_name);

}  // namespace sluice::gpu
