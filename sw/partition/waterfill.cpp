// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/waterfill.h"

#include "sw/partition/raise_worst.h"

namespace sluice {

std::optional<WaterfillResult> waterfill(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                         const SmResources& capacity, double epsilon) {
  std::vector<PerformanceSteps> steps;
  for (const Profile& profile : profiles) steps.push_back(performance_steps(profile));
  const auto at = raise_worst(steps, demand, capacity, epsilon);
  if (!at) return std::nullopt;
  WaterfillResult result;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    result.ctas.emplace_back(steps[k].cta_count[(*at)[k]]);
    result.performance.push_back(steps[k].performance[(*at)[k]]);
  }
  return result;
}

}  // namespace sluice
