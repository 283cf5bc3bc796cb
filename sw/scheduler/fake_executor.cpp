// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/job_table.h"

namespace sluice {

namespace {

struct Happening {
  /// Pause: a launch or the order to leave has got through.
  /// Copied: by the copy cost of all jobs; ToDevice, FromDevice: a copy engine is free.
  enum class Kind { Arrival, Loss, Copied, ToDevice, FromDevice, TaskEnd, Pause, Profiled, Timer } kind;
  std::uint32_t job = 0, sm = 0;
};
[[nodiscard]] bool of_a_job(Happening::Kind kind) {
  using enum Happening::Kind;
  return kind == Arrival || kind == Loss || kind == Copied || kind == TaskEnd || kind == Pause;
}

const TaskTimes kSameTimes{};

}  // namespace

class FakeExecutor::Run {
 public:
  Run(const MachineConfig& machine, IScheduler& scheduler, const FakeCosts& costs, ITaskObserver* observer,
      const TaskTimes& task_times, bool skips_waves)
      : machine_(machine),
        scheduler_(scheduler),
        costs_(costs),
        observer_(observer),
        task_times_(task_times),
        skips_waves_(skips_waves),
        free_(machine.num_sms, machine.sm.capacity) {
    if (costs.memory) copies_.emplace(*costs.memory);
  }

