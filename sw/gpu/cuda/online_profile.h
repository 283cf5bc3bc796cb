#pragma once
#include <map>
#include <string>
#include <vector>

#include "sw/core/profile.h"
#include "sw/gpu/cuda/bench.h"

namespace sluice::gpu {

/// How long an online profile looks, seconds.
struct ProfileWindows {
  double warm_up = 0.2e-3;  ///< before each window, with its quotas in force
  double counts = 1.0e-3;   ///< every count at the same time on different SMs
  double alone = 0.4e-3;    ///< each kernel at its full occupancy on all SMs
};

/// An online profile (Warped-Slicer, section IV-A): first every CTA count of every kernel at the same time on different SMs, then
/// each kernel at full occupancy on all of them. Rates are blocks per second of one SM with 1, 2, ... CTAs, one curve a kernel.
struct OnlineProfile {
  std::vector<Profile> sampled;  ///< as seen in the first window
  /// Equation 3 with the bandwidths in place of equation 4's proportionality. An SM of the first window may take bandwidth that
  /// the SMs with fewer CTAs leave, and that it would not have if all ran as many: an SM's share is what it has in the second.
  std::vector<Profile> scaled;
  std::vector<Profile> by_counts;  ///< equations 3 and 4 as printed, with the given phi_mem
  double seconds = 0;              ///< from the order to the decision's input
  MixRates rates;                  ///< of the first window
};

/// @param phi  equation 3's phi_mem of each kernel, by label; 0 where absent
[[nodiscard]] OnlineProfile profile_online(QuotaMix& running, const Mix& mix, const std::map<std::string, double>& phi = {},
                                           const ProfileWindows& windows = {});

}  // namespace sluice::gpu
