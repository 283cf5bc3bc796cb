// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/job_table.h"

namespace sluice {

namespace {

struct Happening {
  /// Pause: a launch or the order to leave has got through.
  /// Copied: by the copy cost of all jobs; ToDevice, FromDevice: a copy engine is free.
  enum class Kind { Arrival, Copied, ToDevice, FromDevice, TaskEnd, Pause, Profiled, Timer } kind;
  std::uint32_t job = 0, sm = 0;
};

class Run {
 public:
  Run(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler, const FakeCosts& costs,
      ITaskObserver* observer, const TaskTimes& task_times)
      : machine_(machine),
        specs_(jobs),
        scheduler_(scheduler),
        costs_(costs),
        observer_(observer),
        task_times_(task_times),
        sms_(machine.num_sms) {
    if (costs.memory) copies_.emplace(*costs.memory);
    result_.jobs.resize(jobs.size());
    shares_.resize(jobs.size());
    resident_.resize(jobs.size());
    pause_ends_.resize(jobs.size());
    for (const FakeJob& job : jobs) task_time_.push_back(job.task_time);
    followers_.resize(jobs.size());
    for (Sm& sm : sms_) {
      sm.left = machine.sm.capacity;
      sm.resident.resize(jobs.size());
    }
    for (std::uint32_t k = 0; k < jobs.size(); ++k) {
      if (jobs[k].after) {
        followers_.at(*jobs[k].after).push_back(k);
      } else {
        later(jobs[k].arrival, {Happening::Kind::Arrival, k});
      }
    }
  }

