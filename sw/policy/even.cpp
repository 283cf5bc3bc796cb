// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/even.h"

#include <algorithm>

#include "sw/policy/spatial.h"

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

std::vector<PolicyPlan> Even::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  std::vector<SmResources> demand;
  for (const KernelDescriptor& kernel : mix) {
    check_fits(machine, kernel);
    demand.push_back(kernel.demand());
  }
  const SmResources capacity = machine.sm.capacity;
  const std::vector<CtaCount> ctas = even_counts(capacity, demand, mix.size());
  const bool starves = std::ranges::count(ctas, CtaCount(0)) != 0;
  if (starves) {
    std::vector<PolicyPlan> spatial = Spatial().plans(machine, mix);
    if (enforcement_ == Enforcement::OwnMode) spatial.front().mode = Mode::Even;
    return spatial;
  }
  const auto shares = [capacity, demand](std::span<const KernelId> present) {
    const std::vector<CtaCount> counts = even_counts(capacity, demand, present.size());
    std::vector<Share> out;
    for (const KernelId k : present) out.push_back({counts[k.value()]});
    return out;
  };
  return {{enforcement_ == Enforcement::OwnMode ? Mode::Even : Mode::Static, on_every_sm(ctas), shares, "even"}};
}

}  // namespace sluice
