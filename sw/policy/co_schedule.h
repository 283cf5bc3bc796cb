// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernelet's FindCoSchedule (Zhong, He: Kernelet, IEEE TPDS 2014, algorithm 1): which two kernels run side by side next, with how
// many CTAs each, and how long a slice of each is. docs/papers.md says what is changed against the paper.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sw/policy/corun_table.h"

namespace sluice {

/// A kernel whose inputs are there. What is known of it is in a CoRunTable.
struct CandidateKernel {
  std::string name;
  SmResources demand;  ///< of one CTA
};

/// A kernel alone in slices of so many blocks, each launched when the one before has ended: time over that of one launch, less 1.
struct SliceOverhead {
  std::uint64_t blocks = 0;
  double overhead = 0;
};
inline constexpr double kSliceOverhead =
    0.02;  ///< Kernelet, section 4.1: the minimum slice size is the smallest that costs no more
/// @param slices  of rising lengths
/// @return blocks of the first that costs at most so much; nullopt: none does
[[nodiscard]] std::optional<std::uint64_t> shortest_slice(std::span<const SliceOverhead> slices, double most = kSliceOverhead);

struct CoScheduleRules {
  SmResources capacity;  ///< of one SM
  unsigned sms = 1;
  double slice_cycles = 0;  ///< no slice is shorter; at least 0
  /// A pair is pruned when its kernels differ by less than both. 0: none is.
  double issue_threshold = 0.4, memory_threshold = 0.1;
  bool price_pruning = false;  ///< works out the pruned pairs too, only to report what pruning costs
};

/// Two kernels side by side. Element 0 belongs to the kernel of lower index.
struct CoSchedule {
  std::array<std::size_t, 2> kernels{};
  std::array<CtaCount, 2> ctas{};         ///< on each SM
  std::array<std::uint64_t, 2> slices{};  ///< blocks of one slice, at least 1
  std::array<double, 2> ipc{};            ///< of one SM, as the table says
  double cycles = 0;                      ///< of a slice
  double imbalance = 0;                   ///< equation 7 over the longer slice's time, 0..1
  double profit = 0;                      ///< as the table says; of the best choice above 0
};

struct CoScheduleChoice {
  std::optional<CoSchedule> best;     ///< none: no two kernels fit on an SM and gain by running together
  std::size_t pairs = 0, pruned = 0;  ///< pruned: of `pairs`
  std::optional<double> lost_profit;  ///< with price_pruning: what the best pair of all promises above the best that was kept
};

/// The pair, and its CTAs per SM, with the highest co-scheduling profit in the table; ties go to the lowest indices and counts.
/// When all pairs are alike none is pruned.
/// @throws InputError when a figure is out of its range, a CTA does not fit on an empty SM, or the table lacks a kernel
[[nodiscard]] CoScheduleChoice find_co_schedule(std::span<const CandidateKernel> kernels, const CoRunTable& table,
                                                const CoScheduleRules& rules);

/// One run of the table as a co-schedule. Slices take equal time at its IPC (the paper's balanced ratio): as long as the longer
/// of both kernels' shortest slices, or the time of one wave of the slower kernel if that is longer.
/// @pre both kernels are in the table
[[nodiscard]] CoSchedule balanced(const std::array<std::size_t, 2>& pair, const CoRun& run,
                                  std::span<const CandidateKernel> kernels, const CoRunTable& table,
                                  const CoScheduleRules& rules);

}  // namespace sluice
