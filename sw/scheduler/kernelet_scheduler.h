// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

#include "sw/scheduler/pair_scheduler.h"

namespace sluice {

/// What pruning left out, over all decisions of a scheduler.
struct PruningCost {
  std::uint64_t decisions = 0, pairs = 0, pruned = 0;
  double lost_profit = 0;  ///< co-scheduling profit by the table: the sum over decisions
};

/// Kernelet: the pair with the highest co-scheduling profit of FindCoSchedule. With predicted rates it is the paper's Kernelet,
/// with rates of pairs that were run before its OPT.
class KerneletScheduler : public PairScheduler {
 public:
  /// @throws InputError as PairScheduler; when a threshold is below 0
  KerneletScheduler(const MachineConfig& machine, CoRunTable table, std::span<const KernelDescriptor> mix,
                    Time min_slice = kMinSlice)
      : PairScheduler(machine, std::move(table), mix, min_slice) {
    rules().price_pruning = true;
  }
  /// Pairs alike in both are not tried. @param issue, memory  0: every pair is
  void prune(double issue, double memory) {
    rules().issue_threshold = issue;
    rules().memory_threshold = memory;
  }
  [[nodiscard]] const PruningCost& pruning() const { return cost_; }

 private:
  [[nodiscard]] std::optional<CoSchedule> choose(std::span<const CandidateKernel> kernels) override {
    const CoScheduleChoice choice = find_co_schedule(kernels, table(), rules());
    ++cost_.decisions;
    cost_.pairs += choice.pairs;
    cost_.pruned += choice.pruned;
    cost_.lost_profit += choice.lost_profit.value_or(0);
    return choice.best;
  }

  PruningCost cost_;
};

}  // namespace sluice
