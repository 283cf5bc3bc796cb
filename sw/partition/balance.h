// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/resources.h"
#include "sw/core/units.h"

namespace sluice {

/// CTAs of each kernel of a mix on one SM.
using JointCounts = std::vector<CtaCount>;

/// Partitions of at least one CTA of every kernel, none twice, and none to which a CTA of any kernel can be added. Of two kernels
/// these are all such, by the first's count, or `wanted` of them, evenly spaced; of K > 2 at most K + 1: all start from 1 / K,
/// then each in turn from twice what the others do. What a scheduler wants measured that knows no partition yet.
///
/// @param wanted  candidates of a pair, 1 or more
/// @param most    of any mix, as many as there is room to measure
/// @return none when one CTA of each does not fit an SM together
[[nodiscard]] std::vector<JointCounts> balance_candidates(std::span<const SmResources> demand, const SmResources& capacity,
                                                          std::size_t wanted, std::size_t most);

/// A round of policy `balance` (docs/user/policies.md#balance): the base; the one before it; the base's neighbours, in which a
/// CTA more of one kernel takes the place of CTAs of another, and whatever then fits fills the SM, that kernel's first; the base
/// with a third fewer CTAs of each kernel in turn; and, of two kernels, the neighbours' neighbours. None twice, and none of
/// `tried` but the one before.
///
/// @param most  beside the base, as many as there is room to measure
[[nodiscard]] std::vector<JointCounts> balance_round(const JointCounts& base, const std::optional<JointCounts>& before,
                                                     std::span<const JointCounts> tried, std::span<const SmResources> demand,
                                                     const SmResources& capacity, std::size_t most);

/// Where a round leads: index 0 stays the base unless another comes nearer to the floors, or is as near and scores more than
/// 1 / 64 more, and the product of its rates is at least 7 / 8 of the base's where floors do not tell them apart; then the best
/// of these is the next base, the first of equals. An index of nullopt: back to the base before, as this one scores more than 1 /
/// 64 less than that did in its own round, and is no nearer to the floors.
///
/// @param before  rates of the base before in its own round; empty: there was none
[[nodiscard]] std::optional<std::size_t> balance_climb(std::span<const std::vector<double>> rates,
                                                       std::span<const BalanceWish> wishes, std::span<const double> before);

/// Whether CTAs in turn, without quotas, are kept instead of a base without neighbours, by scores on all SMs: more than 1 / 64
/// more than the base's.
[[nodiscard]] bool balance_turns(double base, double in_turn);
/// Whether neither the last round nor all SMs show that sharing is worth it. Then all SMs hold each kernel alone, scores count
/// anew, and by these it is decided.
///
/// @param round  0: there was none
[[nodiscard]] bool balance_doubts(double round, double on_all, double keep);

/// How many times as fast as one after the other kernels are done whose times alone are as their weights: all run until one ends,
/// the one with the largest rate over its weight, and the others' rest runs in order. With that one's rate r and weight w, the
/// sum S of the rates and the sum W of the weights it is W r / (W r - w (S - 1)), rounded down to 1 / 2^14 as the unit does. 0
/// where a rate is.
[[nodiscard]] double balance_score(std::span<const double> rates, std::span<const BalanceWish> wishes);

/// How far below its floor the worst-off kernel is; 0: every floor is kept.
[[nodiscard]] double balance_shortfall(std::span<const double> rates, std::span<const BalanceWish> wishes);

/// The partition for what was measured of a mix: of the candidates that keep every floor, or come nearest to it, those whose
/// scores are within 1 / 32 of the highest count as equal, as measured rates tell no less; and of these it is the one with the
/// largest sum of weight times rate, the first of equals.
///
/// @param rates  [candidate][kernel]: the kernel's speed there over its speed alone; 0 where it was not measured
/// @param keep   the least score at which kernels share an SM, where none of them has a floor
/// @return none when no candidate of which all is known reaches `keep`
[[nodiscard]] std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates,
                                                        std::span<const BalanceWish> wishes, double keep);

}  // namespace sluice
