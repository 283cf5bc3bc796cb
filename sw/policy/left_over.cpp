// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/left_over.h"

namespace sluice {

std::vector<PolicyPlan> LeftOver::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  std::vector<CtaCount> ctas;
  SmResources left = machine.sm.capacity;
  for (const KernelDescriptor& kernel : mix) {
    check_fits(machine, kernel);
    ctas.push_back(occupancy(kernel.demand(), left));
    left = take(left, kernel.demand(), ctas.back());
  }
  return {{Mode::LeftOver, on_every_sm(ctas, Mode::LeftOver), {}}};
}

}  // namespace sluice
