// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sluice::gpu {

/// Value at fraction `p` (0..1) of the sorted values, interpolated; not a number when there is none.
[[nodiscard]] double percentile(std::span<const double> values, double p);
[[nodiscard]] inline double median(std::span<const double> values) { return percentile(values, 0.5); }

struct Interval {
  double low = 0, high = 0;
};

/// 95 % interval of `statistic` by the percentile bootstrap: 2,000 resamples with replacement, fixed seed. Both ends are the
/// statistic itself when there is one value.
[[nodiscard]] Interval bootstrap(std::span<const double> values, const std::function<double(std::span<const double>)>& statistic,
                                 std::uint64_t seed = 1);

/// Spearman's rank correlation, ties at their mean rank; not a number with fewer than two pairs or no spread.
/// @pre as many x as y
[[nodiscard]] double rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace sluice::gpu