  void add(std::uint32_t k, const FakeJob& spec) {
    jobs_.emplace(k, Job{spec, spec.task_time, std::vector<std::uint32_t>(machine_.num_sms)});
  }
  /// Once all jobs that it may come after are added.
  void begin(std::uint32_t k) {
    const FakeJob& spec = jobs_.at(k).spec;
    if (spec.after) {
      jobs_.at(*spec.after).followers.push_back(k);
    } else {
      later(spec.arrival, {Happening::Kind::Arrival, k});
    }
  }
  void lose(std::uint32_t k, Time at) { later(at, {Happening::Kind::Loss, k}); }
  void forget(std::uint32_t k) { jobs_.erase(k); }
  [[nodiscard]] bool has(std::uint32_t k) const { return jobs_.contains(k); }
  [[nodiscard]] std::optional<Time> next() const {
    return agenda_.empty() ? std::nullopt : std::optional(agenda_.begin()->first);
  }
  [[nodiscard]] const FakeOutcome& outcome(std::uint32_t k) const { return jobs_.at(k).outcome; }
  [[nodiscard]] FakeProgress progress(std::uint32_t k) {
    const Job& job = jobs_.at(k);
    FakeProgress p{JobState::Prep, {}, job.outcome};
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

  void advance(Time until) {
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

  [[nodiscard]] FakeResult result(std::size_t jobs) {
    for (std::uint32_t k = 0; k < jobs; ++k) result_.jobs.push_back(outcome(k));
    result_.finished = std::ranges::all_of(result_.jobs, &FakeOutcome::done);
    if (copies_) result_.copies = copies_->times();
    return result_;
  }

 private:
  struct Job {
    FakeJob spec;
    Time task_time;                    ///< of its tasks that begin now
    std::vector<std::uint32_t> on_sm;  ///< its CTAs
    std::uint32_t resident = 0;        ///< on all SMs
    JobShare share{};
    Time pause_end{};  ///< in ToRun: when it may begin; in ToEvict: when it hears of it
    Time held_since{};
    std::vector<std::uint32_t> followers{};  ///< jobs that arrive after it
    bool arrived = false, lost = false;
    FakeOutcome outcome{};
  };

  void later(Time at, const Happening& what) { agenda_[at].push_back(what); }

  void happen(const Happening& h) {
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

  void arrive(std::uint32_t k) {
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

  /// Its CTA leaves an SM, or all of them do.
  void leave(Job& job, std::uint32_t sm, std::uint32_t ctas) {
    const SmResources cta = job.spec.kernel.demand();
    SmResources& left = free_[sm];
    left = {left.threads + ctas * cta.threads, left.registers + ctas * cta.registers,
            left.shared_memory_bytes + ctas * cta.shared_memory_bytes, left.cta_slots + ctas * cta.cta_slots};
    job.on_sm[sm] -= ctas;
    job.resident -= ctas;
    resident_in_all_ -= ctas;
    if (ctas != 0 && job.resident == 0) job.outcome.held += now_ - job.held_since;
  }

  /// Its owner is gone, and its CTAs with it.
  void lost(std::uint32_t k) {
    Job& job = jobs_.at(k);
    if (job.outcome.done) return;
    job.lost = true;
    for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) leave(job, sm, job.on_sm[sm]);
    if (job.arrived) table_.move(JobId(k), JobState::Lost);
  }

  void task_ended(std::uint32_t k, std::uint32_t sm) {
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

  void leave_if_empty(std::uint32_t k) {
    Job& job = jobs_.at(k);
    if (job.outcome.done || job.resident != 0 || now_ < job.pause_end) return;
    if (table_.at(JobId(k)).state != JobState::ToEvict) return;
    ++job.outcome.evictions;
    table_.move(JobId(k), JobState::Ready);
  }

  void pause(std::uint32_t k, Time length) {
    jobs_.at(k).pause_end = now_ + length;
    if (length > Time(0)) later(now_ + length, {Happening::Kind::Pause, k});
  }

  void profiled() {
    for (const JobView& job : table_.jobs()) {
      if (!may_hold_sms(job.state)) continue;
      Profile found = jobs_.at(job.id.value()).spec.profile;
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
    if (plan.profile) later(now_ + costs_.profile, {Happening::Kind::Profiled});
  }

  [[nodiscard]] bool has_task(const JobView& view) const {
    const Job& job = jobs_.at(view.id.value());
    const bool may_begin = view.state == JobState::Running || (view.state == JobState::ToRun && now_ >= job.pause_end) ||
                           (view.state == JobState::ToEvict && now_ < job.pause_end);
    return may_begin && view.tasks_begun < std::min(view.tasks, job.share.task_limit);
  }

  /// Begins a task on the first SM of the share that has room. @return it did
  bool begin_one(const JobView& view, bool quotas) {
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

  void begin_on(std::uint32_t k, std::uint32_t sm) {
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
    for (std::size_t i = 0; count == 2 && i < 2; ++i)
      if (const Job& job = jobs_.at(steady[i]->id.value()); job.resident != most_held(job.share.share)) return;
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

  /// CTAs of a job on all SMs of its share, where quotas hold.
  [[nodiscard]] std::uint64_t most_held(const Share& share) const {
    const std::uint32_t first = std::min(share.sms.first.value(), machine_.num_sms);
    return std::uint64_t{share.ctas.value()} * std::min(share.sms.count, machine_.num_sms - first);
  }

  const MachineConfig& machine_;
  IScheduler& scheduler_;
  const FakeCosts& costs_;
  ITaskObserver* observer_;
  const TaskTimes& task_times_;
  bool skips_waves_;
  std::vector<SmResources> free_;  ///< on each SM
  std::unordered_map<std::uint32_t, Job> jobs_;
  std::uint64_t resident_in_all_ = 0;
  std::optional<FakeCopies> copies_;
  JobTable table_;
  std::vector<JobId> holders_;  ///< who may have CTAs, oldest first; of the jobs of the last plan, and not yet closed
  std::map<Time, std::vector<Happening>> agenda_;
  Time now_{};
  std::optional<Time> wake_at_;
  FakeResult result_;
};

namespace {

void check(const MachineConfig& machine, const FakeJob& job) {
  check_fits(machine, job.kernel);
  if (job.kernel.grid_ctas == 0)
    throw InputError(fmt::format("kernel {}: a grid of 0 CTAs: must be at least 1", job.kernel.name));
  if (job.task_time <= Time(0))
    throw InputError(fmt::format("kernel {}: task time {} ps: must be at least 1", job.kernel.name, job.task_time.count()));
}

}  // namespace

FakeExecutor::FakeExecutor(const MachineConfig& machine, IScheduler& scheduler, const FakeCosts& costs)
    : machine_(machine), costs_(costs), run_(std::make_unique<Run>(machine_, scheduler, costs_, nullptr, kSameTimes, false)) {}
FakeExecutor::~FakeExecutor() = default;

JobId FakeExecutor::submit(const FakeJob& job) {
  check(machine_, job);
  while (run_->has(next_id_)) ++next_id_;  // after 2^32 launches
  run_->add(next_id_, job);
  run_->begin(next_id_);
  return JobId(next_id_++);
}
void FakeExecutor::lose(JobId job, Time now) { run_->lose(job.value(), now); }
void FakeExecutor::forget(JobId job) { run_->forget(job.value()); }
void FakeExecutor::advance(Time now) { run_->advance(now); }
std::optional<Time> FakeExecutor::next() const { return run_->next(); }
FakeProgress FakeExecutor::progress(JobId job) const { return run_->progress(job.value()); }

FakeResult run_fake(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler, const FakeCosts& costs,
                    ITaskObserver* observer, const TaskTimes& task_times) {
  for (const FakeJob& job : jobs) check(machine, job);
  if (costs.memory && !(costs.memory->bytes_a_second > 0))
    throw InputError(fmt::format("memory: {} bytes a second: must be above 0", costs.memory->bytes_a_second));
  FakeExecutor::Run run(machine, scheduler, costs, observer, task_times, observer == nullptr);
  for (std::uint32_t k = 0; k < jobs.size(); ++k) run.add(k, jobs[k]);
  for (std::uint32_t k = 0; k < jobs.size(); ++k) run.begin(k);
  run.advance(Time::max());
  return run.result(jobs.size());
}

}  // namespace sluice
