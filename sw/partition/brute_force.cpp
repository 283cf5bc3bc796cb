// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/brute_force.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sw/core/errors.h"

namespace sluice {

namespace {

Profile normalised(const Profile& profile) {
  if (profile.empty() || std::ranges::any_of(profile, [](double p) { return !std::isfinite(p) || p < 0; }))
    throw InvalidProfile("a performance profile needs values, finite and at least 0");
  const double best = std::ranges::max(profile);
  Profile result = profile;
  for (double& value : result) value = best > 0 ? value / best : 1.0;  // no progress at any count: any count is its best
  return result;
}

class Search {
 public:
  Search(std::vector<Profile> curves, std::span<const SmResources> demand) : curves_(std::move(curves)), demand_(demand) {}

  std::optional<WaterfillResult> run(const SmResources& capacity) {
    descend(capacity, std::numeric_limits<double>::infinity(), 0.0);
    return best_;
  }

 private:
  void descend(const SmResources& left, double lowest, double sum) {
    const std::size_t k = chosen_.ctas.size();
    if (k == curves_.size()) {
      if (best_ && std::pair(lowest, sum) <= std::pair(lowest_, sum_)) return;
      best_ = chosen_;
      lowest_ = lowest;
      sum_ = sum;
      return;
    }
    for (std::uint32_t n = 1; n <= curves_[k].size() && fits(demand_[k], left, CtaCount(n)); ++n) {
      const double performance = curves_[k][n - 1];
      chosen_.ctas.emplace_back(n);
      chosen_.performance.push_back(performance);
      descend(take(left, demand_[k], CtaCount(n)), std::min(lowest, performance), sum + performance);
      chosen_.ctas.pop_back();
      chosen_.performance.pop_back();
    }
  }

  std::vector<Profile> curves_;
  std::span<const SmResources> demand_;
  WaterfillResult chosen_;
  std::optional<WaterfillResult> best_;
  double lowest_ = 0, sum_ = 0;
};

}  // namespace

std::optional<WaterfillResult> brute_force(std::span<const Profile> profiles, std::span<const SmResources> demand,
                                           const SmResources& capacity) {
  std::vector<Profile> curves;
  for (const Profile& profile : profiles) curves.push_back(normalised(profile));
  return best_minimum(std::move(curves), demand, capacity);
}

std::optional<WaterfillResult> best_minimum(std::vector<Profile> curves, std::span<const SmResources> demand,
                                            const SmResources& capacity) {
  return Search(std::move(curves), demand).run(capacity);
}

}  // namespace sluice
