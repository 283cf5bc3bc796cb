// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/adaptive_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sw/core/errors.h"

namespace sluice {

AdaptiveScheduler::AdaptiveScheduler(MachineConfig machine, SoloTimes times, const std::vector<KernelDescriptor>& mix,
                                     std::size_t slots, Time slice, NttLimit limit)
    : machine_(std::move(machine)), times_(std::move(times)), slots_(slots), slice_(slice), limit_(limit) {
  if (!(limit_.most >= 1)) throw InputError(fmt::format("max_ntt = {}: must be at least 1", limit_.most));
  for (const KernelDescriptor& kernel : mix) (void)times_of(kernel, times_, machine_);
}

Plan AdaptiveScheduler::decide(std::span<const JobView> jobs, std::span<const Event>, Time now) {
  std::vector<Candidate> candidates;
  std::vector<JobId> ids;
  bool all_begun = true;  // of those whose turn it is
  for (const JobView& job : jobs) {
    if (!may_hold_sms(job.state) || (job.tasks != 0 && job.tasks_begun >= job.tasks)) continue;
    // Blocks begun stand for blocks executed: the two differ by what is resident.
    const double left = share_left(job.tasks, job.tasks_begun);
    candidates.push_back({&job, left, left * times_of(job.kernel, times_, machine_).front()});
    ids.push_back(job.id);
    if (std::ranges::find(plan_.jobs, job.id, &JobShare::job) != plan_.jobs.end() && job.state != JobState::Running)
      all_begun = false;
  }
  const bool slice_over = plan_.wake_at && now >= *plan_.wake_at;
  if (ids == known_ && !slice_over) return plan_;
  known_ = ids;
  const Time slice_ends = plan_.wake_at && !slice_over ? *plan_.wake_at : now + slice_;
  if (slice_over && all_begun) {
    for (const JobShare& share : plan_.jobs) served_[share.job] = now;
    plan_.jobs.clear();
  }
  const std::vector<Candidate> chosen = group(candidates);
  allocate(chosen, now);
  if (chosen.size() == candidates.size()) {
    plan_.wake_at.reset();
    served_.clear();
  } else {
    plan_.wake_at = slice_ends;
  }
  return plan_;
}

/// Whose turn it is goes on; of the others who has waited longest, first fit.
std::vector<AdaptiveScheduler::Candidate> AdaptiveScheduler::group(std::vector<Candidate> candidates) const {
  const auto rank = [this](const Candidate& c) {
    const auto turn = served_.find(c.job->id);
    const bool holds = std::ranges::find(plan_.jobs, c.job->id, &JobShare::job) != plan_.jobs.end();
    return std::tuple(!holds, turn == served_.end() ? Time::min() : turn->second, -c.longest);
  };
  std::ranges::stable_sort(candidates, {}, rank);
  std::vector<Candidate> chosen;
  SmResources left = machine_.sm.capacity;
  for (const Candidate& c : candidates) {
    if (chosen.size() >= slots_ || !fits(c.job->kernel.demand(), left)) continue;
    left = take(left, c.job->kernel.demand());
    chosen.push_back(c);
  }
  std::ranges::sort(chosen, {}, &Candidate::job);  // as in `jobs`, oldest first
  return chosen;
}

void AdaptiveScheduler::allocate(const std::vector<Candidate>& group, Time now) {
  std::vector<RemainingWork> work;
  std::vector<SmResources> demand;
  for (const Candidate& c : group) {
    const double waited = static_cast<double>((now - c.job->arrived).count()) / limit_.unit_ps;
    work.push_back({times_of(c.job->kernel, times_, machine_), c.left, std::max(0.0, waited)});
    demand.push_back(c.job->kernel.demand());
  }
  const auto found = allocate_remaining_time(work, demand, machine_.sm.capacity, limit_.most);
  plan_.jobs.clear();
  plan_.reason.clear();
  double longest = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    plan_.jobs.push_back({group[i].job->id, {found->ctas[i]}});
    const double remaining = found->remaining[i];
    if (remaining <= longest) continue;
    longest = remaining;
    plan_.reason = fmt::format("job {} ({}) has the longest remaining time", group[i].job->id.value(), group[i].job->kernel.name);
  }
}

}  // namespace sluice
