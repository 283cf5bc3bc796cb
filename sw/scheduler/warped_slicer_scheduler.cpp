// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/warped_slicer_scheduler.h"

#include <algorithm>

#include "sw/partition/warped_slicer.h"

namespace sluice {

Plan WarpedSlicerScheduler::decide(std::span<const JobView> jobs, std::span<const Event> events, Time) {
  for (const Event& event : events) {
    if (event.kind == EventKind::Profiled) profiled_.push_back(event.job);
    if (event.kind == EventKind::Arrived || event.kind == EventKind::Done || event.kind == EventKind::Lost) profiled_.clear();
  }
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
  const bool known = std::ranges::none_of(profiles, &Profile::empty) &&
                     std::ranges::all_of(present, [&](JobId id) { return std::ranges::find(profiled_, id) != profiled_.end(); });
  const Partition partition = known ? warped_slicer_partition(profiles, demand, machine_) : on_own_sms(alone, machine_.num_sms);
  Plan plan;
  for (std::size_t i = 0; i < present.size(); ++i) plan.jobs.push_back({present[i], partition.shares[i]});
  plan.profile = !known;
  plan.reason = !known                            ? "ranges of SMs until each kernel's profile is known"
                : partition.mode == Mode::Spatial ? "ranges of SMs: sharing would cost a kernel too much"
                                                  : "water-filling over the profiles";
  return plan;
}

}  // namespace sluice
