// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// Left-Over: the first kernel gets all it can use on every SM, the next what is left. What GPUs do with concurrent kernels.
class LeftOver : public IPolicy {
 public:
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;
};

}  // namespace sluice
