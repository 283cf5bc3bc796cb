// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sw/core/units.h"

namespace sluice {

/// P[k][j]: performance of one kernel with 1..N CTAs on one SM; element j-1 belongs to j CTAs. Any unit, normalised by users.
using Profile = std::vector<double>;

/// What one SM measured for one kernel in one profile window.
struct ProfileSample {
  KernelId kernel;  ///< whose sample it is
  SmId sm;
  CtaCount ctas;                                          ///< the label: the level of the profile that the sample stands for
  std::uint64_t warp_instructions = 0, stall_cycles = 0;  ///< issued; cycles stalled on long memory latency
  std::uint64_t requests = 0;                             ///< that the SM sent to the shared memory system
  CtaCount resident_min, resident_max;                    ///< fewest and most CTAs of the kernel on the SM in the window
  CtaCount foreign;                                       ///< most CTAs of other kernels on it

  bool operator==(const ProfileSample&) const = default;
  /// The SM held what the label says and nothing else. Fewer of them for the cycles until one that ended is replaced.
  [[nodiscard]] bool clean() const { return resident_max == ctas && foreign == CtaCount(0); }
};

/// Q and M of Warped-Slicer algorithm 1: the strictly increasing prefix maxima of a profile, normalised to the profile's
/// maximum, and the CTA counts they occur at. Both are non-empty, the first count is 1 (a kernel always gets one CTA), the
/// last performance is 1.0. An all-zero profile (a kernel that made no progress) asks for one CTA and no more.
struct PerformanceSteps {
  std::vector<double> performance;  ///< Q
  std::vector<unsigned> cta_count;  ///< M
};

/// @throws InvalidProfile when the curve is empty, negative or not finite
[[nodiscard]] PerformanceSteps performance_steps(std::span<const double> profile);

}  // namespace sluice
