// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/warped_slicer.h"

namespace sluice {

std::vector<PolicyPlan> WarpedSlicer::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  for (const KernelDescriptor& kernel : mix) check_fits(machine, kernel);
  return {{Mode::Dynamic, {Mode::Static, {}}, {}}};
}

}  // namespace sluice
