// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/share.h"

namespace sluice {

/// What a policy makes of a mix: how to run it, and the partition it stands for (without shares where a run decides).
struct PolicyPlan {
  Mode mode = Mode::LeftOver;  ///< of the partition unit
  Partition partition;         ///< with all kernels present
  /// Shares of the kernels still present, in the order given, two of them at least; empty where no quotas hold, or a run decides.
  std::function<std::vector<Share>(std::span<const KernelId> present)> shares;
  /// How the shares go on when one of three or more kernels ends: plans of equal partition and rule are the same run.
  std::string rule{};
};

/// Who holds a policy's shares: the host, as quotas and masks of Static, or the dispatcher's own mode of that name.
enum class Enforcement { Quotas, OwnMode };

/// A way to share the SMs among the kernels of a mix that knows no time: it answers once.
class IPolicy {
 public:
  virtual ~IPolicy() = default;
  /// The plans worth running; their best combined IPC is the policy's result. One for every policy but the Oracle.
  /// @throws InputError when a kernel's one CTA does not fit an empty SM, or the mix can't be shared in this way
  [[nodiscard]] virtual std::vector<PolicyPlan> plans(const MachineConfig& machine,
                                                      const std::vector<KernelDescriptor>& mix) const = 0;
};

/// @throws InputError naming kernel, need and capacity when one CTA does not fit an empty SM of the machine
void check_fits(const MachineConfig& machine, const KernelDescriptor& kernel);

/// One CTA of each kernel fits on one SM together.
[[nodiscard]] bool fit_together(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix);

}  // namespace sluice
