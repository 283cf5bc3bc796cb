// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// Even: 1/K of every resource of an SM for each of K kernels, in whole CTAs (Warped-Slicer, figure 2c). A kernel that gets none
/// makes the mix fall back to Spatial. Kernels that end leave their share to the rest in equal parts.
class Even : public IPolicy {
 public:
  explicit Even(Enforcement enforcement = Enforcement::Quotas) : enforcement_(enforcement) {}
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;

 private:
  Enforcement enforcement_;
};

}  // namespace sluice
