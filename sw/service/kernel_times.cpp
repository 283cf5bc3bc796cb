// SPDX-License-Identifier: Apache-2.0
#include "sw/service/kernel_times.h"

#include <cmath>
#include <iterator>

namespace sluice::service {

void KernelTimes::learn(const std::string& kernel, CtaCount ctas, double ns) {
  constexpr double kNews = 0.1;
  if (ctas.value() == 0 || !std::isfinite(ns) || ns <= 0) return;
  if (ns_.size() >= kMostKernels && !ns_.contains(kernel)) ns_.erase(ns_.begin());
  double& known = ns_[kernel][ctas.value()];
  if (std::abs(ns - known) >= kNews * known) known = ns;
}

std::optional<std::vector<double>> KernelTimes::curve(const std::string& kernel, CtaCount most) const {
  const auto seen = ns_.find(kernel);
  if (seen == ns_.end()) return {};
  std::vector<double> curve;
  for (std::uint32_t ctas = 1; ctas <= most.value(); ++ctas) {
    auto nearest = seen->second.lower_bound(ctas);
    const bool below = nearest == seen->second.end() ||
                       (nearest != seen->second.begin() && ctas - std::prev(nearest)->first < nearest->first - ctas);
    if (below) --nearest;
    curve.push_back(nearest->second * nearest->first / ctas);
  }
  return curve;
}

}  // namespace sluice::service
