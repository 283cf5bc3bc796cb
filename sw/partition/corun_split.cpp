// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/corun_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice {

std::optional<CorunSplit> best_split(double first_left, double second_left, std::span<const CorunRate> rates, double least_gain) {
  const auto check = [](const char* what, double value) {
    if (!std::isfinite(value) || value < 0) throw InputError(fmt::format("{} {}: must be finite and at least 0", what, value));
  };
  check("time alone", first_left);
  check("time alone", second_left);
  std::optional<CorunSplit> best;
  for (const CorunRate& rate : rates) {
    check("co-run speed", rate.first);
    check("co-run speed", rate.second);
    if (rate.first <= 0 || rate.second <= 0) continue;
    const double together = std::min(first_left / rate.first, second_left / rate.second);
    const double makespan = together + (first_left - together * rate.first) + (second_left - together * rate.second);
    if (makespan * least_gain < first_left + second_left && (!best || makespan < best->makespan))
      best = {rate.first_sms, makespan};
  }
  return best;
}

}  // namespace sluice
