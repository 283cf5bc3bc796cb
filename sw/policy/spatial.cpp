#include "sw/policy/spatial.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

std::vector<DispatchPlan> Spatial::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  if (mix.size() > machine.num_sms) {
    throw InputError(fmt::format("{} kernels can't have SMs of their own on machine {}: it has {}", mix.size(), machine.name,
                                 machine.num_sms));
  }
  DispatchPlan plan{DispatchMode::Partitioned, {}, {PartitionMode::Spatial, {}}};
  for (const KernelDescriptor& kernel : mix) {
    check_fits(machine, kernel);
    plan.partition.ctas.push_back(occupancy(kernel.demand(), machine.sm.capacity));
  }
  if (enforcement_ == Enforcement::OwnMode) return {{DispatchMode::Spatial, {}, plan.partition}};
  plan.quotas = [ctas = plan.partition.ctas, sms = machine.num_sms](const std::vector<KernelId>& present) {
    Quotas quotas{ctas, std::vector<SmRange>(ctas.size())};
    const std::vector<SmRange> ranges = split_sms(sms, static_cast<std::uint32_t>(present.size()));
    for (std::size_t i = 0; i < present.size(); ++i) quotas.sm_ranges[present[i].value()] = ranges[i];
    return quotas;
  };
  return {plan};
}

}  // namespace sluice
