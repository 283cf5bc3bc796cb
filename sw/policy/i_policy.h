#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/dispatch.h"
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/partition.h"

namespace sluice {

/// What a policy makes of a mix: how to run it, and the partition it stands for (empty counts where a run decides).
struct DispatchPlan {
  DispatchMode mode = DispatchMode::LeftOver;
  std::function<Quotas(const std::vector<KernelId>&)> quotas;  ///< Partitioned only; see RunSpec
  Partition partition;
  /// How the quotas go on when one of three or more kernels ends: plans of equal partition and rule are the same run.
  std::string rule{};
};

/// Who holds a policy's shares: the host, as quotas and masks of Partitioned, or the dispatcher's own mode of that name.
enum class Enforcement { Quotas, OwnMode };

/// A way to share the SMs among the kernels of a mix.
class IPolicy {
 public:
  virtual ~IPolicy() = default;
  /// The plans worth running; their best combined IPC is the policy's result. One for every policy but the Oracle.
  /// @throws InputError when a kernel's one CTA does not fit an empty SM, or the mix can't be shared in this way
  [[nodiscard]] virtual std::vector<DispatchPlan> plans(const MachineConfig& machine,
                                                        const std::vector<KernelDescriptor>& mix) const = 0;
  /// False when the partition is known without a run.
  [[nodiscard]] virtual bool needs_run() const { return false; }
};

/// @throws InputError naming kernel, need and capacity when one CTA does not fit an empty SM of the machine
void check_fits(const MachineConfig& machine, const KernelDescriptor& kernel);

/// One CTA of each kernel fits on one SM together.
[[nodiscard]] bool fit_together(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix);

}  // namespace sluice
