// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/policy_scheduler.h"
#include "sw/scheduler/solo_times.h"

namespace sluice {

/// Our own policy over time (docs/user/schedulers.md#balance): jobs share every SM by partitions whose rates were measured, and
/// the work that is left of each weighs. The rates of a mix are remembered by the kernels' names, and measured again after
/// `kMeasureAgain` decisions by them. Of more jobs than fit an SM together, or than there are slots, the most important share,
/// then the oldest; more than two only where they are as important as the second. Where no partition is worth it the first of
/// these has the machine.
class BalanceScheduler : public IScheduler {
 public:
  static constexpr std::uint32_t kMeasureAgain = 16;
  static constexpr std::size_t kMostKernels = 8;

  /// @param times  of kernels alone, where they are known; otherwise all count as equally long
  explicit BalanceScheduler(MachineConfig machine, SoloTimes times = {}, std::size_t slots = kNoSlotLimit)
      : machine_(std::move(machine)), times_(std::move(times)), slots_(std::min(slots, kMostKernels)) {}
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;
  void measured(std::span<const JobId> jobs, std::span<const BalanceCandidate> found) override;

 private:
  /// What is known of a mix; kernels in order of their names.
  struct Known {
    std::vector<std::vector<CtaCount>> ctas;
    std::vector<std::vector<double>> rates;
    std::uint32_t decisions = 0;
  };
  [[nodiscard]] std::vector<const JobView*> group(std::span<const JobView> jobs) const;
  [[nodiscard]] Plan measure(const std::vector<const JobView*>& group) const;
  [[nodiscard]] Plan share(const std::vector<const JobView*>& by_name, const Known& known) const;
  [[nodiscard]] BalanceWish wish(const JobView& job) const;

  MachineConfig machine_;
  SoloTimes times_;
  std::size_t slots_;
  std::vector<std::pair<std::string, JobId>> asked_;  ///< by name: whose partitions are being measured
  std::map<std::vector<std::string>, Known> known_;
  std::vector<JobId> sharing_;  ///< whom plan_ is for
  Plan plan_;
};

}  // namespace sluice
