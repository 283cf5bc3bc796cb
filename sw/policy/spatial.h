// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// Spatial multitasking: every kernel has SMs of its own, as many as the others, and fills them.
class Spatial : public IPolicy {
 public:
  explicit Spatial(Enforcement enforcement = Enforcement::Quotas) : enforcement_(enforcement) {}
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;

 private:
  Enforcement enforcement_;
};

}  // namespace sluice
