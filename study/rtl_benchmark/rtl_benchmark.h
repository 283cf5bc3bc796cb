// SPDX-License-Identifier: Apache-2.0
#pragma once
// How fast the RTL is, in its own cycles, and how much fixed point costs: measured on the Verilated RTL, not on a model of it.
// docs/verification/README.md states what is counted from where to where.
#include <cstdint>
#include <memory>
#include <vector>

#include "systemc/unit/ports/i_partition_core.h"

namespace sluice {

struct DispatchRate {
  double per_cycle = 0;         ///< CTAs a cycle while CTAs end at random times and something always fits; the worst mode
  unsigned first_dispatch = 0;  ///< cycles from the launch to the first CTA at the port, the worst of many launches
};
/// sluice_top, programmed through AXI4-Lite, in STATIC, LEFT_OVER and FCFS.
/// @param num_sm 16 or 132; @param cycles how many are counted, in each mode
[[nodiscard]] DispatchRate measure_dispatch(std::uint32_t num_sm, std::uint64_t cycles, std::uint64_t seed);

/// K present kernels with N profile levels each, on SMs of N CTA slots.
struct DecisionTimes {
  std::uint32_t kernels = 0, levels = 0;
  unsigned waterfill = 0;  ///< cycles that filling the SM and judging the kernels adds to a decision without any CTA
  unsigned decision = 0;   ///< cycles from the end of the profile window to the first cycle of the new quotas
  /// docs/reference/blocks/partition_core.md derives it; at most 2,500 for K = 4, N = 8.
  [[nodiscard]] unsigned decision_bound() const;
};
/// The decision path's Verilated models.
struct DecisionModels {
  /// The worst of `decisions` each, for (K, N) = (2, 8), (4, 8) and (8, 32) with as many SMs as levels (K x N): one window.
  std::vector<DecisionTimes> (*measure)(unsigned decisions, std::uint64_t seed);
  /// A partition core of 4 kernels, or of the most, and 32 CTAs.
  std::unique_ptr<IPartitionCore> (*make_core)(bool most_kernels);
};
/// Built on demand (systemc/unit/rtl/on_demand.h).
[[nodiscard]] const DecisionModels& decision_models();

struct FixedPointCost {
  std::uint64_t decisions = 0;
  std::uint64_t changed = 0;          ///< whose partition differs from double precision
  std::uint64_t changed_by_more = 0;  ///< of them, by more than one CTA of a kernel
  std::uint64_t changed_verdict = 0;  ///< of them, because the loss guard judges otherwise: a kernel's loss is at its limit
  double entry_max_error = 0;         ///< largest |entry - exact| / exact, samples of 1,000 instructions and more
  /// How many of these there may be: none of 10^5. No width makes them impossible: of two kernels that are nearly equally badly
  /// off the other one is served first, and the two are not of the same size.
  [[nodiscard]] std::uint64_t most_by_more() const { return decisions / 200000; }
  [[nodiscard]] double changed_pct() const {
    return decisions == 0 ? 0 : 100.0 * static_cast<double>(changed) / static_cast<double>(decisions);
  }
};
/// What the error of an entry can be at most (docs/reference/blocks/partition_core.md), for such samples.
inline constexpr double kEntryErrorBound = 1.0 / 4096;
/// Random profiles as kernels have them: rising, saturating, or with an interior peak; 2 and 3 kernels, 8 CTA slots.
[[nodiscard]] FixedPointCost measure_fixed_point(IPartitionCore& core, std::uint64_t decisions, std::uint64_t seed);

}  // namespace sluice
