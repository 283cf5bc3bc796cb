// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/fcfs.h"

namespace sluice {

std::vector<PolicyPlan> Fcfs::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  for (const KernelDescriptor& kernel : mix) check_fits(machine, kernel);
  std::vector<CtaCount> ctas(mix.size());
  SmResources left = machine.sm.capacity;
  for (bool placed = true; placed;) {
    placed = false;
    for (std::size_t k = 0; k < mix.size(); ++k) {
      if (!fits(mix[k].demand(), left)) continue;
      left = take(left, mix[k].demand());
      ctas[k] += CtaCount(1);
      placed = true;
    }
  }
  return {{Mode::Fcfs, on_every_sm(ctas, Mode::Fcfs), {}}};
}

}  // namespace sluice
