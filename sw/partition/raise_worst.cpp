// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/raise_worst.h"

namespace sluice {

std::optional<std::vector<std::size_t>> raise_worst(std::span<const PerformanceSteps> steps, std::span<const SmResources> demand,
                                                    const SmResources& capacity, double epsilon) {
  SmResources left = capacity;
  for (const SmResources& cta : demand) {
    if (!fits(cta, left)) return std::nullopt;
    left = take(left, cta);
  }
  std::vector<std::size_t> at(steps.size(), 0);
  std::vector<bool> full(steps.size(), false);
  for (;;) {
    std::size_t worst = steps.size();
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (full[k]) continue;
      if (worst == steps.size() || steps[k].performance[at[k]] < steps[worst].performance[at[worst]]) worst = k;
    }
    if (worst == steps.size()) return at;
    const PerformanceSteps& kernel = steps[worst];
    const std::size_t next = at[worst] + 1;
    if (next == kernel.cta_count.size()) {
      full[worst] = true;
      continue;
    }
    const unsigned count = kernel.cta_count[next] - kernel.cta_count[next - 1];
    const double gain = kernel.performance[next] - kernel.performance[next - 1];
    if ((epsilon > 0 && gain <= epsilon * count) || !fits(demand[worst], left, CtaCount(count))) {
      full[worst] = true;
      continue;
    }
    left = take(left, demand[worst], CtaCount(count));
    at[worst] = next;
  }
}

}  // namespace sluice
