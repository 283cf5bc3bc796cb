// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/star_hull.h"

#include <algorithm>

namespace sluice {

Profile star_hull(std::span<const double> profile) {
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
