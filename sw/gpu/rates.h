#pragma once
#include <vector>

namespace sluice::gpu {

/// Events per second of each series while all of them were running: from the latest of the first events to the earliest of the
/// last ones, counted with linear interpolation between events. Zeros when there is no such time.
/// @param times  ascending, seconds on one clock
[[nodiscard]] std::vector<double> common_event_rates(const std::vector<std::vector<double>>& times);

}  // namespace sluice::gpu
