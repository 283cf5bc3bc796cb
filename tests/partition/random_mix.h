// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rapidcheck.h>

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

/// Up to 3 kernels with any curve of up to 8 points; demands and SM such that they contend in most cases.
inline rc::Gen<RandomMix> random_mix() {
  // Full size from the first case on: small sizes would draw only trivial curves and demands.
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([] {
                           const auto draw = [](std::uint32_t low, std::uint32_t high) {
                             return *rc::gen::inRange(low, high + 1);
                           };
                           RandomMix mix;
                           mix.capacity = {draw(4, 32) * kWarpSize, draw(8, 32), draw(8, 32), draw(2, 12)};
                           for (std::uint32_t k = draw(1, 3); k > 0; --k) {
                             mix.demand.push_back({draw(1, 8) * kWarpSize, draw(0, 8), draw(0, 8), 1});
                             Profile profile(draw(1, 8));
                             for (double& value : profile) value = draw(0, 12);
                             mix.profiles.push_back(profile);
                           }
                           return mix;
                         }));
}

}  // namespace sluice::test
