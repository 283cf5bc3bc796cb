// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/policy.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice {

policies::Plans policies::spatial(const PolicyInput& in) {
  if (in.mix.size() > in.machine.num_sms) {
    throw InputError(fmt::format("{} kernels can't have SMs of their own on machine {}: it has {}", in.mix.size(),
                                 in.machine.name, in.machine.num_sms));
  }
  std::vector<CtaCount> ctas;
  for (const KernelDescriptor& kernel : in.mix) {
    check_fits(in.machine, kernel);
    ctas.push_back(occupancy(kernel.demand(), in.machine.sm.capacity));
  }
  const Partition partition = on_own_sms(ctas, in.machine.num_sms);
  const auto shares = [ctas, sms = in.machine.num_sms](std::span<const KernelId> present) {
    std::vector<CtaCount> left;
    for (const KernelId k : present) left.push_back(ctas[k.value()]);
    return on_own_sms(left, sms).shares;
  };
  return {{Mode::Static, partition, shares}};
}

}  // namespace sluice