  FakeResult run() {
    while (!agenda_.empty()) {
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
    result_.finished = std::ranges::all_of(result_.jobs, &FakeOutcome::done);
    if (copies_) result_.copies = copies_->times();
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

  void arrive(std::uint32_t k) {
    JobView view;
    view.id = JobId(k);
    view.kernel = specs_[k].kernel;
    view.arrived = now_;
    view.priority = specs_[k].priority;
    view.tasks = specs_[k].kernel.grid_ctas;
    table_.arrive(std::move(view));
    result_.jobs[k].arrived = now_;
    if (copies_) {
      copies_->scheduler().arrive(JobId(k), specs_[k].memory);
    } else if (costs_.copy == Time(0)) {
      table_.move(JobId(k), JobState::Ready);
    } else {
      later(now_ + costs_.copy, {Happening::Kind::Copied, k});
    }
  }

  void ready(const std::vector<JobId>& jobs) {
    for (const JobId job : jobs) table_.move(job, JobState::Ready);
  }

  void copy() {
    if (!copies_) return;
    for (const FakeCopies::Begun& b : copies_->begin(now_, resident_in_all_ > 0)) {
      const bool in = b.copy.direction == CopyDirection::ToDevice;
      later(b.end, {in ? Happening::Kind::ToDevice : Happening::Kind::FromDevice});
      if (observer_ != nullptr) observer_->copy_begins(b.copy, now_, b.end);
    }
  }

  void task_ended(std::uint32_t k, std::uint32_t sm) {
    JobView& job = table_.at(JobId(k));
    --sms_[sm].resident[k];
    --resident_[k];
    --resident_in_all_;
    SmResources& left = sms_[sm].left;
    const SmResources cta = job.kernel.demand();
    left = {left.threads + cta.threads, left.registers + cta.registers, left.shared_memory_bytes + cta.shared_memory_bytes,
            left.cta_slots + cta.cta_slots};
    result_.jobs[k].tasks_done = ++job.tasks_done;
    if (job.tasks_done < job.tasks) return leave_if_empty(k);
    result_.jobs[k].ended = result_.end = now_;
    result_.jobs[k].done = true;
    table_.move(JobId(k), JobState::Done);
    if (copies_) ready(copies_->scheduler().kernel_done(JobId(k)));
    for (const std::uint32_t f : followers_[k]) later(now_ + specs_[f].arrival, {Happening::Kind::Arrival, f});
  }

  void leave_if_empty(std::uint32_t k) {
    if (result_.jobs[k].done || resident_[k] != 0 || now_ < pause_ends_[k]) return;
    if (table_.at(JobId(k)).state != JobState::ToEvict) return;
    ++result_.jobs[k].evictions;
    table_.move(JobId(k), JobState::Ready);
  }

  void pause(std::uint32_t k, Time length) {
    pause_ends_[k] = now_ + length;
    if (length > Time(0)) later(pause_ends_[k], {Happening::Kind::Pause, k});
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
    for (const JobView& view : table_.jobs()) {
      const std::uint32_t k = view.id.value();
      const auto given = std::ranges::find(plan.jobs, view.id, &JobShare::job);
      const bool wanted = given != plan.jobs.end() && given->share.ctas.value() != 0 && given->share.sms.count != 0;
      if (wanted) {  // one that must leave keeps its share until it hears of it
        shares_[k] = *given;
        if (task_times_) task_time_[k] = task_times_(view.id, plan);
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
    if (plan.profile) later(now_ + costs_.profile, {Happening::Kind::Profiled});
  }

  [[nodiscard]] bool has_task(const JobView& job) const {
    const std::uint32_t k = job.id.value();
    const bool may_begin = job.state == JobState::Running || (job.state == JobState::ToRun && now_ >= pause_ends_[k]) ||
                           (job.state == JobState::ToEvict && now_ < pause_ends_[k]);
    return may_begin && job.tasks_begun < std::min(job.tasks, shares_[k].task_limit);
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
    ++resident_in_all_;
    if (job.tasks_begun++ == 0) result_.jobs[k].began = now_;
    if (job.state == JobState::ToRun) table_.move(JobId(k), JobState::Running);
    if (job.tasks_begun == job.tasks) table_.report({EventKind::LastTaskBegun, JobId(k)});
    later(now_ + task_time_[k], {Happening::Kind::TaskEnd, k, sm});
    if (observer_ != nullptr) observer_->task_begins(JobId(k), SmId(sm), now_, now_ + task_time_[k]);
  }

  void dispatch() {
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

  /// One job, or two that hold all that their shares allow, begin a task as one of their own ends, until something else happens:
  /// until then their tasks are counted, not run.
  void skip_waves() {
    if (observer_ != nullptr || agenda_.empty() || (copies_ && copies_->holds_gpu())) return;
    std::array<JobView*, 2> steady{};
    std::size_t count = 0;
    Time until = wake_at_.value_or(Time::max()), shortest = Time::max();
    for (const JobId id : holders_) {
      JobView& view = table_.at(id);
      if (!has_task(view)) continue;
      if (count == steady.size()) return;
      const std::uint32_t k = id.value();
      steady[count++] = &view;
      // The last task is begun in a wave that is run: its beginning is an event.
      const std::uint64_t tasks = std::min(view.tasks - 1, shares_[k].task_limit) - view.tasks_begun, held = resident_[k];
      if (held == 0 || tasks < 2 * held) return;
      until = std::min(until, now_ + static_cast<std::int64_t>(tasks / held - 1) * task_time_[k]);
      shortest = std::min(shortest, task_time_[k]);
      if (scheduler_.mode() == Mode::LeftOver) break;  // those behind it wait
    }
    if (count == 0 || until - agenda_.begin()->first <= shortest) return;
    for (std::size_t i = 0; count == 2 && i < 2; ++i)
      if (resident_[steady[i]->id.value()] != most_held(steady[i]->id.value())) return;
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
        const std::int64_t waves = (until - at->first - Time(1)) / task_time_[h.job];  // that end before it happens
        job.tasks_begun += static_cast<std::uint64_t>(waves);
        job.tasks_done += static_cast<std::uint64_t>(waves);
        moved.emplace_back(at->first + waves * task_time_[h.job], h);
      }
    agenda_.erase(agenda_.begin(), end);
    for (const auto& [at, h] : moved) later(at, h);
  }

  /// CTAs of a job on all SMs of its share, where quotas hold.
  [[nodiscard]] std::uint64_t most_held(std::uint32_t k) const {
    const Share& share = shares_[k].share;
    const std::uint32_t first = std::min(share.sms.first.value(), machine_.num_sms);
    return std::uint64_t{share.ctas.value()} * std::min(share.sms.count, machine_.num_sms - first);
  }

  const MachineConfig& machine_;
  const std::vector<FakeJob>& specs_;
  IScheduler& scheduler_;
  const FakeCosts& costs_;
  ITaskObserver* observer_;
  const TaskTimes& task_times_;
  std::vector<Time> task_time_;  ///< of the tasks of each job that begin now
  std::vector<Sm> sms_;
  std::vector<JobShare> shares_;
  std::vector<std::uint32_t> resident_;  ///< CTAs of each job on all SMs
  std::uint64_t resident_in_all_ = 0;
  std::optional<FakeCopies> copies_;
  std::vector<Time> pause_ends_;  ///< of each job in ToRun: when it may begin; in ToEvict: when it hears of it
  std::vector<std::vector<std::uint32_t>> followers_;  ///< jobs that arrive after each job
  JobTable table_;
  std::vector<JobId> holders_;  ///< who may have CTAs, oldest first; of the jobs of the last plan, and not yet closed
  std::map<Time, std::vector<Happening>> agenda_;
  Time now_{};
  std::optional<Time> wake_at_;
  FakeResult result_;
};

}  // namespace

FakeResult run_fake(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler, const FakeCosts& costs,
                    ITaskObserver* observer, const TaskTimes& task_times) {
  for (const FakeJob& job : jobs) {
    check_fits(machine, job.kernel);
    if (job.kernel.grid_ctas == 0)
      throw InputError(fmt::format("kernel {}: a grid of 0 CTAs: must be at least 1", job.kernel.name));
    if (job.task_time <= Time(0))
      throw InputError(fmt::format("kernel {}: task time {} ps: must be at least 1", job.kernel.name, job.task_time.count()));
  }
  if (costs.memory && !(costs.memory->bytes_a_second > 0))
    throw InputError(fmt::format("memory: {} bytes a second: must be above 0", costs.memory->bytes_a_second));
  return Run(machine, jobs, scheduler, costs, observer, task_times).run();
}

}  // namespace sluice
