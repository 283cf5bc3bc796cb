#include "sw/scheduler/warped_slicer_scheduler.h"

#include <algorithm>

#include "sw/partition/warped_slicer.h"

namespace sluice {

Plan WarpedSlicerScheduler::decide(std::span<const JobView> jobs, std::span<const Event> events, Time) {
  std::vector<JobId> present;
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  std::vector<CtaCount> alone;
  for (const JobView& job : jobs) {
    if (!may_hold_sms(job.state)) continue;
    present.push_back(job.id);
    profiles.push_back(job.profile);
    demand.push_back(job.kernel.demand());
    alone.push_back(occupancy(demand.back(), machine_.sm.capacity));
  }
  if (present.empty()) return {};
  if (present.size() == 1) return {{{present.front(), kWholeMachine}}};
  // Profiles of an earlier mix say nothing of this one: each change of it asks for new ones.
  const bool changed = std::ranges::any_of(events, [](const Event& e) {
    return e.kind == EventKind::Arrived || e.kind == EventKind::Done || e.kind == EventKind::Lost;
  });
  const bool known = std::ranges::none_of(profiles, &Profile::empty) && !changed;
  const Partition partition = known ? warped_slicer_partition(profiles, demand, machine_) : on_own_sms(alone, machine_.num_sms);
  Plan plan;
  for (std::size_t i = 0; i < present.size(); ++i) plan.jobs.push_back({present[i], partition.shares[i]});
  plan.profile = !known;
  return plan;
}

}  // namespace sluice
