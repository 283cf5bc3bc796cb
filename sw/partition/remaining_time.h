// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sw/core/resources.h"

namespace sluice {

/// A kernel in SiM's terms: what its whole grid takes alone, and how much of the grid is left.
struct RemainingWork {
  std::vector<double> alone;  ///< with 1, 2, ... CTAs on every SM; any unit of time, the same for all kernels
  double left = 1;            ///< share of the grid that has not begun, 0..1
  double waited = 0;          ///< since it arrived, in the unit of `alone`, at least 0; counts with a bound on the NTT only
};

inline constexpr double kNoNttLimit = std::numeric_limits<double>::infinity();

/// Blocks left over blocks in all: the factor of SiM's equation 1. A grid without end (0) always has all of it left.
[[nodiscard]] double share_left(std::uint64_t blocks, std::uint64_t begun);

/// CTAs of each kernel on every SM, and the remaining time of each there.
struct RemainingTimeResult {
  std::vector<CtaCount> ctas;
  std::vector<double> remaining;
};

/// SiM's greedy allocation (algorithm 1, on the estimate of its equation 1): every kernel begins with one CTA, and the one with
/// the longest remaining time R_k(c) = alone[c-1] * left gets its next count, until no next count fits.
///
/// Counts at which a kernel is not faster than with fewer CTAs are left out first, so a curve need not fall: where it does not, a
/// step spans several CTAs. What the listing leaves open: its loop ends with the last kernel, not one behind it, and ties go to
/// the lowest index.
///
/// The longest remaining time is the shortest that any allocation reaches. Proof: let L be that optimum, and n_k the smallest
/// count with R_k(n_k) <= L. An optimal allocation holds at least n_k of each kernel, so these counts fit together. While a
/// kernel is above L, none holds more than its n_k: all begin at 1 <= n_k, and a step goes to a kernel above L, to the smallest
/// count that is faster, hence at most n_k. Such a step fits, so no kernel above L is ever given up. The loop ends, so all reach
/// L. Nothing else is optimal: not the other kernels' times, nor the end of a schedule in which counts change later.
///
/// A bound on the NTT is ours: a kernel whose turnaround time would be more than `max_ntt` times its time alone counts as the
/// longest; among such kernels the one with the largest NTT. The proof above does not hold then.
///
/// @pre as many kernels as demands
/// @param max_ntt  at least 1; infinite: the paper's rule
/// @return counts, each at least 1; nullopt when one CTA of each does not fit together
/// @throws InvalidProfile when a kernel has no times, one is not finite or not above 0, `left` is not within 0..1, or `waited` is
/// below 0
[[nodiscard]] std::optional<RemainingTimeResult> allocate_remaining_time(std::span<const RemainingWork> kernels,
                                                                         std::span<const SmResources> demand,
                                                                         const SmResources& capacity,
                                                                         double max_ntt = kNoNttLimit);

}  // namespace sluice
