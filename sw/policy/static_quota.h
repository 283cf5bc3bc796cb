// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// Static: the host sets the CTAs of each kernel per SM. Kernels that end leave their share to the rest: one CTA each in turn, in
/// launch order, until none fits.
class StaticQuota : public IPolicy {
 public:
  explicit StaticQuota(std::vector<CtaCount> ctas) : ctas_(std::move(ctas)) {}
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;

 private:
  std::vector<CtaCount> ctas_;
};

}  // namespace sluice
