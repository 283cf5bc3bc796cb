#pragma once
#include <span>
#include <vector>

namespace sluice {

/// P[k][j]: performance of one kernel with 1..N CTAs on one SM; element j-1 belongs to j CTAs. Any unit, normalised by users.
using Profile = std::vector<double>;

/// Q and M of Warped-Slicer algorithm 1: the strictly increasing prefix maxima of a profile, normalised to the profile's
/// maximum, and the CTA counts they occur at. Both are non-empty, the first count is 1 (a kernel always gets one CTA), the
/// last performance is 1.0. An all-zero profile (a kernel that made no progress) asks for one CTA and no more.
struct PerformanceSteps {
  std::vector<double> performance;  ///< Q
  std::vector<unsigned> cta_count;  ///< M
};

/// @throws InvalidProfile when the curve is empty, negative or not finite
[[nodiscard]] PerformanceSteps performance_steps(std::span<const double> profile);

}  // namespace sluice
