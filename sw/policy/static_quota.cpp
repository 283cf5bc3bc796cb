// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/static_quota.h"

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

std::vector<PolicyPlan> StaticQuota::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  if (ctas_.size() != mix.size())
    throw InputError(fmt::format("policy static: {} CTA counts for {} kernels (--ctas a,b,...)", ctas_.size(), mix.size()));
  SmResources left = machine.sm.capacity;
  std::vector<SmResources> demand;
  for (std::size_t k = 0; k < mix.size(); ++k) {
    check_fits(machine, mix[k]);
    if (ctas_[k].value() == 0) throw InputError(fmt::format("policy static: kernel {}: 0 CTAs: must be at least 1", mix[k].name));
    if (!fits(mix[k].demand(), left, ctas_[k])) {
      throw InputError(fmt::format("policy static: {} CTAs of kernel {} do not fit on an SM of machine {} beside those before it",
                                   ctas_[k].value(), mix[k].name, machine.name));
    }
    left = take(left, mix[k].demand(), ctas_[k]);
    demand.push_back(mix[k].demand());
  }
  const auto shares = [ctas = ctas_, demand, capacity = machine.sm.capacity](std::span<const KernelId> present) {
    return refilled(capacity, demand, ctas, present);
  };
  return {{Mode::Static, on_every_sm(ctas_), shares, "refill"}};
}

}  // namespace sluice
