// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/policy_scheduler.h"

#include <fmt/format.h>

namespace sluice {

Plan PolicyScheduler::decide(std::span<const JobView> jobs, std::span<const Event>, Time) {
  std::vector<KernelId> present;
  for (const JobView& job : jobs)
    if (may_hold_sms(job.state) && (!plan_.shares || present.size() < slots_)) present.emplace_back(job.id.value());
  Plan plan;
  if (present.size() < 2 || !plan_.shares) {
    for (const KernelId k : present) plan.jobs.push_back({JobId(k.value()), kWholeMachine});
    return plan;
  }
  const std::vector<Share> shares = plan_.shares(present);
  for (std::size_t i = 0; i < present.size(); ++i) plan.jobs.push_back({JobId(present[i].value()), shares[i]});
  plan.reason = fmt::format("{} jobs share the machine", present.size());
  return plan;
}

MakeScheduler unit_decides(Mode mode) {
  return [mode] { return std::make_unique<PolicyScheduler>(PolicyPlan{mode, {mode, {}}, {}}); };
}

}  // namespace sluice
