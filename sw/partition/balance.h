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

/// The partitions that policy `balance` measures (docs/user/policies.md#balance), each of at least one CTA of every kernel, none
/// twice, and none to which a CTA of any kernel can be added. Of two kernels these are all such, by the first's count, or
/// `wanted` of them, evenly spaced; of K > 2 at most K + 1: all start from 1 / K, then each in turn from twice what the others
/// do.
///
/// @param wanted  candidates of a pair, 1 or more
/// @param most    of any mix, as many as there is room to measure
/// @return none when one CTA of each does not fit an SM together
[[nodiscard]] std::vector<JointCounts> balance_candidates(std::span<const SmResources> demand, const SmResources& capacity,
                                                          std::size_t wanted, std::size_t most);

/// How many times as fast as one after the other kernels are done whose times alone are as their weights: all run until one ends,
/// the one with the largest rate over its weight, and the others' rest runs in order. With that one's rate r and weight w, the
/// sum S of the rates and the sum W of the weights it is W r / (W r - w (S - 1)), rounded down to 1 / 2^14 as the unit does. 0
/// where a rate is.
[[nodiscard]] double balance_score(std::span<const double> rates, std::span<const BalanceWish> wishes);

/// How far below its floor the worst-off kernel is; 0: every floor is kept.
[[nodiscard]] double balance_shortfall(std::span<const double> rates, std::span<const BalanceWish> wishes);

/// What policy `balance` does with what it measured: of the candidates that keep every floor, or come nearest to it, those whose
/// scores are within 1 / 32 of the highest count as equal, as measured rates tell no less; and of these it is the one with the
/// largest sum of weight times rate, the first of equals.
///
/// @param rates  [candidate][kernel]: the kernel's speed there over its speed alone; 0 where it was not measured
/// @param keep   the least score at which kernels share an SM, where none of them has a floor
/// @param first_look  in a second look: the score that the first of these had in the first. It wins among equals, and the mean of
///                    that score and of the highest here is what has to reach `keep`
/// @return none when no candidate of which all is known reaches `keep`
[[nodiscard]] std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates,
                                                        std::span<const BalanceWish> wishes, double keep,
                                                        std::optional<double> first_look = std::nullopt);

/// What the second look of policy `balance` measures: what the first chose, the candidate of the highest score beside it, and
/// both with a third fewer CTAs of each kernel in turn that has more than one.
///
/// @param rates  of the candidates, as above
/// @param most   as many as there is room to measure, 1 or more
[[nodiscard]] std::vector<JointCounts> balance_second_look(std::span<const JointCounts> candidates,
                                                           std::span<const std::vector<double>> rates,
                                                           std::span<const BalanceWish> wishes, std::size_t choice,
                                                           std::size_t most);

}  // namespace sluice
