// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernelet's FindCoSchedule (Zhong, He: Kernelet, IEEE TPDS 2014, algorithm 1): which two kernels run side by side next, with how
// many CTAs each, and how long a slice of each is. docs/user/kernelet.md says what is changed against the paper.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sw/core/resources.h"
#include "sw/partition/markov.h"

namespace sluice {

/// A kernel whose inputs are there.
struct CandidateKernel {
  MarkovKernel model;
  SmResources demand;                 ///< of one CTA
  double instructions_per_block = 0;  ///< I: warp instructions of one CTA, above 0
  std::uint64_t blocks = 0;           ///< left to run, at least 1
  double issue_utilisation = 0;       ///< of the issue slots, alone, 0..1: PUR
  double memory_utilisation = 0;      ///< of DRAM bandwidth, alone, 0..1: MUR
};

struct CoScheduleRules {
  SmResources capacity;  ///< of one SM
  unsigned sms = 1, schedulers = 1;
  double slice_cycles = 0;  ///< shortest slice whose overhead is acceptable, at least 0
  /// A pair is pruned when its kernels differ by less than both. 0: none is.
  double issue_threshold = 0.4, memory_threshold = 0.1;
  bool price_pruning = false;  ///< works out the pruned pairs too, only to report what pruning costs
};

/// Two kernels side by side. Element 0 belongs to the kernel of lower index.
struct CoSchedule {
  std::array<std::size_t, 2> kernels{};
  std::array<CtaCount, 2> ctas{};         ///< on each SM
  std::array<std::uint64_t, 2> slices{};  ///< blocks of one slice, at least 1
  std::array<double, 2> ipc{};            ///< of one SM, predicted
  double imbalance = 0;                   ///< equation 7 over the longer slice's time, 0..1
  double profit = 0;                      ///< predicted, above 0
};

struct CoScheduleChoice {
  std::optional<CoSchedule> best;     ///< none: no two kernels fit on an SM and gain by running together
  std::size_t pairs = 0, pruned = 0;  ///< pruned: of `pairs`
  std::optional<double> lost_profit;  ///< with price_pruning: what the best pair of all promises above the best that was kept
};

/// The pair, and its CTAs per SM, with the highest co-scheduling profit by the model; ties go to the lowest indices and counts.
/// When all pairs are alike none is pruned.
///
/// Slices take equal time at the predicted IPC (the paper's balanced ratio): slice_cycles, or the time of one wave of the slower
/// kernel if that is longer, or until the first kernel is done if that is sooner.
/// @throws InputError when a figure is out of its range or a CTA does not fit on an empty SM
[[nodiscard]] CoScheduleChoice find_co_schedule(std::span<const CandidateKernel> kernels, const CoScheduleRules& rules);

}  // namespace sluice
