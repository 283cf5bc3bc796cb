// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/balance_scheduler.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/service/kernel_times.h"

namespace sluice::service {

/// `balance` for programs that nobody knew. What it wants measured holds the GPU in turns, and so does each kernel alone, until
/// launches of all of its kernels have been timed (KernelTimes, which outlives the service): what was timed once has no turn
/// again for kFresh. No program waits for another to end: kernels share also where no partition is worth it.
class MeasuringScheduler : public IScheduler {
 public:
  static constexpr Time kLooks = std::chrono::milliseconds(100);  ///< for times, while a turn lasts
  static constexpr Time kStays = std::chrono::milliseconds(200);  ///< so long a mix has been there before it is measured
  static constexpr Time kTurn = std::chrono::seconds(3);          ///< at most: clients report twice a second
  static constexpr Time kTriesAgain = std::chrono::seconds(30);   ///< a mix of which nothing was heard in a turn
  static constexpr Time kFresh = std::chrono::minutes(10);
  MeasuringScheduler(MachineConfig machine, std::shared_ptr<KernelTimes> times);
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  using Names = std::vector<std::string>;
  [[nodiscard]] Plan in_turns(const Plan& wanted, std::span<const JobView> jobs, Time now);
  [[nodiscard]] Plan turn(const Plan& wanted, const Held& held, std::size_t number, std::size_t of, Time now);
  void note(const Plan& plan, std::span<const JobView> jobs, Time now);

  MachineConfig machine_;
  std::shared_ptr<KernelTimes> times_;
  BalanceScheduler balance_;
  Names mix_;  ///< that is to be measured
  Time mix_since_{};
  Held turn_;  ///< whose it is
  Time turn_since_{};
  std::map<Names, Time> silent_;  ///< when nothing was heard of it
};

}  // namespace sluice::service
