// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "sw/core/profile.h"
#include "sw/policy/i_policy.h"

namespace sluice {

/// IPC of each kernel alone with 1..N CTAs on every SM, by its name.
using SoloCurves = std::map<std::string, Profile>;

/// Solo curve: Warped-Slicer's decision (water-filling, loss guard) on what the kernels do alone, held from the first cycle. The
/// paper's "true IPC obtained from full application runs in isolation" (section IV-A). The kernels that are left when one ends
/// are decided anew.
class SoloCurve : public IPolicy {
 public:
  explicit SoloCurve(SoloCurves curves) : curves_(std::move(curves)) {}
  /// @throws InputError when a kernel has no curve
  [[nodiscard]] std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                              const std::vector<KernelDescriptor>& mix) const override;

 private:
  SoloCurves curves_;
};

}  // namespace sluice
