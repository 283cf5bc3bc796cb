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

std::vector<DispatchPlan> Even::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  std::vector<SmResources> demand;
  for (const KernelDescriptor& kernel : mix) {
    check_fits(machine, kernel);
    demand.push_back(kernel.demand());
  }
  const SmResources capacity = machine.sm.capacity;
  const std::vector<CtaCount> counts = even_counts(capacity, demand, mix.size());
  const bool starves = std::ranges::count(counts, CtaCount(0)) != 0;
  if (enforcement_ == Enforcement::OwnMode) {
    const Partition partition =
        starves ? Spatial().plans(machine, mix).front().partition : Partition{PartitionMode::IntraSm, counts};
    return {{DispatchMode::Even, {}, partition}};
  }
  if (starves) return Spatial().plans(machine, mix);
  DispatchPlan plan{DispatchMode::Partitioned, {}, {PartitionMode::IntraSm, counts}, "even"};
  plan.quotas = [capacity, demand](const std::vector<KernelId>& present) {
    return Quotas{even_counts(capacity, demand, present.size()), {}};
  };
  return {plan};
}

}  // namespace sluice
