// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "sw/core/profile.h"

namespace sluice {

/// How a sample is corrected for what the shared memory system would give if every SM ran the kernel as the sampled one does.
///
/// Equation 3 of Warped-Slicer is IPC_scaled = IPC_sampled x (1 + phi_mem x psi), with psi = B_scaled / B_sampled - 1. B is the
/// bandwidth that the SM draws, in the sample and if all SMs were alike.
///
/// - None: the sample as it is.
/// - Paper: equation 4 as printed, psi = CTA_i / CTA_avg - 1. It raises the samples of SMs with many CTAs.
/// - Reciprocal: equation 3 worked out. An SM draws in proportion to its CTAs; among its like it would draw the mean of the
///   samples. So B_scaled / B_sampled = CTA_avg / CTA_i, and psi = CTA_avg / CTA_i - 1.
/// - Ceiling: equation 3 without a guess. NUM_SM SMs that are alike can draw B_max / NUM_SM each and no more, so
///   B_scaled = min(B_sampled, B_max / NUM_SM). An instruction needs the same requests at any speed, so IPC is in proportion to B
///   and phi_mem is 1: IPC_scaled = IPC_sampled x B_scaled / B_sampled
///   = min(IPC_sampled, B_max / (NUM_SM x requests per instruction)).
/// - CeilingHull: Ceiling, and then the star hull of the curve (sw/partition/star_hull.h). What the hardware does.
enum class IpcScaling { None, Paper, Reciprocal, Ceiling, CeilingHull };

inline constexpr IpcScaling kIpcScalings[] = {IpcScaling::None, IpcScaling::Paper, IpcScaling::Reciprocal, IpcScaling::Ceiling,
                                              IpcScaling::CeilingHull};

[[nodiscard]] std::string_view to_string(IpcScaling scaling);  ///< "none", "paper", "reciprocal", "ceiling", "ceiling_hull"

/// Equations 3 and 4 as printed: IPC_scaled = IPC * (1 + phi_mem * (CTA_i / CTA_avg - 1)).
///
/// @param ipc      sampled on one SM
/// @param phi_mem  fraction of the window that SM was stalled on long memory latency, 0..1
/// @param ctas     CTAs it ran; @param cta_avg their mean over the SMs sampled for the same kernel, > 0
[[nodiscard]] constexpr double scale_ipc(double ipc, double phi_mem, double ctas, double cta_avg) {
  return ipc * (1.0 + phi_mem * (ctas / cta_avg - 1.0));
}

/// Equation 3 with the reciprocal of equation 4. @pre ctas > 0
[[nodiscard]] constexpr double scale_ipc_reciprocal(double ipc, double phi_mem, double ctas, double cta_avg) {
  return scale_ipc(ipc, phi_mem, cta_avg, ctas);
}

/// The ceiling: `insts` where the sample drew no more than its share, else what the share is enough for.
/// @param requests  of the sample
/// @param share     requests that the memory system can serve in the window, divided by the SMs
[[nodiscard]] constexpr double scale_ipc_ceiling(double insts, double requests, double share) {
  return requests <= share ? insts : insts * (share / requests);
}

/// What the golden equations need besides the samples.
struct SamplingWindow {
  double cycles = 0;         ///< length of the profile window
  double request_share = 0;  ///< Ceiling: lines an SM may exchange in the window (sw/partition/ceiling.h)
};

/// Scaled instructions of each kernel with 1..N CTAs, N being its highest label. CTA_avg is the mean over all of a kernel's
/// samples, whatever window they were taken in. Samples with one label are averaged. A level without a sample counts as its
/// predecessor: without the hull it is never a step worth taking.
/// @param kernels  whose profiles, in this order; a kernel without a sample gets a profile of one level that is 0
[[nodiscard]] std::vector<Profile> golden_profiles(std::span<const ProfileSample> samples, std::span<const KernelId> kernels,
                                                   IpcScaling scaling, const SamplingWindow& window);

}  // namespace sluice
