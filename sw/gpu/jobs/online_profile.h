// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "sw/core/profile.h"
#include "sw/core/share.h"
#include "sw/gpu/jobs/gpu_session.h"

namespace sluice::gpu {

/// How long an online profile looks, seconds.
struct ProfileWindows {
  double warm_up = 0.2e-3;  ///< before each window, with its quotas in force
  double counts = 1.0e-3;   ///< every count at the same time on different SMs
  double alone = 0.4e-3;    ///< one kernel with one count on all SMs
  unsigned blocks = 12;     ///< a window of one kernel is at least as long as so many blocks of a CTA: it counts whole ones
  unsigned deciding = 8;    ///< most windows at counts that decide
};

/// Partition that a policy makes of curves.
using Decide = std::function<Partition(const std::vector<Profile>&)>;

/// An online profile (Warped-Slicer, section IV-A): first every CTA count of every kernel at the same time on different SMs, then
/// each kernel at full occupancy on all of them; then, where a decision is to be made, each kernel alone with the count that the
/// decision gives it, and the decision anew, until it rests on counts that were seen so. Rates are blocks per second of one SM
/// with 1, 2, ... CTAs, one curve a kernel.
struct OnlineProfile {
  std::vector<Profile> sampled;  ///< as seen in the first window
  /// Equation 3 with the bandwidths in place of equation 4's proportionality. An SM of the first window may take bandwidth that
  /// the SMs with fewer CTAs leave, and that it would not have if all ran as many: an SM's share is what it has in the second.
  std::vector<Profile> scaled;
  /// The scaled curves, through what was seen with one count on all SMs. The first window's SMs share a memory system that is
  /// loaded as by their mean, whatever their own count: few CTAs wait longer in it than they would among their like, and where
  /// bandwidth ends, which it does softly, many get more. Neither can be computed from that window; so it says where to look.
  std::vector<Profile> refined;
  unsigned deciding = 0;                           ///< windows at counts that decide
  double seconds = 0;                              ///< from the order to the decision's input
  double scaled_seconds = 0, sampled_seconds = 0;  ///< of them until the scaled curves, and those of the first window, were there
  MixRates rates;                                  ///< of the first window
};

/// @param decide  empty: the refined curves are the scaled ones
[[nodiscard]] OnlineProfile profile_online(QuotaMix& running, const PreparedMix& mix, const Decide& decide,
                                           const ProfileWindows& windows = {});

}  // namespace sluice::gpu
