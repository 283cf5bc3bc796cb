// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "sw/scheduler/i_scheduler.h"

namespace sluice::test {

/// Every job in turn has the whole machine for one slice: a scheduler that uses time, for tests of executors.
class Turns : public IScheduler {
 public:
  explicit Turns(Time slice) : slice_(slice) {}
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time now) override {
    std::vector<JobId> open;
    for (const JobView& job : jobs)
      if (may_hold_sms(job.state)) open.push_back(job.id);
    if (open.empty()) return {};
    if (!begun_ || now >= ends_ || std::ranges::find(open, running_) == open.end()) {
      const auto next = begun_ ? std::ranges::upper_bound(open, running_) : open.begin();
      running_ = next == open.end() ? open.front() : *next;
      begun_ = true;
      ends_ = now + slice_;
    }
    return {{{running_, kWholeMachine}}, ends_};
  }

 private:
  Time slice_, ends_{};
  JobId running_{};
  bool begun_ = false;
};

}  // namespace sluice::test
