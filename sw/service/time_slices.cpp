// SPDX-License-Identifier: Apache-2.0
#include "sw/service/time_slices.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice::service {

namespace {

bool on_gpu(JobState state) { return state == JobState::ToRun || state == JobState::Running || state == JobState::ToEvict; }
bool holds(const JobShare& share) { return share.share.ctas.value() != 0 && share.share.sms.count != 0; }

}  // namespace

Plan TimeSlices::narrowed(Plan plan, std::span<const JobView> jobs, const OwnerOf& owner_of, Time now) {
  std::set<std::uint32_t> wanted, there;
  for (const JobShare& share : plan.jobs)
    if (holds(share)) wanted.insert(owner_of(share.job));
  for (const JobView& job : jobs)
    if (on_gpu(job.state)) there.insert(owner_of(job.id));
  if (holder_ && (!wanted.contains(*holder_) || (wanted.size() > 1 && now >= until_))) {
    const auto after = wanted.upper_bound(*holder_);
    if (wanted.empty()) {
      holder_.reset();
    } else {
      holder_ = after == wanted.end() ? *wanted.begin() : *after;
      until_ = now + kSlice;
    }
  } else if (!holder_ && !wanted.empty()) {
    holder_ = *wanted.begin();
    until_ = now + kSlice;
  }
  // Its turn begins when the others have left: their report is an event, and this is asked again.
  const bool free = std::ranges::all_of(there, [&](std::uint32_t owner) { return owner == holder_; });
  if (free && waits_) until_ = now + kSlice;
  waits_ = !free;
  std::erase_if(plan.jobs, [&](const JobShare& s) { return !free || !holds(s) || owner_of(s.job) != holder_; });
  if (plan.jobs.size() == 1) plan.jobs.front().share = kWholeMachine;
  if (free && wanted.size() > 1 && (!plan.wake_at || until_ < *plan.wake_at)) plan.wake_at = until_;
  return plan;
}

}  // namespace sluice::service
