#include "sw/policy/warped_slicer.h"

namespace sluice {

std::vector<DispatchPlan> WarpedSlicer::plans(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix) const {
  for (const KernelDescriptor& kernel : mix) check_fits(machine, kernel);
  return {{DispatchMode::Dynamic, {}, {PartitionMode::IntraSm, {}}}};
}

}  // namespace sluice
