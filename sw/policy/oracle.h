// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// Oracle: every combination of CTA counts that fits on an SM, Spatial and Left-Over, all of them run (Warped-Slicer, section
/// V-A).
class Oracle : public IPolicy {
 public:
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;
};

}  // namespace sluice
