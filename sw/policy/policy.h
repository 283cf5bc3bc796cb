// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/profile.h"
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

/// IPC of each kernel alone with 1..N CTAs on every SM, by its name.
using SoloCurves = std::map<std::string, Profile>;

/// What a policy decides on.
struct PolicyInput {
  const MachineConfig& machine;
  const std::vector<KernelDescriptor>& mix;
  const std::vector<CtaCount>& ctas;  ///< of each kernel per SM, from the host
  const SoloCurves& curves;
};

/// Ways to share the SMs among the kernels of a mix that know no time: they answer once, with the plans worth running. The best
/// combined IPC of these is the policy's result.
/// @throws InputError when a kernel's one CTA does not fit an empty SM, or the mix can't be shared in this way
namespace policies {

using Plans = std::vector<PolicyPlan>;

/// The first kernel gets all it can use on every SM, the next what is left. What GPUs do with concurrent kernels.
[[nodiscard]] Plans left_over(const PolicyInput& in);
/// First come, first served: the CTAs of kernels that arrive together queue up interleaved, and whoever is next takes any gap
/// that is long enough: registers and shared memory fragment (Warped-Slicer, figure 2a). The counts are those of the first fill.
[[nodiscard]] Plans fcfs(const PolicyInput& in);
/// 1/K of every resource of an SM for each of K kernels, in whole CTAs (Warped-Slicer, figure 2c). A kernel that gets none makes
/// the mix fall back to Spatial. Kernels that end leave their share to the rest in equal parts.
[[nodiscard]] Plans even(const PolicyInput& in);
/// Spatial multitasking: every kernel has SMs of its own, as many as the others, and fills them.
[[nodiscard]] Plans spatial(const PolicyInput& in);
/// The host sets the CTAs of each kernel per SM. Kernels that end leave their share to the rest: one CTA each in turn, in launch
/// order, until none fits.
[[nodiscard]] Plans static_quota(const PolicyInput& in);
/// Warped-Slicer's decision (water-filling, loss guard) on what the kernels do alone, held from the first cycle. The paper's
/// "true IPC obtained from full application runs in isolation" (section IV-A). The kernels that are left when one ends are
/// decided anew.
[[nodiscard]] Plans solo_curve(const PolicyInput& in);
/// Every combination of CTA counts that fits on an SM, Spatial and Left-Over, all of them run (Warped-Slicer, section V-A).
[[nodiscard]] Plans oracle(const PolicyInput& in);

}  // namespace policies

/// @throws InputError naming kernel, need and capacity when one CTA does not fit an empty SM of the machine
void check_fits(const MachineConfig& machine, const KernelDescriptor& kernel);

/// One CTA of each kernel fits on one SM together.
[[nodiscard]] bool fit_together(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix);

}  // namespace sluice
