// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/spatial.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

std::vector<PolicyPlan> Spatial::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  if (mix.size() > machine.num_sms) {
    throw InputError(fmt::format("{} kernels can't have SMs of their own on machine {}: it has {}", mix.size(), machine.name,
                                 machine.num_sms));
  }
  std::vector<CtaCount> ctas;
  for (const KernelDescriptor& kernel : mix) {
    check_fits(machine, kernel);
    ctas.push_back(occupancy(kernel.demand(), machine.sm.capacity));
  }
  const Partition partition = on_own_sms(ctas, machine.num_sms);
  const auto shares = [ctas, sms = machine.num_sms](std::span<const KernelId> present) {
    std::vector<CtaCount> left;
    for (const KernelId k : present) left.push_back(ctas[k.value()]);
    return on_own_sms(left, sms).shares;
  };
  return {{enforcement_ == Enforcement::OwnMode ? Mode::Spatial : Mode::Static, partition, shares}};
}

}  // namespace sluice
