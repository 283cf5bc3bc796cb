// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of the fake executor: its files share this. fake_run.cpp has what happens to jobs, fake_dispatch.cpp what plans and the
// dispatcher make of it.
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/job_table.h"

namespace sluice {

struct Happening {
  /// Pause: a launch or the order to leave has got through.
  /// Copied: by the copy cost of all jobs; ToDevice, FromDevice: a copy engine is free.
  enum class Kind { Arrival, Loss, Copied, ToDevice, FromDevice, TaskEnd, Pause, Profiled, Timer } kind;
  std::uint32_t job = 0, sm = 0;
};

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
  void add(std::uint32_t k, const FakeJob& spec);
  /// Once all jobs that it may come after are added.
  void begin(std::uint32_t k);
  void lose(std::uint32_t k, Time at) { later(at, {Happening::Kind::Loss, k}); }
  void forget(std::uint32_t k) { jobs_.erase(k); }
  [[nodiscard]] bool has(std::uint32_t k) const { return jobs_.contains(k); }
  [[nodiscard]] std::optional<Time> next() const {
    return agenda_.empty() ? std::nullopt : std::optional(agenda_.begin()->first);
  }
  [[nodiscard]] const FakeOutcome& outcome(std::uint32_t k) const { return jobs_.at(k).outcome; }
  [[nodiscard]] FakeProgress progress(std::uint32_t k);
  void advance(Time until);
  [[nodiscard]] FakeResult result(std::size_t jobs);

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
  void happen(const Happening& h);
  void arrive(std::uint32_t k);
  void ready(const std::vector<JobId>& jobs) {
    for (const JobId job : jobs) table_.move(job, JobState::Ready);
  }
  void copy();

  /// Its CTA leaves an SM, or all of them do.
  void leave(Job& job, std::uint32_t sm, std::uint32_t ctas);

  /// Its owner is gone, and its CTAs with it.
  void lost(std::uint32_t k);
  void task_ended(std::uint32_t k, std::uint32_t sm);
  void leave_if_empty(std::uint32_t k);
  void pause(std::uint32_t k, Time length) {
    jobs_.at(k).pause_end = now_ + length;
    if (length > Time(0)) later(now_ + length, {Happening::Kind::Pause, k});
  }
  void profiled();
  void measure();

  /// Puts a plan into force. A job that was evicted and gets a share again before it left has to leave first.
  void obey(const Plan& plan);
  [[nodiscard]] bool has_task(const JobView& view) const;

  /// Begins a task on the first SM of the share that has room. @return it did
  bool begin_one(const JobView& view, bool quotas);
  void begin_on(std::uint32_t k, std::uint32_t sm);
  void dispatch();

  /// One job, or two that hold all that their shares allow, begin a task as one of their own ends, until something else happens:
  /// until then their tasks are counted, not run.
  void skip_waves();

  /// No SM has more of its CTAs than its share allows; `all_of_it`: every SM as many as that, or as fit there alone.
  [[nodiscard]] bool within_share(const Job& job, bool all_of_it) const;

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
  Plan measuring_;  ///< the last, where it wants partitions measured
  bool to_measure_ = false;
  FakeResult result_;
};

}  // namespace sluice
