// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

namespace {

/// The counts of the kernels still present, and what the others left: one CTA each in turn until none fits.
std::vector<Share> refilled(const SmResources& capacity, const std::vector<SmResources>& demand,
                            const std::vector<CtaCount>& ctas, std::span<const KernelId> present) {
  std::vector<Share> filled;
  SmResources left = capacity;
  for (const KernelId k : present) {
    filled.push_back({ctas[k.value()]});
    left = take(left, demand[k.value()], ctas[k.value()]);
  }
  if (present.size() == ctas.size()) return filled;
  for (bool placed = true; placed;) {
    placed = false;
    for (std::size_t i = 0; i < present.size(); ++i) {
      const SmResources& cta = demand[present[i].value()];
      if (!fits(cta, left)) continue;
      left = take(left, cta);
      filled[i].ctas += CtaCount(1);
      placed = true;
    }
  }
  return filled;
}

}  // namespace

policies::Plans policies::static_quota(const PolicyInput& in) {
  if (in.ctas.size() != in.mix.size())
    throw InputError(fmt::format("policy static: {} CTA counts for {} kernels (--ctas a,b,...)", in.ctas.size(), in.mix.size()));
  SmResources left = in.machine.sm.capacity;
  std::vector<SmResources> demand;
  for (std::size_t k = 0; k < in.mix.size(); ++k) {
    check_fits(in.machine, in.mix[k]);
    if (in.ctas[k].value() == 0)
      throw InputError(fmt::format("policy static: kernel {}: 0 CTAs: must be at least 1", in.mix[k].name));
    if (!fits(in.mix[k].demand(), left, in.ctas[k])) {
      throw InputError(fmt::format("policy static: {} CTAs of kernel {} do not fit on an SM of machine {} beside those before it",
                                   in.ctas[k].value(), in.mix[k].name, in.machine.name));
    }
    left = take(left, in.mix[k].demand(), in.ctas[k]);
    demand.push_back(in.mix[k].demand());
  }
  const auto shares = [ctas = in.ctas, demand, capacity = in.machine.sm.capacity](std::span<const KernelId> present) {
    return refilled(capacity, demand, ctas, present);
  };
  return {{Mode::Static, on_every_sm(in.ctas), shares, "refill"}};
}

}  // namespace sluice
