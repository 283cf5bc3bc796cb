// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "sw/partition/warped_slicer.h"

namespace sluice {

policies::Plans policies::solo_curve(const PolicyInput& in) {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  for (const KernelDescriptor& kernel : in.mix) check_fits(in.machine, kernel);
  for (const KernelDescriptor& kernel : in.mix) {
    const auto curve = in.curves.find(kernel.name);
    if (curve == in.curves.end() || curve->second.empty())
      throw InputError(fmt::format("policy solo_curve: kernel {}: no curve over CTA counts: use sluice eval", kernel.name));
    profiles.push_back(curve->second);
    demand.push_back(kernel.demand());
  }
  const auto decide = [profiles, demand, machine = in.machine](std::span<const KernelId> present) {
    std::vector<Profile> curves;
    std::vector<SmResources> needs;
    for (const KernelId k : present) {
      curves.push_back(profiles[k.value()]);
      needs.push_back(demand[k.value()]);
    }
    return warped_slicer_partition(curves, needs, machine);
  };
  std::vector<KernelId> all;
  for (std::size_t k = 0; k < in.mix.size(); ++k) all.emplace_back(static_cast<std::uint32_t>(k));
  const auto shares = [decide](std::span<const KernelId> present) { return decide(present).shares; };
  return {{Mode::Static, decide(all), shares, "solo_curve"}};
}

}  // namespace sluice
