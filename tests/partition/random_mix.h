// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <ostream>
#include <vector>

#include "sw/core/profile.h"
#include "sw/core/resources.h"

namespace sluice::test {

/// Curves and demands of some kernels, and the SM they share.
struct RandomMix {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  SmResources capacity;
};

inline std::ostream& operator<<(std::ostream& out, const SmResources& r) {
  return out << r.threads << '/' << r.registers << '/' << r.shared_memory_bytes << '/' << r.cta_slots;
}

/// What a failing property prints, beside its seed.
inline std::ostream& operator<<(std::ostream& out, const RandomMix& mix) {
  out << "SM " << mix.capacity;
  for (std::size_t k = 0; k < mix.profiles.size(); ++k) {
    out << "; CTA " << mix.demand[k] << " curve";
    for (const double p : mix.profiles[k]) out << ' ' << p;
  }
  return out;
}

/// Up to 3 kernels with any curve of up to 8 points, or such whose gain never grows; demands and SM such that they contend in
/// most cases. Small values make plateaus and ties.
inline rc::Gen<RandomMix> random_mix() {
  // Full size from the first case on: small sizes would draw only trivial curves and demands.
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([] {
                           const auto draw = [](std::uint32_t low, std::uint32_t high) {
                             return *rc::gen::inRange(low, high + 1);
                           };
                           const bool concave = draw(0, 1) == 0, large = draw(0, 1) == 0;
                           RandomMix mix;
                           mix.capacity = {draw(4, 32) * kWarpSize, draw(8, 32), draw(8, 32), draw(2, 12)};
                           for (std::uint32_t k = draw(1, 3); k > 0; --k) {
                             mix.demand.push_back({draw(1, 8) * kWarpSize, draw(0, 8), draw(0, 8), 1});
                             Profile profile(draw(1, 8));
                             for (double& value : profile) value = draw(0, large ? 1000000 : 12);
                             if (concave) {
                               std::ranges::sort(profile, std::greater{});
                               std::partial_sum(profile.begin(), profile.end(), profile.begin());
                             }
                             mix.profiles.push_back(profile);
                           }
                           return mix;
                         }));
}

inline RandomMix random_mix(std::uint64_t seed) { return random_mix()(rc::Random(seed), rc::kNominalSize).value(); }

/// The goal of water-filling by trying every allocation: the highest that the least `score(kernel, ctas)` can be.
/// @return nullopt when one CTA of each does not fit together
template <class Score>
std::optional<double> best_minimum(const RandomMix& mix, const Score& score, std::size_t kernel = 0) {
  if (kernel == mix.profiles.size()) return std::numeric_limits<double>::infinity();
  std::optional<double> best;
  RandomMix rest = mix;
  for (std::uint32_t n = 1; n <= mix.profiles[kernel].size() && fits(mix.demand[kernel], rest.capacity); ++n) {
    rest.capacity = take(rest.capacity, mix.demand[kernel]);
    if (const auto others = best_minimum(rest, score, kernel + 1))
      best = std::max(best.value_or(-INFINITY), std::min(score(kernel, n), *others));
  }
  return best;
}

}  // namespace sluice::test
