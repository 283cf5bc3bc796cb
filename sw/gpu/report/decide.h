// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/profile.h"
#include "sw/core/resources.h"
#include "sw/core/share.h"

namespace sluice::gpu {

/// A mix as decisions on silicon see it.
struct SiliconMix {
  MachineConfig machine;                  ///< SMs, their capacity, partitioner.epsilon and loss_limit
  std::vector<KernelDescriptor> kernels;  ///< what one CTA of the transformed kernel holds
  std::vector<CtaCount> most{};           ///< CTAs of each on one SM, as the driver says; empty: as the resources say
};

/// A kernel of which no more is known than what a CTA holds.
[[nodiscard]] KernelDescriptor kernel_of(const std::string& name, const SmResources& cta);

/// What a scheduler gives the kernels of a mix, as silicon can hold it: reports compare decisions by this. An SM has four
/// sub-cores, and CTAs that fit by the SM's sums need not fit there: a share that does not is decided again for fewer registers.
/// @param profiles  performance of each kernel over CTA counts, where the scheduler profiles
[[nodiscard]] Partition decide(const std::string& scheduler, const SiliconMix& mix, const std::vector<Profile>& profiles = {});

/// An SM's sub-cores have a quarter of the registers and of the warps each; the warps of a CTA are dealt out to them.
[[nodiscard]] bool fits_sub_cores(std::span<const SmResources> demand, std::span<const CtaCount> ctas,
                                  const SmResources& capacity);

}  // namespace sluice::gpu
