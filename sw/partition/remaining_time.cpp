// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/remaining_time.h"

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/partition/raise_worst.h"

namespace sluice {

namespace {

void check(const RemainingWork& kernel) {
  if (kernel.alone.empty()) throw InvalidProfile("a kernel needs its time alone with at least one CTA count");
  if (std::ranges::any_of(kernel.alone, [](double t) { return !std::isfinite(t) || t <= 0; }))
    throw InvalidProfile("times alone must be finite and above 0");
  if (!(kernel.left >= 0 && kernel.left <= 1)) throw InvalidProfile("the share of a grid that is left must be within 0..1");
  if (!(kernel.waited >= 0) || !std::isfinite(kernel.waited)) throw InvalidProfile("the time waited must be finite, at least 0");
}

/// The counts that are faster than every smaller one. Times have their sign turned, so that more is better and nothing is
/// rounded.
PerformanceSteps prune(const RemainingWork& kernel) {
  PerformanceSteps steps;
  for (std::size_t j = 0; j < kernel.alone.size(); ++j) {
    const double remaining = kernel.alone[j] * kernel.left;
    if (j > 0 && -remaining <= steps.performance.back()) continue;
    steps.performance.push_back(-remaining);
    steps.cta_count.push_back(static_cast<unsigned>(j + 1));
  }
  return steps;
}

/// Steps of a kernel whose NTT would be above the limit are worse than every step of another that is within it.
void put_late_first(PerformanceSteps& steps, const RemainingWork& kernel, double max_ntt, double longest) {
  for (double& performance : steps.performance) {
    const double ntt = (kernel.waited - performance) / kernel.alone.back();
    if (ntt > max_ntt) performance = -(longest + ntt);
  }
}

}  // namespace

double share_left(std::uint64_t blocks, std::uint64_t begun) {
  if (blocks == 0) return 1;
  return static_cast<double>(blocks - std::min(blocks, begun)) / static_cast<double>(blocks);
}

std::optional<RemainingTimeResult> allocate_remaining_time(std::span<const RemainingWork> kernels,
                                                           std::span<const SmResources> demand, const SmResources& capacity,
                                                           double max_ntt) {
  std::vector<PerformanceSteps> steps;
  for (const RemainingWork& kernel : kernels) {
    check(kernel);
    steps.push_back(prune(kernel));
  }
  std::vector<PerformanceSteps> ranked = steps;
  if (max_ntt != kNoNttLimit) {
    double longest = 0;
    for (const PerformanceSteps& kernel : steps) longest = std::max(longest, -kernel.performance.front());
    for (std::size_t k = 0; k < kernels.size(); ++k) put_late_first(ranked[k], kernels[k], max_ntt, longest);
  }
  const auto at = raise_worst(ranked, demand, capacity);
  if (!at) return std::nullopt;
  RemainingTimeResult result;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    result.ctas.emplace_back(steps[k].cta_count[(*at)[k]]);
    result.remaining.push_back(-steps[k].performance[(*at)[k]]);
  }
  return result;
}

}  // namespace sluice
