// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice {

/// Policies that commands and figures speak of by name. What a policy is stands in its row (registry.h).
inline constexpr const char* kLeftOver = "left_over";
inline constexpr const char* kFcfs = "fcfs";
inline constexpr const char* kEven = "even";
inline constexpr const char* kSpatial = "spatial";
inline constexpr const char* kStatic = "static";
inline constexpr const char* kWarpedSlicer = "warped_slicer";
inline constexpr const char* kBalance = "balance";
inline constexpr const char* kSoloCurve = "solo_curve";
inline constexpr const char* kOracle = "oracle";
inline constexpr const char* kEvenMode = "even_mode";        ///< Even, held by the partition unit itself
inline constexpr const char* kSpatialMode = "spatial_mode";  ///< Spatial, held by the partition unit itself

}  // namespace sluice
