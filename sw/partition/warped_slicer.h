// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>

#include "sw/core/machine.h"
#include "sw/core/profile.h"
#include "sw/core/share.h"

namespace sluice {

/// Warped-Slicer section IV: co-location is disbanded when a kernel loses more than `limit` / K of its own best (the paper: 120 %
/// / K).
///
/// @param performance  of each of the K kernels at its quota, normalised to its own best, 0..1
/// @return true when the partition stands
[[nodiscard]] inline bool loss_acceptable(std::span<const double> performance, double limit = 1.2) {
  const double most = limit / static_cast<double>(performance.size());
  return std::ranges::all_of(performance, [most](double p) { return 1.0 - p <= most; });
}

/// Warped-Slicer's decision from scaled profiles: water-filling, then the loss guard; Spatial (each kernel's occupancy on its own
/// SMs) when the guard trips or one CTA of each kernel does not fit. The reference of the partition core, in double precision.
[[nodiscard]] Partition warped_slicer_partition(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                                const MachineConfig& machine);

}  // namespace sluice
