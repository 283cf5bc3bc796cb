// SPDX-License-Identifier: Apache-2.0
#include "sw/service/learning_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sw/scheduler/adaptive_scheduler.h"
#include "sw/scheduler/live_scheduler.h"

namespace sluice::service {

LearningScheduler::LearningScheduler(MachineConfig machine, std::shared_ptr<const KernelTimes> times)
    : machine_(std::move(machine)), times_(std::move(times)), even_(make_live_scheduler("even", machine_)) {}

Plan LearningScheduler::decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) {
  SoloTimes known;
  std::string unknown;
  std::size_t present = 0;
  for (const JobView& job : jobs) {
    if (!may_hold_sms(job.state)) continue;
    ++present;
    const CtaCount most = occupancy(job.kernel.demand(), machine_.sm.capacity);
    const auto curve = times_->curve(job.kernel.name, most);
    std::vector<double>& longest = known[job.kernel.name];  // launches of one kernel may differ in their CTAs
    if (!curve) unknown = job.kernel.name;
    if (curve && curve->size() > longest.size()) longest = *curve;
  }
  if (!unknown.empty()) {
    adaptive_.reset();
    Plan plan = even_->decide(jobs, events, now);
    plan.reason = fmt::format("even: no launch of {} has been timed yet", unknown);
    if (present > 1) plan.wake_at = std::min(plan.wake_at.value_or(Time::max()), now + kLooksAgain);
    return plan;
  }
  if (!adaptive_ || known != in_use_) {
    adaptive_ = std::make_unique<AdaptiveScheduler>(machine_, known, std::vector<KernelDescriptor>{});
    in_use_ = std::move(known);
  }
  return adaptive_->decide(jobs, events, now);
}

}  // namespace sluice::service
