// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace sluice {

/// What the compute intensity of a kernel is a share of.
enum class ComputeShare : std::uint8_t { IssueSlots, PeakFlops };

/// What a kernel takes alone, as shares of the machine's peaks. Memory: global loads and stores over DRAM's bandwidth, which may
/// be more than 1, as caches serve some of them.
struct Intensity {
  double compute = 0, memory = 0;
  ComputeShare of = ComputeShare::IssueSlots;
};

/// From where on an intensity is medium, and from where on high.
struct SlateThresholds {
  double compute_medium, compute_high, memory_medium, memory_high;
};
/// Slate prints none. Ours put the five kernels of its table II, on the Titan Xp (12.15 TFLOP/s, 547.6 GB/s), where the paper has
/// them: geometric means of the nearest kernels on either side, rounded.
inline constexpr SlateThresholds kSlateThresholds{0.005, 0.04, 0.29, 0.87};
/// Where nobody counted floating-point operations: for the share of issue slots in use.
inline constexpr double kIssueMedium = 0.25, kIssueHigh = 0.65;

/// The classes of Slate's table I. Memory comes first: compute tells kernels apart only where memory intensity is low.
enum class SlateClass : std::uint8_t { LowCompute, MediumCompute, HighCompute, MediumMemory, HighMemory };
[[nodiscard]] std::string_view to_string(SlateClass of);  ///< "L_C", "M_C", "H_C", "M_M", "H_M"

/// @throws InputError when an intensity is negative or not finite
[[nodiscard]] SlateClass slate_class(const Intensity& kernel);

/// How far up a level is: 0 low, 1 medium, 2 high.
[[nodiscard]] int compute_level(const Intensity& kernel);
[[nodiscard]] int memory_level(const Intensity& kernel);

/// How table I is read. Symmetric: two kernels may share where the printed table says so in either order.
enum class SlateTable : std::uint8_t { Printed, Symmetric };

/// Slate's table I: may `candidate` run beside `active`? The printed table is not symmetric, and the paper does not say which of
/// the two is the row. Here the row is the active kernel: it is the one whose partner is looked for.
[[nodiscard]] bool slate_corun(SlateClass active, SlateClass candidate, SlateTable table = SlateTable::Printed);

}  // namespace sluice
