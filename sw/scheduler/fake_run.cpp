// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_run.h"

#include <algorithm>
#include <utility>

#include "sw/policy/policy.h"

namespace sluice {

namespace {

[[nodiscard]] bool of_a_job(Happening::Kind kind) {
  using enum Happening::Kind;
  return kind == Arrival || kind == Loss || kind == Copied || kind == TaskEnd || kind == Pause;
}

}  // namespace

void FakeExecutor::Run::add(std::uint32_t k, const FakeJob& spec) {
  jobs_.emplace(k, Job{spec, spec.task_time, std::vector<std::uint32_t>(machine_.num_sms)});
}

void FakeExecutor::Run::begin(std::uint32_t k) {
  const FakeJob& spec = jobs_.at(k).spec;
  if (spec.after) {
    jobs_.at(*spec.after).followers.push_back(k);
  } else {
    later(spec.arrival, {Happening::Kind::Arrival, k});
  }
}

FakeProgress FakeExecutor::Run::progress(std::uint32_t k) {
  const Job& job = jobs_.at(k);
  FakeProgress p{JobState::Prep};
  p.granted = job.share.share;
  p.outcome = job.outcome;
  if (job.outcome.done || job.lost) {
    p.state = job.lost ? JobState::Lost : JobState::Done;
    p.tasks_begun = p.outcome.tasks_done;
  } else if (job.arrived) {
    const JobView& view = table_.at(JobId(k));
    p.state = view.state;
    p.tasks_begun = view.tasks_begun;
    if (view.state == JobState::ToRun || view.state == JobState::Running) p.share = job.share.share;
  }
  if (job.resident != 0) p.outcome.held += now_ - job.held_since;
  return p;
}

void FakeExecutor::Run::advance(Time until) {
  while (!agenda_.empty() && agenda_.begin()->first <= until) {
    if (copies_) copies_->account(now_, agenda_.begin()->first, resident_in_all_ > 0);
    now_ = agenda_.begin()->first;
    const std::vector<Happening> due = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    for (const Happening& h : due) happen(h);
    result_.steps += due.size();
    // What begins may be a job's last task to begin: the scheduler hears of it in the same moment.
    do {
      if (table_.has_events()) {
        const std::vector<Event> events = table_.take_events();
        ++result_.decisions;
        obey(scheduler_.decide(table_.jobs(), events, now_));
      }
      dispatch();
    } while (table_.has_events());
    copy();
    table_.forget_closed();
    skip_waves();
  }
  if (until != Time::max()) now_ = std::max(now_, until);
}

FakeResult FakeExecutor::Run::result(std::size_t jobs) {
  for (std::uint32_t k = 0; k < jobs; ++k) result_.jobs.push_back(outcome(k));
  result_.finished = std::ranges::all_of(result_.jobs, &FakeOutcome::done);
  if (copies_) result_.copies = copies_->times();
  return result_;
}

void FakeExecutor::Run::happen(const Happening& h) {
  if (of_a_job(h.kind) && !(jobs_.contains(h.job) && !jobs_.at(h.job).lost)) return;
  switch (h.kind) {
    case Happening::Kind::Arrival: arrive(h.job); break;
    case Happening::Kind::Loss: lost(h.job); break;
    case Happening::Kind::Copied: table_.move(JobId(h.job), JobState::Ready); break;
    case Happening::Kind::ToDevice: ready(copies_->end(CopyDirection::ToDevice)); break;
    case Happening::Kind::FromDevice:
      ready(copies_->end(CopyDirection::FromDevice));
      result_.end = now_;
      break;
    case Happening::Kind::TaskEnd: task_ended(h.job, h.sm); break;
    case Happening::Kind::Pause: leave_if_empty(h.job); break;
    case Happening::Kind::Timer:
      if (wake_at_ != now_) break;  // another plan has taken it back
      wake_at_.reset();
      table_.report({EventKind::Timer, JobId(0)});
      break;
    case Happening::Kind::Profiled: profiled(); break;
  }
}

void FakeExecutor::Run::arrive(std::uint32_t k) {
  JobView view;
  view.id = JobId(k);
  Job& job = jobs_.at(k);
  view.kernel = job.spec.kernel;
  view.arrived = now_;
  view.priority = job.spec.priority;
  view.tasks = job.spec.kernel.grid_ctas;
  table_.arrive(std::move(view));
  job.arrived = true;
  job.outcome.arrived = now_;
  if (copies_) {
    copies_->scheduler().arrive(JobId(k), job.spec.memory);
  } else if (costs_.copy == Time(0)) {
    table_.move(JobId(k), JobState::Ready);
  } else {
    later(now_ + costs_.copy, {Happening::Kind::Copied, k});
  }
}

void FakeExecutor::Run::copy() {
  if (!copies_) return;
  for (const FakeCopies::Begun& b : copies_->begin(now_, resident_in_all_ > 0)) {
    const bool in = b.copy.direction == CopyDirection::ToDevice;
    later(b.end, {in ? Happening::Kind::ToDevice : Happening::Kind::FromDevice});
    if (observer_ != nullptr) observer_->copy_begins(b.copy, now_, b.end);
  }
}

void FakeExecutor::Run::leave(Job& job, std::uint32_t sm, std::uint32_t ctas) {
  const SmResources cta = job.spec.kernel.demand();
  SmResources& left = free_[sm];
  left = {left.threads + ctas * cta.threads, left.registers + ctas * cta.registers,
          left.shared_memory_bytes + ctas * cta.shared_memory_bytes, left.cta_slots + ctas * cta.cta_slots};
  job.on_sm[sm] -= ctas;
  job.resident -= ctas;
  resident_in_all_ -= ctas;
  if (ctas != 0 && job.resident == 0) job.outcome.held += now_ - job.held_since;
}

void FakeExecutor::Run::lost(std::uint32_t k) {
  Job& job = jobs_.at(k);
  if (job.outcome.done) return;
  job.lost = true;
  for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) leave(job, sm, job.on_sm[sm]);
  if (job.arrived) table_.move(JobId(k), JobState::Lost);
}

