// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "sw/policy/policy.h"
#include "sw/scheduler/fake_run.h"

namespace sluice {

void FakeExecutor::Run::obey(const Plan& plan) {
  for (const JobView& view : table_.jobs()) {
    const std::uint32_t k = view.id.value();
    const auto given = std::ranges::find(plan.jobs, view.id, &JobShare::job);
    const bool wanted = given != plan.jobs.end() && given->share.ctas.value() != 0 && given->share.sms.count != 0;
    if (wanted) {  // one that must leave keeps its share until it hears of it
      jobs_.at(k).share = *given;
      if (task_times_) jobs_.at(k).task_time = task_times_(view.id, plan);
    }
    if (view.state == JobState::Ready && wanted) {
      table_.move(view.id, JobState::ToRun);
      pause(k, costs_.launch);
    } else if (view.state == JobState::ToRun && !wanted) {
      table_.move(view.id, JobState::Ready);
    } else if (view.state == JobState::Running && !wanted) {
      table_.move(view.id, JobState::ToEvict);
      pause(k, costs_.evict);
      leave_if_empty(k);
    }
  }
  holders_.clear();
  for (const JobView& view : table_.jobs())
    if (is_open(view.state) && view.state != JobState::Prep && view.state != JobState::Ready) holders_.push_back(view.id);
  if (plan.wake_at) {
    if (*plan.wake_at <= now_)
      throw std::logic_error(fmt::format("a plan at {} ps asks for a timer at {} ps", now_.count(), plan.wake_at->count()));
    if (wake_at_ != plan.wake_at) later(*plan.wake_at, {Happening::Kind::Timer});
  }
  wake_at_ = plan.wake_at;
  const bool measures = !plan.measure.empty() && plan != measuring_;  // the same plan again is measured once
  measuring_ = plan.measure.empty() ? Plan() : plan;
  to_measure_ = measures || (to_measure_ && !plan.measure.empty());
  if (plan.profile || measures) later(now_ + costs_.profile, {Happening::Kind::Profiled});
}

bool FakeExecutor::Run::has_task(const JobView& view) const {
  const Job& job = jobs_.at(view.id.value());
  const bool may_begin = view.state == JobState::Running || (view.state == JobState::ToRun && now_ >= job.pause_end) ||
                         (view.state == JobState::ToEvict && now_ < job.pause_end);
  return may_begin && view.tasks_begun < std::min(view.tasks, job.share.task_limit);
}

bool FakeExecutor::Run::begin_one(const JobView& view, bool quotas) {
  const Job& job = jobs_.at(view.id.value());
  const Share& share = job.share.share;
  if (!has_task(view)) return false;
  const std::uint32_t first = share.sms.first.value();
  const std::uint32_t end = first + std::min(share.sms.count, machine_.num_sms - std::min(first, machine_.num_sms));
  for (std::uint32_t sm = first; sm < end; ++sm) {
    if (!fits(view.kernel.demand(), free_[sm]) || (quotas && job.on_sm[sm] >= share.ctas.value())) continue;
    begin_on(view.id.value(), sm);
    return true;
  }
  return false;
}

void FakeExecutor::Run::begin_on(std::uint32_t k, std::uint32_t sm) {
  JobView& view = table_.at(JobId(k));
  Job& job = jobs_.at(k);
  free_[sm] = take(free_[sm], view.kernel.demand());
  ++job.on_sm[sm];
  if (job.resident++ == 0) job.held_since = now_;
  ++resident_in_all_;
  if (view.tasks_begun++ == 0) job.outcome.began = now_;
  if (view.state == JobState::ToRun) table_.move(JobId(k), JobState::Running);
  if (view.tasks_begun == view.tasks) table_.report({EventKind::LastTaskBegun, JobId(k)});
  later(now_ + job.task_time, {Happening::Kind::TaskEnd, k, sm});
  if (observer_ != nullptr) observer_->task_begins(JobId(k), SmId(sm), now_, now_ + job.task_time);
}

void FakeExecutor::Run::dispatch() {
  if (copies_ && copies_->holds_gpu()) return;
  const Mode mode = scheduler_.mode();
  if (mode == Mode::Fcfs) {
    for (bool begun = true; begun;) {
      begun = false;
      for (const JobId id : holders_) begun = begin_one(table_.at(id), false) || begun;
    }
    return;
  }
  for (const JobId id : holders_) {
    const JobView& job = table_.at(id);
    while (begin_one(job, mode != Mode::LeftOver)) {
    }
    if (mode == Mode::LeftOver && has_task(job)) return;  // the next waits until this one has no task to begin
  }
}

void FakeExecutor::Run::skip_waves() {
  if (!skips_waves_ || agenda_.empty() || (copies_ && copies_->holds_gpu())) return;
  std::array<JobView*, 2> steady{};
  std::size_t count = 0;
  Time until = wake_at_.value_or(Time::max()), shortest = Time::max();
  for (const JobId id : holders_) {
    JobView& view = table_.at(id);
    if (!has_task(view)) continue;
    if (count == steady.size()) return;
    const Job& job = jobs_.at(id.value());
    steady[count++] = &view;
    // The last task is begun in a wave that is run: its beginning is an event.
    const std::uint64_t tasks = std::min(view.tasks - 1, job.share.task_limit) - view.tasks_begun, held = job.resident;
    if (held == 0 || tasks < 2 * held) return;
    until = std::min(until, now_ + static_cast<std::int64_t>(tasks / held - 1) * job.task_time);
    shortest = std::min(shortest, job.task_time);
    if (scheduler_.mode() == Mode::LeftOver) break;  // those behind it wait
  }
  if (count == 0 || until - agenda_.begin()->first <= shortest) return;
  for (std::size_t i = 0; i < count; ++i)
    if (!within_share(jobs_.at(steady[i]->id.value()), count == 2)) return;
  const auto job_of = [&](const Happening& h) -> JobView* {
    for (std::size_t i = 0; i < count; ++i)
      if (h.kind == Happening::Kind::TaskEnd && steady[i]->id == JobId(h.job)) return steady[i];
    return nullptr;
  };
  auto end = agenda_.begin();
  while (end != agenda_.end() && end->first < until && std::ranges::all_of(end->second, job_of)) ++end;
  if (end != agenda_.end()) until = std::min(until, end->first);
  std::vector<std::pair<Time, Happening>> moved;
  for (auto at = agenda_.begin(); at != end; ++at)
    for (const Happening& h : at->second) {
      JobView& job = *job_of(h);
      const std::int64_t waves = (until - at->first - Time(1)) / jobs_.at(h.job).task_time;  // that end before it happens
      job.tasks_begun += static_cast<std::uint64_t>(waves);
      job.tasks_done += static_cast<std::uint64_t>(waves);
      moved.emplace_back(at->first + waves * jobs_.at(h.job).task_time, h);
    }
  agenda_.erase(agenda_.begin(), end);
  for (const auto& [at, h] : moved) later(at, h);
}

bool FakeExecutor::Run::within_share(const Job& job, bool all_of_it) const {
  const Share& share = job.share.share;
  const std::uint32_t first = share.sms.first.value();
  const CtaCount fit = occupancy(job.spec.kernel.demand(), machine_.sm.capacity);
  const std::uint32_t most =
      scheduler_.mode() == Mode::LeftOver || scheduler_.mode() == Mode::Fcfs ? fit.value() : std::min(share.ctas, fit).value();
  for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) {
    const std::uint32_t allowed = sm >= first && sm - first < share.sms.count ? most : 0;
    if (job.on_sm[sm] > allowed || (all_of_it && job.on_sm[sm] < allowed)) return false;
  }
  return true;
}

}  // namespace sluice
