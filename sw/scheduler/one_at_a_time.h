// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// Schedulers that give the whole machine to one job at a time, as EffiSha does. A variant says whose turn it is, and when that
/// turn may end. Promises that no job waits while the machine is free.
class OneAtATime : public IScheduler {
 public:
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) final;

 protected:
  using Jobs = std::span<const JobView* const>;

  /// @param ready   all that may hold SMs, oldest first, and the holder among them; at least one
  /// @param holder  who has the machine; null when it is free
  /// @return one of `ready`
  [[nodiscard]] virtual const JobView& choose(Jobs ready, const JobView* holder, Time now) = 0;

  /// The turn of the job that `choose` returns ends so long after it began; without a slice it lasts.
  void set_slice(std::optional<Time> slice) { slice_ = slice; }
  [[nodiscard]] bool slice_is_over(Time now) const { return slice_ && now >= begun_ + *slice_; }

 private:
  std::optional<JobId> holder_;
  std::optional<Time> slice_;
  Time begun_{};  ///< of the holder's turn
};

/// The highest priority; the oldest of equals.
[[nodiscard]] const JobView& most_important(std::span<const JobView* const> jobs);

}  // namespace sluice
