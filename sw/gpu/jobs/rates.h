// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace sluice::gpu {

/// Events per second of each series while all of them were running: from the latest of the first events to the earliest of the
/// last ones, counted with linear interpolation between events. Zeros when there is no such time.
/// @param times  ascending, seconds on one clock
[[nodiscard]] std::vector<double> common_event_rates(const std::vector<std::vector<double>>& times);

/// A curve that is known at some counts, elsewhere as another one has it: that one, times the ratio of the two where both are
/// known, interpolated between those counts and constant beyond them.
/// @param curve  element j-1: with j CTAs; positive
/// @param known  by count, 1..size of the curve; not empty
[[nodiscard]] std::vector<double> through_known(std::span<const double> curve, const std::map<std::uint32_t, double>& known);

}  // namespace sluice::gpu
