// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/gpu/apps/apps.h"

namespace sluice::gpu {

/// Milliseconds of a launch where all kernels are to last equally long.
inline constexpr double kEqualLength = 15;

/// The grid with which a launch of the kernel lasts so long on an H200: measured (results/h200/papers).
/// @throws InputError naming the application when there is none for that time
[[nodiscard]] AppSize measured_size(const std::string& app, double milliseconds);

}  // namespace sluice::gpu
