// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/profile.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice::gpu {

/// A mix as decisions on silicon see it.
struct SiliconMix {
  MachineConfig machine;                  ///< SMs, their capacity, partitioner.epsilon and loss_limit
  std::vector<KernelDescriptor> kernels;  ///< what one CTA of the transformed kernel holds
  std::vector<CtaCount> most{};           ///< CTAs of each on one SM, as the driver says; empty: as the resources say
};

/// A scheduler whose shares silicon can hold. An SM has four sub-cores, and CTAs that fit by the SM's sums need not fit there: a
/// share that does not is decided again for fewer registers. No kernel gets more CTAs than the driver says fit. There is no
/// partition unit, so the plan is what is enforced, in every mode.
class SiliconScheduler : public IScheduler {
 public:
  /// @param ctas  of `static` only: CTAs of each kernel; taken as they are
  /// @throws InputError when there is no such scheduler, or the counts are more than the driver says fit
  SiliconScheduler(std::string name, SiliconMix mix, std::vector<CtaCount> ctas = {});
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  [[nodiscard]] bool placeable(const Plan& plan) const;

  std::string name_;
  SiliconMix mix_;
  std::vector<CtaCount> ctas_;
};

/// A kernel of which no more is known than what a CTA holds.
[[nodiscard]] KernelDescriptor kernel_of(const std::string& name, const SmResources& cta);

/// What the scheduler gives the kernels of a mix: `sluice gpu run`, the experiments and the reports decide by this.
/// @param profiles  performance of each kernel over CTA counts, where the scheduler profiles
/// @param ended     kernels that are done; the shares are those of the others
[[nodiscard]] Partition decide(SiliconScheduler& scheduler, const SiliconMix& mix, const std::vector<Profile>& profiles = {},
                               std::span<const std::size_t> ended = {});
/// The same, of a scheduler by its name.
[[nodiscard]] Partition decide(const std::string& name, const SiliconMix& mix, const std::vector<Profile>& profiles = {},
                               const std::vector<CtaCount>& ctas = {});

}  // namespace sluice::gpu
