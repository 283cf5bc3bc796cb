// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/policy/i_policy.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// A plan of a policy, held over time: the shares of the jobs that are there, asked for anew whenever that changes. A job that is
/// alone gets the whole machine, and so does every job where no quotas hold. Job k is kernel k of the policy's mix.
class PolicyScheduler : public IScheduler {
 public:
  explicit PolicyScheduler(PolicyPlan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Mode mode() const override { return plan_.mode; }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  PolicyPlan plan_;
};

/// Nothing is asked of the unit but to work in a mode of its own.
[[nodiscard]] MakeScheduler unit_decides(Mode mode);

}  // namespace sluice
