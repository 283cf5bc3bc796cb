// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// Two kernels side by side on SMs of their own, as measured.
struct CorunRate {
  std::uint32_t first_sms = 0;   ///< the second has the others
  double first = 0, second = 0;  ///< speed of each, 1.0 = alone on all SMs
};

struct CorunSplit {
  std::uint32_t first_sms = 0;
  double makespan = 0;
};

/// Slate's definition of complementary kernels on measured speeds: running them at once ends earlier than one after the other.
/// The split is the one that ends first, where the kernel that is left gets all SMs when the other one is done.
///
/// @param first_left, second_left  what is left of each, in time alone on all SMs
/// @param least_gain  how much longer one after the other must take: smaller gains are lost in what measurements scatter
/// @return nullopt when no split gains so much
/// @throws InputError when a speed or a time is negative or not finite
[[nodiscard]] std::optional<CorunSplit> best_split(double first_left, double second_left, std::span<const CorunRate> rates,
                                                   double least_gain = 1.02);

}  // namespace sluice
