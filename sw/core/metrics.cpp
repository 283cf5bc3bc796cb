// SPDX-License-Identifier: Apache-2.0
#include "sw/core/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {

double speedup(const Turnaround& t) { return t.alone / t.corun; }
double ntt(const Turnaround& t) { return t.corun / t.alone; }

double stp(std::span<const Turnaround> mix) {
  double sum = 0;
  for (const Turnaround& t : mix) sum += speedup(t);
  return sum;
}

double antt(std::span<const Turnaround> mix) {
  double sum = 0;
  for (const Turnaround& t : mix) sum += ntt(t);
  return mix.empty() ? 0 : sum / static_cast<double>(mix.size());
}

double min_speedup(std::span<const Turnaround> mix) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Turnaround& t : mix) lowest = std::min(lowest, speedup(t));
  return lowest;
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace sluice
