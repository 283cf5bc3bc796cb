#include "sw/policy/left_over.h"

namespace sluice {

std::vector<DispatchPlan> LeftOver::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  DispatchPlan plan{DispatchMode::LeftOver, {}, {PartitionMode::LeftOver, {}}};
  SmResources left = machine.sm.capacity;
  for (const KernelDescriptor& kernel : mix) {
    check_fits(machine, kernel);
    const CtaCount count = occupancy(kernel.demand(), left);
    left = take(left, kernel.demand(), count);
    plan.partition.ctas.push_back(count);
  }
  return {plan};
}

}  // namespace sluice
