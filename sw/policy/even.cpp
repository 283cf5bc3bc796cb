// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

#include <algorithm>

namespace sluice {

namespace {

std::vector<CtaCount> even_counts(const SmResources& capacity, const std::vector<SmResources>& demand, std::size_t shares) {
  const auto n = static_cast<std::uint32_t>(shares);
  const SmResources share{capacity.threads / n, capacity.registers / n, capacity.shared_memory_bytes / n, capacity.cta_slots / n};
  std::vector<CtaCount> counts;
  for (const SmResources& cta : demand) counts.push_back(occupancy(cta, share));
  return counts;
}

}  // namespace

policies::Plans policies::even(const PolicyInput& in) {
  std::vector<SmResources> demand;
  for (const KernelDescriptor& kernel : in.mix) {
    check_fits(in.machine, kernel);
    demand.push_back(kernel.demand());
  }
  const SmResources capacity = in.machine.sm.capacity;
  const std::vector<CtaCount> ctas = even_counts(capacity, demand, in.mix.size());
  if (std::ranges::count(ctas, CtaCount(0)) != 0) return spatial(in);
  const auto shares = [capacity, demand](std::span<const KernelId> present) {
    const std::vector<CtaCount> counts = even_counts(capacity, demand, present.size());
    std::vector<Share> out;
    for (const KernelId k : present) out.push_back({counts[k.value()]});
    return out;
  };
  return {{Mode::Static, on_every_sm(ctas), shares, "even"}};
}

}  // namespace sluice
