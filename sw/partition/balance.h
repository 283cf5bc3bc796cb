// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

/// How many times as fast as one after the other K kernels are done that take the same time alone: all run until the fastest
/// ends, and the others' rest runs in order. That is K m / (1 + K m - S) of rates with the sum S and the maximum m, rounded down
/// to 1 / 2^14 as the unit does. 0 where a rate is.
[[nodiscard]] double balance_score(std::span<const double> rates);

/// What policy `balance` does with what it measured. Scores within 1 / 32 of the highest count as equal, as measured rates tell
/// no less: of these candidates the one with the largest sum of rates, the first of equals.
///
/// @param rates  [candidate][kernel]: the kernel's speed there over its speed alone; 0 where it was not measured
/// @param keep   the least score at which kernels share an SM
/// @return none when no candidate of which all is known reaches `keep`
[[nodiscard]] std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates, double keep);

/// What the second look of policy `balance` measures: what the first chose, the candidate of the highest score beside it, and the
/// first look's choice with a third fewer CTAs of each kernel in turn that has more than one.
///
/// @param rates  of the candidates, as above
/// @param most   as many as there is room to measure, 2 or more
[[nodiscard]] std::vector<JointCounts> balance_second_look(std::span<const JointCounts> candidates,
                                                           std::span<const std::vector<double>> rates, std::size_t choice,
                                                           std::size_t most);

}  // namespace sluice
