// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

#include <algorithm>
#include <functional>

namespace sluice {

namespace {

void combinations(const std::vector<KernelDescriptor>& mix, const SmResources& left, std::vector<CtaCount>& chosen,
                  std::vector<std::vector<CtaCount>>& all) {
  const std::size_t k = chosen.size();
  if (k == mix.size()) {
    all.push_back(chosen);
    return;
  }
  for (std::uint32_t n = 1; fits(mix[k].demand(), left, CtaCount(n)); ++n) {
    chosen.emplace_back(n);
    combinations(mix, take(left, mix[k].demand(), CtaCount(n)), chosen, all);
    chosen.pop_back();
  }
}

}  // namespace

policies::Plans policies::oracle(const PolicyInput& in) {
  Plans plans = left_over(in);
  plans.push_back(spatial(in).front());
  std::vector<CtaCount> chosen;
  std::vector<std::vector<CtaCount>> all;
  combinations(in.mix, in.machine.sm.capacity, chosen, all);
  // Those that give every kernel much of its occupancy first: a good one known early shortens the search for the best.
  std::ranges::stable_sort(all, std::ranges::greater{}, [&](const std::vector<CtaCount>& counts) {
    double least = 1;
    for (std::size_t k = 0; k < in.mix.size(); ++k)
      least = std::min(least, 1.0 * counts[k].value() / occupancy(in.mix[k].demand(), in.machine.sm.capacity).value());
    return least;
  });
  for (const std::vector<CtaCount>& counts : all) plans.push_back(static_quota({in.machine, in.mix, counts, in.curves}).front());
  return plans;
}

}  // namespace sluice
