// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/rates.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

namespace sluice::gpu {

namespace {

/// Events up to `at`, a fraction of the next included.
double events_until(const std::vector<double>& times, double at) {
  const auto next = static_cast<std::size_t>(std::ranges::upper_bound(times, at) - times.begin());
  if (next == 0) return 0;
  if (next == times.size()) return static_cast<double>(next);
  const double gap = times[next] - times[next - 1];
  return static_cast<double>(next) + (gap > 0 ? (at - times[next - 1]) / gap : 0);
}

}  // namespace

std::vector<double> common_event_rates(const std::vector<std::vector<double>>& times) {
  double from = 0, to = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& t : times) {
    if (t.size() < 2) return std::vector<double>(times.size(), 0);
    from = std::max(from, t.front());
    to = std::min(to, t.back());
  }
  std::vector<double> rates;
  for (const std::vector<double>& t : times)
    rates.push_back(to > from ? (events_until(t, to) - events_until(t, from)) / (to - from) : 0);
  return rates;
}

std::vector<double> through_known(std::span<const double> curve, const std::map<std::uint32_t, double>& known) {
  std::vector<double> out;
  const auto ratio = [&](auto at) { return at->second / curve[at->first - 1]; };
  for (std::uint32_t n = 1; n <= curve.size(); ++n) {
    const auto above = known.lower_bound(n);
    double factor = 0;
    if (above == known.end()) {
      factor = ratio(std::prev(above));
    } else if (above == known.begin() || above->first == n) {
      factor = ratio(above);
    } else {
      const auto below = std::prev(above);
      const double along = static_cast<double>(n - below->first) / (above->first - below->first);
      factor = ratio(below) + (ratio(above) - ratio(below)) * along;
    }
    out.push_back(curve[n - 1] * factor);
  }
  return out;
}

}  // namespace sluice::gpu
