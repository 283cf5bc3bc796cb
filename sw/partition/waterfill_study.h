// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sluice {

/// Difference between a greedy allocation and exhaustive search over some cases. Water-filling: in units of a kernel's own best
/// (0..K). Remaining times: in units of the longest of them in the best allocation.
struct Shortfall {
  std::uint64_t cases = 0;  ///< with a difference
  double sum = 0, max = 0;
  void add(double difference);
  [[nodiscard]] double mean() const { return cases == 0 ? 0 : sum / static_cast<double>(cases); }  ///< over those cases
};

/// One family of random curves.
struct StudyTally {
  std::uint64_t drawn = 0;
  std::uint64_t contended = 0;                ///< not every kernel can have its best: only these can tell the methods apart
  std::uint64_t infeasible = 0;               ///< one CTA of each kernel does not fit: nothing to compare
  std::uint64_t disagree_fit = 0;             ///< one method finds a partition and the other none; must be 0
  Shortfall minimum;                          ///< of the worst-off kernel: the goal. Must be empty for epsilon = 0
  Shortfall total;                            ///< of the sum over kernels, where the minimum is equal: what greedy order costs
  std::optional<std::string> first_mismatch;  ///< the first case behind `disagree_fit` or `minimum`
  [[nodiscard]] std::uint64_t mismatches() const { return disagree_fit + minimum.cases; }
};

struct StudyConfig {
  std::uint64_t cases = 100000;   ///< of each family
  std::uint64_t seed = 1;         ///< equal configurations draw equal cases, on every platform
  std::uint32_t max_kernels = 3;  ///< K is 1..max_kernels
  std::uint32_t max_ctas = 8;     ///< N and CTA slots are 1..max_ctas
  double epsilon = 0;             ///< saturation threshold of water-filling; the exhaustive search has none
};

/// Water-filling against exhaustive search on random curves and random resource vectors (all four components).
struct StudyResult {
  StudyTally concave;    ///< curves whose gain never grows with another CTA, plateaus included
  StudyTally arbitrary;  ///< any values: dips, interior peaks, late rises
};

/// @param progress  called now and then with the cases done so far, of both families; may be empty
[[nodiscard]] StudyResult study_waterfill(const StudyConfig& config, const std::function<void(std::uint64_t)>& progress = {});

/// SiM's allocation over remaining times in the same way: times alone are the reciprocals of such curves, and any share of each
/// grid is left, none and all included. Takes no epsilon.
[[nodiscard]] StudyResult study_remaining_time(const StudyConfig& config,
                                               const std::function<void(std::uint64_t)>& progress = {});

}  // namespace sluice
