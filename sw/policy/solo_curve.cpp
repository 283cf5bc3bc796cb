#include "sw/policy/solo_curve.h"

#include <fmt/format.h>

#include "sw/core/errors.h"
#include "sw/partition/warped_slicer.h"

namespace sluice {

std::vector<DispatchPlan> SoloCurve::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  for (const KernelDescriptor& kernel : mix) check_fits(machine, kernel);
  for (const KernelDescriptor& kernel : mix) {
    const auto curve = curves_.find(kernel.name);
    if (curve == curves_.end() || curve->second.empty())
      throw InputError(fmt::format("policy solo_curve: kernel {}: no curve over CTA counts: use sluice eval", kernel.name));
    profiles.push_back(curve->second);
    demand.push_back(kernel.demand());
  }
  const auto decide = [profiles, demand, machine](const std::vector<KernelId>& present) {
    std::vector<Profile> curves;
    std::vector<SmResources> needs;
    for (const KernelId k : present) {
      curves.push_back(profiles[k.value()]);
      needs.push_back(demand[k.value()]);
    }
    return warped_slicer_partition(curves, needs, machine.sm.capacity, machine.partitioner);
  };
  std::vector<KernelId> all;
  for (std::size_t k = 0; k < mix.size(); ++k) all.emplace_back(static_cast<std::uint32_t>(k));
  DispatchPlan plan{DispatchMode::Partitioned, {}, decide(all), "solo_curve"};
  plan.quotas = [decide, kernels = mix.size(), sms = machine.num_sms](const std::vector<KernelId>& present) {
    const Partition decided = decide(present);
    Quotas quotas{std::vector<CtaCount>(kernels), {}};
    for (std::size_t i = 0; i < present.size(); ++i) quotas.ctas[present[i].value()] = decided.ctas[i];
    if (decided.mode == PartitionMode::IntraSm) return quotas;
    quotas.sm_ranges.resize(kernels);
    const std::vector<SmRange> ranges = split_sms(sms, static_cast<std::uint32_t>(present.size()));
    for (std::size_t i = 0; i < present.size(); ++i) quotas.sm_ranges[present[i].value()] = ranges[i];
    return quotas;
  };
  return {plan};
}

}  // namespace sluice
