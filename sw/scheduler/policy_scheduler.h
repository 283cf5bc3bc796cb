// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>

#include "sw/policy/policy.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// An executor without kernel slots.
inline constexpr std::size_t kNoSlotLimit = std::numeric_limits<std::size_t>::max();

/// A plan of a policy, held over time: the shares of the jobs that are there, asked for anew whenever that changes. A job that is
/// alone gets the whole machine, and so does every job where no quotas hold. Job k is kernel k of the policy's mix. Where quotas
/// hold, only the oldest jobs share, as many as the unit has kernel slots: SMs given to a job that has to wait would stay idle.
class PolicyScheduler : public IScheduler {
 public:
  explicit PolicyScheduler(PolicyPlan plan, std::size_t slots = kNoSlotLimit) : plan_(std::move(plan)), slots_(slots) {}
  [[nodiscard]] Mode mode() const override { return plan_.mode; }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  PolicyPlan plan_;
  std::size_t slots_;
};

/// Nothing is asked of the unit but to work in a mode of its own.
[[nodiscard]] MakeScheduler unit_decides(Mode mode);

}  // namespace sluice
