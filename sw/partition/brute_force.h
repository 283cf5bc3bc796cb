// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sw/partition/waterfill.h"

namespace sluice {

/// Exhaustive search for the goal of water-filling (Warped-Slicer, equation 1): over every combination of CTA counts that fits on
/// an SM, each kernel at least 1, the highest minimum of normalised performance. Among those the highest sum; among those the
/// first in lexicographic order. Reads the curves as they are, without Q and M: a check that shares nothing with the greedy
/// search but the normalisation. Takes O(N^K).
///
/// @return counts and the performance there; nullopt when one CTA of each does not fit together
/// @throws InvalidProfile when a curve is empty, negative or not finite
[[nodiscard]] std::optional<WaterfillResult> brute_force(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                                         const SmResources& capacity);

/// The search itself, on curves of any sign that are not normalised: more is better. @pre finite values
[[nodiscard]] std::optional<WaterfillResult> best_minimum(std::vector<Profile> curves, std::span<const SmResources> demand,
                                                          const SmResources& capacity);

}  // namespace sluice
