#include "sw/policy/static_quota.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

std::vector<DispatchPlan> StaticQuota::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  if (ctas_.size() != mix.size())
    throw InputError(fmt::format("policy static: {} CTA counts for {} kernels (--ctas a,b,...)", ctas_.size(), mix.size()));
  SmResources left = machine.sm.capacity;
  for (std::size_t k = 0; k < mix.size(); ++k) {
    check_fits(machine, mix[k]);
    if (ctas_[k].value() == 0) throw InputError(fmt::format("policy static: kernel {}: 0 CTAs: must be at least 1", mix[k].name));
    if (!fits(mix[k].demand(), left, ctas_[k])) {
      throw InputError(fmt::format("policy static: {} CTAs of kernel {} do not fit on an SM of machine {} beside those before it",
                                   ctas_[k].value(), mix[k].name, machine.name));
    }
    left = take(left, mix[k].demand(), ctas_[k]);
  }
  DispatchPlan plan{DispatchMode::Partitioned, {}, {PartitionMode::IntraSm, ctas_}};
  plan.quotas = [ctas = ctas_](const std::vector<KernelId>&) { return Quotas{ctas, {}}; };
  return {plan};
}

}  // namespace sluice
