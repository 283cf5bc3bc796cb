// SPDX-License-Identifier: Apache-2.0
#pragma once
// How fast two kernels are side by side on every SM, for each number of CTAs: what Kernelet's decisions rest on. Predicted by the
// Markov model, or measured ("pre-executed" in the paper: its OPT).
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/partition/markov.h"

namespace sluice {

/// A kernel alone, with as many CTAs as fit.
struct CoRunKernel {
  double ipc = 0;                     ///< of one SM, above 0
  double instructions_per_block = 0;  ///< I: warp instructions of one CTA, above 0
  double issue_utilisation = 0;       ///< of the issue slots, 0..1: PUR
  double memory_utilisation = 0;      ///< of DRAM bandwidth, 0..1: MUR
};

/// Warp instructions of one CTA.
[[nodiscard]] inline double instructions_per_block(const KernelDescriptor& kernel) {
  return static_cast<double>(kernel.behaviour.warp_instructions) * kernel.warps_per_cta();
}

/// Two kernels with so many CTAs each on every SM. Element 0 belongs to the first kernel of the pair.
struct CoRun {
  std::array<CtaCount, 2> ctas{};  ///< at least 1
  std::array<double, 2> ipc{};     ///< of one SM, above 0
};

struct CoRunTable {
  std::map<std::string, CoRunKernel> kernels;
  std::map<std::pair<std::string, std::string>, std::vector<CoRun>> pairs;  ///< the first name is the lesser one

  /// Of either order; empty where the pair is unknown.
  [[nodiscard]] std::vector<CoRun> of(const std::string& first, const std::string& second) const;
};

/// The slice ratios of two kernels: all counts that fit on an SM and leave no room for a CTA more of either.
[[nodiscard]] std::vector<std::array<CtaCount, 2>> slice_ratios(const SmResources& first, const SmResources& second,
                                                                const SmResources& capacity);

/// Every ratio of every two kernels by the Markov model; IPC alone is the model's, too.
/// @param models  of each kernel of `kernels`, which has its figures alone
/// @throws InputError as markov_sm_ipc
[[nodiscard]] CoRunTable predicted_co_runs(std::span<const KernelDescriptor> kernels, std::span<const MarkovKernel> models,
                                           const std::map<std::string, CoRunKernel>& alone, const MachineConfig& machine);

/// @throws InputError naming kernel or pair when a figure is none, or a ratio of two kernels of `mix` that fits the machine is
/// not there
void check_complete(const CoRunTable& table, std::span<const KernelDescriptor> mix, const MachineConfig& machine);

}  // namespace sluice
