#include "sw/gpu/rates.h"

#include <algorithm>
#include <cstddef>
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

}  // namespace sluice::gpu
