// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/waterfill.h"

#include <algorithm>

namespace sluice {

std::optional<WaterfillResult> waterfill(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                         const SmResources& capacity, double epsilon) {
  struct Kernel {
    PerformanceSteps steps;
    std::size_t at = 0;
    bool full = false;
  };
  std::vector<Kernel> kernels;
  SmResources left = capacity;
  for (std::size_t k = 0; k < profiles.size(); ++k) {
    kernels.push_back({performance_steps(profiles[k])});
    if (!fits(demand[k], left)) return std::nullopt;
    left = take(left, demand[k]);
  }
  for (;;) {
    std::size_t worst = kernels.size();
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].full) continue;
      if (worst == kernels.size() ||
          kernels[k].steps.performance[kernels[k].at] < kernels[worst].steps.performance[kernels[worst].at]) {
        worst = k;
      }
    }
    if (worst == kernels.size()) break;
    Kernel& kernel = kernels[worst];
    if (kernel.at + 1 == kernel.steps.cta_count.size()) {
      kernel.full = true;
      continue;
    }
    const unsigned count = kernel.steps.cta_count[kernel.at + 1] - kernel.steps.cta_count[kernel.at];
    const double gain = kernel.steps.performance[kernel.at + 1] - kernel.steps.performance[kernel.at];
    if ((epsilon > 0 && gain <= epsilon * count) || !fits(demand[worst], left, CtaCount(count))) {
      kernel.full = true;
      continue;
    }
    left = take(left, demand[worst], CtaCount(count));
    ++kernel.at;
  }
  WaterfillResult result;
  for (const Kernel& kernel : kernels) {
    result.ctas.emplace_back(kernel.steps.cta_count[kernel.at]);
    result.performance.push_back(kernel.steps.performance[kernel.at]);
  }
  return result;
}

}  // namespace sluice
