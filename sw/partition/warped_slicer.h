// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "sw/core/machine.h"
#include "sw/core/profile.h"
#include "sw/core/share.h"

namespace sluice {

/// Warped-Slicer's decision from scaled profiles: water-filling, then the loss guard; Spatial (each kernel's occupancy on its own
/// SMs) when the guard trips or one CTA of each kernel does not fit. The reference of the partition core, in double precision.
[[nodiscard]] Partition warped_slicer_partition(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                                const MachineConfig& machine);

}  // namespace sluice
