// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sw/core/balance.h"
#include "sw/gpu/jobs/decide.h"
#include "sw/gpu/jobs/layout.h"

namespace sluice::gpu {

/// How long a measurement of partitions looks, seconds.
struct SideBySideWindows {
  double groups = 1.0e-3;      ///< all partitions at the same time, each on SMs of its own
  double everywhere = 0.5e-3;  ///< one partition on all SMs
  std::size_t again = 2;       ///< partitions that are seen on all SMs
};

/// Blocks per second of each SM, by kernel, under these tables for so many seconds.
using SmRates = std::function<std::vector<std::vector<double>>(const std::vector<QuotaTable>& tables, double window)>;

/// What each partition was seen to be worth.
struct SideBySide {
  std::vector<BalanceCandidate> first;  ///< all, beside each other; the best is the first
  std::vector<BalanceCandidate> again;  ///< the best of these on all SMs, in the order in which they were seen
};

/// What a plan's partitions are worth on silicon (docs/user/policies.md#balance). In one window each has every n-th SM, and so
/// has each kernel alone with all CTAs that fit: a rate is a kernel's blocks on an SM over those where it is alone in that
/// window. The best are then seen on all SMs, the best of them last. If none of these beats one after the other, each kernel is
/// seen alone on all SMs as well: few SMs among others have more bandwidth than they would have among their like.
///
/// @param partitions  CTAs on an SM; those that fit no SM's sub-cores lose CTAs of the kernel with most registers
/// @param open        which of the mix's kernels these counts are of; the others hold nothing
/// @param keep        the least score that counts as worth it
[[nodiscard]] SideBySide measure_side_by_side(const SmRates& measure, const SiliconMix& mix, std::span<const std::size_t> open,
                                              std::vector<std::vector<CtaCount>> partitions, double keep,
                                              const SideBySideWindows& windows = {});

}  // namespace sluice::gpu
