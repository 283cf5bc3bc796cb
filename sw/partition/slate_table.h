// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace sluice {

/// What a kernel takes alone, as shares of the machine's peaks. More than 1 is possible: a profiler's load and store bandwidth
/// counts what caches serve.
struct Intensity {
  double compute = 0, memory = 0;
};

/// From where on an intensity is medium, and from where on high. Slate prints none. These are for the share of issue slots in use
/// and for the share of DRAM bandwidth.
struct SlateThresholds {
  double compute_medium = 0.25, compute_high = 0.65, memory_medium = 0.25, memory_high = 0.75;
};
/// For compute as a share of the peak floating-point rate: puts the five kernels of Slate's table II, on the Titan Xp (12.15
/// TFLOP/s, 547.6 GB/s), where the paper has them. The two for compute are geometric means of the nearest kernels, rounded.
inline constexpr SlateThresholds kSlateFlopThresholds{0.005, 0.04, 0.25, 0.75};

/// The classes of Slate's table I. Memory comes first: compute tells kernels apart only where memory intensity is low.
enum class SlateClass : std::uint8_t { LowCompute, MediumCompute, HighCompute, MediumMemory, HighMemory };
[[nodiscard]] std::string_view to_string(SlateClass of);  ///< "L_C", "M_C", "H_C", "M_M", "H_M"

/// @throws InputError when an intensity is negative or not finite
[[nodiscard]] SlateClass slate_class(const Intensity& kernel, const SlateThresholds& thresholds = {});

/// How table I is read. Symmetric: two kernels may share where the printed table says so in either order.
enum class SlateTable : std::uint8_t { Printed, Symmetric };

/// Slate's table I: may `candidate` run beside `active`? The printed table is not symmetric, and the paper does not say which of
/// the two is the row. Here the row is the active kernel: it is the one whose partner is looked for.
[[nodiscard]] bool slate_corun(SlateClass active, SlateClass candidate, SlateTable table = SlateTable::Printed);

}  // namespace sluice
