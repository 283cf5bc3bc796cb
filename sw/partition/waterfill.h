// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sw/core/profile.h"
#include "sw/core/resources.h"

namespace sluice {

/// CTAs of each kernel on one SM, and the performance each keeps there, normalised to its own best.
struct WaterfillResult {
  std::vector<CtaCount> ctas;
  std::vector<double> performance;
};

/// Water-filling over discrete CTA counts (Warped-Slicer, algorithm 1): raises the worst-off kernel step by step until no
/// step fits. What the paper's listing leaves open: a kernel at the last entry of its Q is full; a step that does not fit
/// marks that kernel full and the others go on; ties go to the lowest index.
///
/// With epsilon = 0 the worst-off kernel ends as well off as any partition can make it, whatever the shape of the curves and the
/// number of resources (docs/user/policies.md). How much the others get on top depends on the order of the steps.
///
/// @pre as many profiles as demands
/// @param profiles  one curve per kernel, IPC at 1..N CTAs on one SM (any unit; each is normalised to its own maximum)
/// @param demand    resources of one CTA of each kernel
/// @param capacity  resources of one SM
/// @param epsilon   saturation threshold: smallest gain per CTA worth taking, as a fraction of the kernel's best; 0 is the
/// paper's rule
/// @return CTAs per kernel, each at least 1; nullopt when one CTA of each does not fit together
/// @throws InvalidProfile when a curve is empty, negative or not finite
[[nodiscard]] std::optional<WaterfillResult> waterfill(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                                       const SmResources& capacity, double epsilon = 0.0);

}  // namespace sluice
