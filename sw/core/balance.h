// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "sw/core/units.h"

namespace sluice {

inline constexpr double kLeastWeight = 1.0 / 16, kMostWeight = 255;

/// What `balance` is to reach for a kernel.
struct BalanceWish {
  double weight = 1;  ///< its part of the work: kernels whose rates are as their weights end together; the unit's are of 1 / 256
  double floor = 0;   ///< the rate that it is promised

  bool operator==(const BalanceWish&) const = default;
};

/// A partition of all kernels of a mix that mode Balance measured (docs/user/policies.md#balance).
struct BalanceCandidate {
  std::vector<CtaCount> ctas;  ///< of each kernel on an SM; none: no quotas, what is free goes to the next kernel in turn
  std::vector<double> rates;   ///< of each kernel: its speed beside the others over its speed alone; 0 without a clean sample
  double score = 0;            ///< speed-up over one after the other; 0 where a kernel has no clean sample
  bool again = false;          ///< tried in the second look

  bool operator==(const BalanceCandidate&) const = default;
};

/// What was measured side by side, and what it led to.
struct BalanceReport {
  std::vector<BalanceCandidate> candidates;
  std::int32_t kept = -1;  ///< index; negative: sharing was not worth it, and kernels run in order
  bool floors = true;      ///< all are kept, or none was asked for; otherwise what is kept comes nearest
};

}  // namespace sluice
