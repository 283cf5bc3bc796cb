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

/// What policy `balance` does with what it measured: the candidate of the largest sum of rates, the first of equals.
///
/// @param rates  [candidate][kernel]: the kernel's speed there over its speed alone; 0 where it was not measured
/// @param keep   the least sum of rates at which kernels share an SM
/// @return none when no candidate of which all is known reaches `keep`
[[nodiscard]] std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates, double keep);

}  // namespace sluice
