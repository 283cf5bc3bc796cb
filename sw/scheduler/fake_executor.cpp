// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/job_table.h"

namespace sluice {

namespace {

struct Happening {
  enum class Kind { Arrival, TaskEnd, Profiled, Timer } kind;
  std::uint32_t job = 0, sm = 0;
};

class Run {
 public:
  Run(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler, const FakeCosts& costs)
      : machine_(machine), specs_(jobs), scheduler_(scheduler), costs_(costs), sms_(machine.num_sms) {
    result_.jobs.resize(jobs.size());
    shares_.resize(jobs.size());
    resident_.resize(jobs.size());
    for (Sm& sm : sms_) {
      sm.left = machine.sm.capacity;
      sm.resident.resize(jobs.size());
    }
    for (std::uint32_t k = 0; k < jobs.size(); ++k) later(jobs[k].arrival, {Happening::Kind::Arrival, k});
  }

  FakeResult run() {
    while (!agenda_.empty()) {
      now_ = agenda_.begin()->first;
      const std::vector<Happening> due = std::move(agenda_.begin()->second);
      agenda_.erase(agenda_.begin());
      for (const Happening& h : due) happen(h);
      // What begins may end a job's last task to begin: the scheduler hears of it in the same moment.
      do {
        if (table_.has_events()) {
          const std::vector<Event> events = table_.take_events();
          obey(scheduler_.decide(table_.jobs(), events, now_));
        }
        dispatch();
      } while (table_.has_events());
    }
    result_.end = now_;
    result_.finished = std::ranges::all_of(result_.jobs, &FakeOutcome::done);
    return result_;
  }

 private:
  struct Sm {
    SmResources left;
    std::vector<std::uint32_t> resident;  ///< CTAs by job
  };

  void later(Time at, const Happening& what) { agenda_[at].push_back(what); }

  void happen(const Happening& h) {
    switch (h.kind) {
      case Happening::Kind::Arrival: arrive(h.job); break;
      case Happening::Kind::TaskEnd: task_ended(h.job, h.sm); break;
      case Happening::Kind::Timer:
        if (wake_at_ != now_) break;  // another plan has taken it back
        wake_at_.reset();
        table_.report({EventKind::Timer, JobId(0)});
        break;
      case Happening::Kind::Profiled: profiled(); break;
    }
  }

  void arrive(std::uint32_t k) {
    JobView view;
    view.id = JobId(k);
    view.kernel = specs_[k].kernel;
    view.arrived = now_;
    view.priority = specs_[k].priority;
    view.tasks = specs_[k].kernel.grid_ctas;
    table_.arrive(std::move(view));
    table_.move(JobId(k), JobState::Ready);
  }

  void task_ended(std::uint32_t k, std::uint32_t sm) {
    JobView& job = table_.at(JobId(k));
    --sms_[sm].resident[k];
    --resident_[k];
    SmResources& left = sms_[sm].left;
    const SmResources cta = job.kernel.demand();
    left = {left.threads + cta.threads, left.registers + cta.registers, left.shared_memory_bytes + cta.shared_memory_bytes,
            left.cta_slots + cta.cta_slots};
    if (++job.tasks_done == job.tasks) {
      result_.jobs[k].ended = now_;
      result_.jobs[k].done = true;
      table_.move(JobId(k), JobState::Done);
    } else if (job.state == JobState::ToEvict && resident_[k] == 0) {
      ++result_.jobs[k].evictions;
      table_.move(JobId(k), JobState::Ready);
    }
    result_.jobs[k].tasks_done = job.tasks_done;
  }

  void profiled() {
    for (const JobView& job : table_.jobs()) {
      if (!may_hold_sms(job.state)) continue;
      Profile found = specs_[job.id.value()].profile;
      const std::uint32_t most = occupancy(job.kernel.demand(), machine_.sm.capacity).value();
      for (std::uint32_t n = 1; found.size() < most; ++n) found.push_back(n);
      table_.at(job.id).profile = found;
      table_.report({EventKind::Profiled, job.id});
    }
  }

