// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "sw/core/units.h"

namespace sluice {

/// One kernel of a mix: cycles it needs alone and together with the others, for the same work.
struct Turnaround {
  double alone = 0;  ///< > 0
  double corun = 0;  ///< > 0
};

[[nodiscard]] double speedup(const Turnaround& t);                  ///< T_alone / T_corun
[[nodiscard]] double ntt(const Turnaround& t);                      ///< normalised turnaround time, T_corun / T_alone
[[nodiscard]] double stp(std::span<const Turnaround> mix);          ///< system throughput: sum of speed-ups
[[nodiscard]] double antt(std::span<const Turnaround> mix);         ///< mean NTT
[[nodiscard]] double min_speedup(std::span<const Turnaround> mix);  ///< fairness (Warped-Slicer, figure 9a); infinite when empty
[[nodiscard]] double geometric_mean(std::span<const double> values);  ///< of positive values; 0 when empty

}  // namespace sluice
