// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// Warped-Slicer: the partition sequencer profiles online and decides by water-filling and the loss guard.
class WarpedSlicer : public IPolicy {
 public:
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;
};

}  // namespace sluice
