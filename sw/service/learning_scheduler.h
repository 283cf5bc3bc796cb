// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "sw/core/machine.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/solo_times.h"
#include "sw/service/kernel_times.h"

namespace sluice::service {

/// `adaptive` for programs that nobody knew: `even` until launches of every kernel that shares have been seen. Then by their
/// times, as far as they are known: those of a count never held are estimated (KernelTimes).
class LearningScheduler : public IScheduler {
 public:
  static constexpr Time kLooksAgain = std::chrono::milliseconds(200);  ///< for times, while some are missing
  LearningScheduler(MachineConfig machine, std::shared_ptr<const KernelTimes> times);
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  MachineConfig machine_;
  std::shared_ptr<const KernelTimes> times_;
  std::unique_ptr<IScheduler> even_, adaptive_;
  SoloTimes in_use_;  ///< that `adaptive_` knows
};

}  // namespace sluice::service
