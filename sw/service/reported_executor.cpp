// SPDX-License-Identifier: Apache-2.0
#include "sw/service/reported_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sw/core/errors.h"
#include "sw/service/sm_parts.h"

namespace sluice::service {

ReportedExecutor::ReportedExecutor(IScheduler& scheduler, bool isolate, const SmResources& sm)
    : scheduler_(scheduler), isolate_(isolate), sm_(sm) {}

JobId ReportedExecutor::submit(const ClientLaunch& launch, Time now) {
  while (jobs_.contains(JobId(next_id_))) ++next_id_;  // after 2^32 launches
  const JobId id(next_id_++);
  JobView view;
  view.id = id;
  view.kernel = launch.kernel;
  view.arrived = now;
  view.priority = launch.priority;
  view.tasks = launch.tasks;
  table_.arrive(std::move(view));
  jobs_.emplace(id, Job{launch.owner});
  move(id, JobState::Ready, now);
  return id;
}

JobId ReportedExecutor::change_kernel(JobId old, const KernelDescriptor& kernel, Time now) {
  const JobView before = open(old, now);
  const Share share = jobs_.at(old).now.share, granted = jobs_.at(old).now.granted;
  const std::uint8_t parts = jobs_.at(old).now.parts;
  const std::uint32_t evictions = jobs_.at(old).now.evictions, owner = jobs_.at(old).owner;
  const Time held = progress(old, now).held;
  done(old, now);
  const JobId id = submit({kernel, before.tasks, {}, before.priority, owner}, now);
  table_.take_place(id, old);  // whose SMs are whose goes by the order
  Job& job = jobs_.at(id);
  job.now.evictions = evictions;
  job.now.granted = granted;
  job.now.held = held;
  if (before.state == JobState::Ready) return id;
  move(id, JobState::ToRun, now);
  job.now.share = share;
  job.now.parts = parts;
  if (before.state != JobState::ToRun) move(id, JobState::Running, now);
  if (before.state == JobState::ToEvict) move(id, JobState::ToEvict, now);
  return id;
}

void ReportedExecutor::report(JobId id, const Report& what, Time now) {
  JobView& view = open(id, now);
  Job& job = jobs_.at(id);
  const bool counts = what.tasks_begun >= what.tasks_done && what.tasks_begun >= view.tasks_begun &&
                      what.tasks_done >= view.tasks_done && (view.tasks == 0 || what.tasks_begun <= view.tasks);
  if (!counts)
    throw InputError(
        fmt::format("{} tasks begun and {} done of {}: counts do not go so", what.tasks_begun, what.tasks_done, view.tasks));
  job.now.tasks_begun = view.tasks_begun = what.tasks_begun;
  job.now.tasks_done = view.tasks_done = what.tasks_done;
  if (view.state == JobState::ToRun && what.tasks_begun > 0) move(id, JobState::Running, now);
  switch (static_cast<What>(what.what)) {
    case What::Progress: break;
    case What::LastTaskBegun:
      if (view.tasks != 0 && !std::exchange(job.last_begun, true)) table_.report({EventKind::LastTaskBegun, id});
      break;
    case What::Evicted:
      if (view.state != JobState::ToEvict) throw InputError(fmt::format("it was not told to leave: {}", to_string(view.state)));
      ++job.now.evictions;
      move(id, JobState::Ready, now);
      break;
    case What::Done: done(id, now); break;
    default: throw InputError(fmt::format("report {}: there is none", what.what));
  }
}

/// By way of the states in between: a short launch is done before anything else of it is reported.
void ReportedExecutor::done(JobId id, Time now) {
  if (table_.at(id).state == JobState::Ready) move(id, JobState::ToRun, now);
  if (table_.at(id).state == JobState::ToRun) move(id, JobState::Running, now);
  move(id, JobState::Done, now);
}

void ReportedExecutor::lose(JobId id, Time now) {
  Job& job = jobs_.at(id);
  if (job.forsaken)
    job.now.state = JobState::Lost;
  else if (is_open(job.now.state))
    move(id, JobState::Lost, now);
}

JobView& ReportedExecutor::open(JobId id, Time now) {
  Job& job = jobs_.at(id);
  if (!is_open(job.now.state)) throw InputError("its launch has ended");
  if (job.forsaken) {
    table_.arrive(*std::exchange(job.forsaken, std::nullopt));
    for (const JobState s : {JobState::Ready, JobState::ToRun, JobState::Running, JobState::ToEvict}) move(id, s, now);
  }
  return table_.at(id);
}

void ReportedExecutor::move(JobId id, JobState to, Time now) {
  table_.move(id, to);
  Job& job = jobs_.at(id);
  job.now.state = to;
  job.now.leaving = Leaving::InTime;
  if (to == JobState::ToRun || to == JobState::ToEvict) job.told = now;
  if (to == JobState::Running && !job.held_since) job.held_since = now;
  if (to != JobState::Running && to != JobState::ToEvict && job.held_since) {
    job.now.held += now - *job.held_since;
    job.held_since.reset();
  }
  if (to != JobState::ToRun && to != JobState::Running) job.now.share = {CtaCount(0), {}}, job.now.parts = 0;
}

void ReportedExecutor::advance(Time now) {
  if (wake_at_ && now >= *wake_at_) {
    wake_at_.reset();
    table_.report({EventKind::Timer, JobId(0)});
  }
  look_for_late(now);
  if (!table_.has_events()) return;
  Plan plan = scheduler_.decide(table_.jobs(), table_.take_events(), now);
  if (isolate_)
    plan = slices_.narrowed(
        std::move(plan), table_.jobs(), [&](JobId id) { return jobs_.at(id).owner; }, now);
  obey(plan, now);
  table_.forget_closed();
}

void ReportedExecutor::look_for_late(Time now) {
  for (auto& [id, job] : jobs_) {
    if (job.now.state == JobState::ToRun && table_.jobs().size() > 1 && now >= job.told + kForsakenAfter) {
      move(id, JobState::Running, now);
      move(id, JobState::ToEvict, now);
      table_.report({EventKind::Timer, JobId(0)});  // somebody else may have its turn
    }
    if (job.now.state != JobState::ToEvict || job.forsaken) continue;
    if (now >= job.told + kLateAfter) job.now.leaving = Leaving::Late;
    if (now < job.told + kForsakenAfter) continue;
    job.forsaken = table_.at(id);
    job.forsaken->state = JobState::Prep;
    table_.move(id, JobState::Lost);
    job.now.leaving = Leaving::Forsaken;
  }
}

std::optional<Time> ReportedExecutor::next() const {
  std::optional<Time> first = wake_at_;
  for (const auto& [id, job] : jobs_) {
    const bool waits = job.now.state == JobState::ToEvict || (job.now.state == JobState::ToRun && table_.jobs().size() > 1);
    if (!waits || job.forsaken) continue;
    const bool late_next = job.now.state == JobState::ToEvict && job.now.leaving == Leaving::InTime;
    const Time due = job.told + (late_next ? kLateAfter : kForsakenAfter);
    if (!first || due < *first) first = due;
  }
  return first;
}

void ReportedExecutor::obey(const Plan& plan, Time now) {
  std::vector<JobView> jobs(table_.jobs().begin(), table_.jobs().end());
  const std::map<JobId, std::uint8_t> parts = sm_parts(plan, jobs, sm_);
  for (const JobView& view : jobs) {
    if (!may_hold_sms(view.state)) continue;
    const auto given = std::ranges::find(plan.jobs, view.id, &JobShare::job);
    const bool wanted = given != plan.jobs.end() && given->share.ctas.value() != 0 && given->share.sms.count != 0;
    Job& job = jobs_.at(view.id);
    if (wanted && view.state == JobState::Ready) move(view.id, JobState::ToRun, now);
    if (wanted && view.state != JobState::ToEvict) {
      job.now.share = job.now.granted = given->share;
      job.now.parts = parts.at(view.id);
    }
    if (wanted || (view.state != JobState::ToRun && view.state != JobState::Running)) continue;
    // One that was given a share may have launched by now: it has to say that it left, as if it were known to run.
    if (view.state == JobState::ToRun) move(view.id, JobState::Running, now);
    move(view.id, JobState::ToEvict, now);
  }
  if (plan.wake_at && *plan.wake_at <= now)
    throw std::logic_error(fmt::format("a plan at {} ps asks for a timer at {} ps", now.count(), plan.wake_at->count()));
  wake_at_ = plan.wake_at;
}

Progress ReportedExecutor::progress(JobId id, Time now) const {
  const Job& job = jobs_.at(id);
  Progress p = job.now;
  if (job.held_since) p.held += now - *job.held_since;
  return p;
}

}  // namespace sluice::service
