// SPDX-License-Identifier: Apache-2.0
#include "sw/core/profile.h"

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice {

PerformanceSteps performance_steps(std::span<const double> profile) {
  if (profile.empty()) throw InvalidProfile("a performance profile needs at least one CTA count");
  double best = 0;
  for (const double value : profile) {
    if (!std::isfinite(value) || value < 0) throw InvalidProfile("a performance profile holds only finite values of at least 0");
    best = std::max(best, value);
  }
  PerformanceSteps steps;
  if (best == 0) return {{1.0}, {1}};
  double highest = -1;
  for (std::size_t j = 0; j < profile.size(); ++j) {
    if (profile[j] <= highest) continue;
    highest = profile[j];
    steps.performance.push_back(profile[j] / best);
    steps.cta_count.push_back(static_cast<unsigned>(j + 1));
  }
  return steps;
}

}  // namespace sluice