void FakeExecutor::Run::task_ended(std::uint32_t k, std::uint32_t sm) {
  JobView& view = table_.at(JobId(k));
  Job& job = jobs_.at(k);
  leave(job, sm, 1);
  job.outcome.tasks_done = ++view.tasks_done;
  if (view.tasks_done < view.tasks) return leave_if_empty(k);
  job.outcome.ended = result_.end = now_;
  job.outcome.done = true;
  table_.move(JobId(k), JobState::Done);
  if (copies_) ready(copies_->scheduler().kernel_done(JobId(k)));
  for (const std::uint32_t f : job.followers) later(now_ + jobs_.at(f).spec.arrival, {Happening::Kind::Arrival, f});
}

void FakeExecutor::Run::leave_if_empty(std::uint32_t k) {
  Job& job = jobs_.at(k);
  if (job.outcome.done || job.resident != 0 || now_ < job.pause_end) return;
  if (table_.at(JobId(k)).state != JobState::ToEvict) return;
  ++job.outcome.evictions;
  table_.move(JobId(k), JobState::Ready);
}

/// A rate: CTAs over those that the job has alone, and their speed over the speed alone.
void FakeExecutor::Run::measure() {
  std::vector<BalanceCandidate> found;
  std::vector<JobId> ids;
  for (const JobShare& share : measuring_.jobs) ids.push_back(share.job);
  for (const auto& ctas : measuring_.measure) {
    BalanceCandidate& c = found.emplace_back(BalanceCandidate{ctas, {}});
    Plan plan{measuring_.jobs};
    for (std::size_t k = 0; k < ids.size(); ++k) plan.jobs[k].share = {ctas[k]};
    for (std::size_t k = 0; k < ids.size(); ++k) {
      const FakeJob& job = jobs_.at(ids[k].value()).spec;
      const Time task = task_times_ ? task_times_(ids[k], plan) : job.task_time;
      const double part = static_cast<double>(ctas[k].value()) / occupancy(job.kernel.demand(), machine_.sm.capacity).value();
      c.rates.push_back(part * (std::chrono::duration<double>(job.task_time) / task));
    }
  }
  scheduler_.measured(ids, found);
}

void FakeExecutor::Run::profiled() {
  if (std::exchange(to_measure_, false)) measure();
  for (const JobView& job : table_.jobs()) {
    if (!may_hold_sms(job.state)) continue;
    Profile found = jobs_.at(job.id.value()).spec.profile;
    const std::uint32_t most = occupancy(job.kernel.demand(), machine_.sm.capacity).value();
    for (std::uint32_t n = 1; found.size() < most; ++n) found.push_back(n);
    table_.at(job.id).profile = found;
    table_.report({EventKind::Profiled, job.id});
  }
}

}  // namespace sluice
