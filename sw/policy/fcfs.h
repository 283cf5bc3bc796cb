// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"

namespace sluice {

/// First come, first served: the CTAs of kernels that arrive together queue up interleaved, and whoever is next takes any gap
/// that is long enough: registers and shared memory fragment (Warped-Slicer, figure 2a). The counts are those of the first fill.
class Fcfs : public IPolicy {
 public:
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;
};

}  // namespace sluice