  /// Puts a plan into force. A job that was evicted and gets a share again before it left has to leave first.
  void obey(const Plan& plan) {
    for (auto& share : shares_) share = {};
    for (const JobShare& s : plan.jobs) shares_.at(s.job.value()) = s;
    for (const JobView& view : table_.jobs()) {
      const bool wanted = shares_[view.id.value()].share.ctas.value() != 0 && shares_[view.id.value()].share.sms.count != 0;
      if (view.state == JobState::Ready && wanted) table_.move(view.id, JobState::ToRun);
      if (view.state == JobState::ToRun && !wanted) table_.move(view.id, JobState::Ready);
      if (view.state == JobState::Running && !wanted) {
        table_.move(view.id, JobState::ToEvict);
        if (resident_[view.id.value()] == 0) {
          ++result_.jobs[view.id.value()].evictions;
          table_.move(view.id, JobState::Ready);
        }
      }
    }
    if (plan.wake_at) {
      if (*plan.wake_at <= now_)
        throw std::logic_error(fmt::format("a plan at {} ps asks for a timer at {} ps", now_.count(), plan.wake_at->count()));
      if (wake_at_ != plan.wake_at) later(*plan.wake_at, {Happening::Kind::Timer});
    }
    wake_at_ = plan.wake_at;
    if (plan.profile) later(now_ + costs_.profile, {Happening::Kind::Profiled});
  }

  [[nodiscard]] bool has_task(const JobView& job) const {
    return (job.state == JobState::ToRun || job.state == JobState::Running) && job.tasks_begun < job.tasks &&
           job.tasks_begun < shares_[job.id.value()].task_limit;
  }

  /// Begins a task on the first SM of the share that has room. @return it did
  bool begin_one(const JobView& view, bool quotas) {
    const std::uint32_t k = view.id.value();
    const Share& share = shares_[k].share;
    if (!has_task(view)) return false;
    const std::uint32_t first = share.sms.first.value();
    const std::uint32_t end = first + std::min(share.sms.count, machine_.num_sms - std::min(first, machine_.num_sms));
    for (std::uint32_t sm = first; sm < end; ++sm) {
      if (!fits(view.kernel.demand(), sms_[sm].left) || (quotas && sms_[sm].resident[k] >= share.ctas.value())) continue;
      begin_on(k, sm);
      return true;
    }
    return false;
  }

  void begin_on(std::uint32_t k, std::uint32_t sm) {
    JobView& job = table_.at(JobId(k));
    sms_[sm].left = take(sms_[sm].left, job.kernel.demand());
    ++sms_[sm].resident[k];
    ++resident_[k];
    if (job.tasks_begun++ == 0) result_.jobs[k].began = now_;
    if (job.state == JobState::ToRun) table_.move(JobId(k), JobState::Running);
    if (job.tasks_begun == job.tasks) table_.report({EventKind::LastTaskBegun, JobId(k)});
    later(now_ + specs_[k].task_time, {Happening::Kind::TaskEnd, k, sm});
  }

  void dispatch() {
    const Mode mode = scheduler_.mode();
    if (mode == Mode::Fcfs) {
      for (bool begun = true; begun;) {
        begun = false;
        for (const JobView& job : table_.jobs()) begun = begin_one(job, false) || begun;
      }
      return;
    }
    for (const JobView& job : table_.jobs()) {
      while (begin_one(job, mode != Mode::LeftOver)) {
      }
      if (mode == Mode::LeftOver && has_task(job)) return;  // the next waits until this one has no task to begin
    }
  }

  const MachineConfig& machine_;
  const std::vector<FakeJob>& specs_;
  IScheduler& scheduler_;
  const FakeCosts& costs_;
  std::vector<Sm> sms_;
  std::vector<JobShare> shares_;
  std::vector<std::uint32_t> resident_;  ///< CTAs of each job on all SMs
  JobTable table_;
  std::map<Time, std::vector<Happening>> agenda_;
  Time now_{};
  std::optional<Time> wake_at_;
  FakeResult result_;
};

}  // namespace

FakeResult run_fake(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler,
                    const FakeCosts& costs) {
  for (const FakeJob& job : jobs) {
    check_fits(machine, job.kernel);
    if (job.kernel.grid_ctas == 0)
      throw InputError(fmt::format("kernel {}: a grid of 0 CTAs: must be at least 1", job.kernel.name));
    if (job.task_time <= Time(0))
      throw InputError(fmt::format("kernel {}: task time {} ps: must be at least 1", job.kernel.name, job.task_time.count()));
  }
  if (!std::ranges::is_sorted(jobs, {}, &FakeJob::arrival)) throw InputError("jobs must come in order of arrival");
  return Run(machine, jobs, scheduler, costs).run();
}

}  // namespace sluice
