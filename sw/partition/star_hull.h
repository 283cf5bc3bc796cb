// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>

#include "sw/core/profile.h"

namespace sluice {

/// The least star-shaped curve that is nowhere below a profile: no CTA of it issues more beside others than beside fewer.
///
/// CTAs on one SM compete for it, so what a CTA issues, IPC(n) / n, does not rise with n. A sample that lies below the line from
/// the origin to a sample with more CTAs is therefore too low, and the line is the least that it can be: IPC'(n) = max over m >=
/// n of IPC(m) n / m. The same, walked downwards: IPC'(n) = max(IPC(n), IPC'(n + 1) n / (n + 1)). The derivation and its error
/// bound are in docs/reference/blocks/partition_core.md.
///
/// @param profile  performance with 1, 2, ... CTAs, not negative, any unit
[[nodiscard]] inline Profile star_hull(std::span<const double> profile) {
  Profile hull(profile.begin(), profile.end());
  std::size_t anchor = hull.size();  // CTAs of the sample whose line is followed
  for (std::size_t ctas = hull.size(); ctas > 0; --ctas) {
    const double line = profile[anchor - 1] * static_cast<double>(ctas) / static_cast<double>(anchor);
    if (profile[ctas - 1] >= line) anchor = ctas;
    hull[ctas - 1] = std::max(profile[ctas - 1], line);
  }
  return hull;
}

}  // namespace sluice
