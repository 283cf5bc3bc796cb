#include "sw/policy/fcfs.h"

namespace sluice {

std::vector<DispatchPlan> Fcfs::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  DispatchPlan plan{DispatchMode::Fcfs, {}, {PartitionMode::Fcfs, std::vector<CtaCount>(mix.size())}};
  for (const KernelDescriptor& kernel : mix) check_fits(machine, kernel);
  SmResources left = machine.sm.capacity;
  for (bool placed = true; placed;) {
    placed = false;
    for (std::size_t k = 0; k < mix.size(); ++k) {
      if (!fits(mix[k].demand(), left)) continue;
      left = take(left, mix[k].demand());
      plan.partition.ctas[k] += CtaCount(1);
      placed = true;
    }
  }
  return {plan};
}

}  // namespace sluice
