// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/fake_copies.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// A job as the fake executor runs it: every task takes the same time, whatever runs beside it, unless TaskTimes say otherwise.
struct FakeJob {
  KernelDescriptor kernel;  ///< grid_ctas tasks
  Time task_time{1};        ///< of one task, more than 0
  Time arrival{};
  std::int32_t priority = 0;
  Profile profile{};                     ///< what profiling finds; empty: performance grows with every CTA that fits
  std::optional<std::uint32_t> after{};  ///< arrives `arrival` after this job's end
  MemoryDemand memory{};                 ///< where the costs have a memory
};

/// What the executor's own steps take.
struct FakeCosts {
  Time profile{};  ///< from a plan that wants profiles to Profiled
  Time copy{};     ///< from a job's arrival to Ready; with a memory: 0
  Time launch{};   ///< from a share for a job that has none to its first task; anew after each eviction
  Time evict{};    ///< from a plan without a job to when the job's CTAs hear of it; they go on with tasks until then
  std::optional<DeviceMemory> memory{};  ///< inputs are copied before Ready, outputs after Done
};

/// How long a task of a job takes that begins while a plan is in force, more than 0: what the jobs of a plan do to each other.
/// Asked once for each plan and job in it. Tasks under way keep their time.
using TaskTimes = std::function<Time(JobId job, const Plan& plan)>;

/// Who sees every task. It makes the run slower: waves of equal tasks are run one by one then.
class ITaskObserver {
 public:
  virtual ~ITaskObserver() = default;
  virtual void task_begins(JobId job, SmId sm, Time begin, Time end) = 0;
  virtual void copy_begins(const CopyCommand& /*copy*/, Time /*begin*/, Time /*end*/) {}
};

struct FakeOutcome {
  Time arrived{}, began{}, ended{};  ///< `began`: its first task
  std::uint32_t evictions = 0;
  std::uint64_t tasks_done = 0;
  bool done = false;
  Time held{};  ///< in which it had CTAs on the GPU
};
struct FakeResult {
  std::vector<FakeOutcome> jobs;
  Time end{};                   ///< of the last task, and of the last copy
  CopyTimes copies{};           ///< of both directions together
  std::uint64_t decisions = 0;  ///< calls of the scheduler
  std::uint64_t steps = 0;      ///< arrivals, ends of tasks, timers, ... that were worked out one by one
  /// Every job is done. Otherwise the scheduler left one without SMs and asked for no Timer.
  bool finished = false;
};

/// Runs jobs under a scheduler by discrete events: CTAs on SMs, in no more resources than these have, a task each. A share that
/// shrinks drains at the ends of tasks, one that grows is filled at once. Where the scheduler's mode sets no quotas, tasks begin
/// as the dispatcher would begin them.
///
/// Exact, and a model of nothing else: it shows what a scheduler decides, in milliseconds.
/// @param jobs  job k has the id k
/// @throws InputError when a job's one CTA does not fit an SM, it has no task, a task takes no time, or its inputs and outputs
/// exceed the memory
[[nodiscard]] FakeResult run_fake(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler,
                                  const FakeCosts& costs = {}, ITaskObserver* observer = nullptr,
                                  const TaskTimes& task_times = {});

/// How far a job is.
struct FakeProgress {
  JobState state;
  Share share{CtaCount(0), {}};    ///< in ToRun and Running
  Share granted{CtaCount(0), {}};  ///< the last that it was given, also when it is done
  FakeOutcome outcome{};           ///< until now
  std::uint64_t tasks_begun = 0;
};

/// The same with jobs that come while it runs, for who has a clock: every task is run one by one, so counts are exact at any
/// time. Memory does not grow with the jobs that were forgotten.
class FakeExecutor {
 public:
  /// @param costs  without a memory
  FakeExecutor(const MachineConfig& machine, IScheduler& scheduler, const FakeCosts& costs = {});
  ~FakeExecutor();
  /// It arrives at `job.arrival`, not before the last time that advance() was given. @throws InputError as run_fake does
  JobId submit(const FakeJob& job);
  /// Its owner is gone at `now`, and its CTAs with it; nothing when it is done.
  void lose(JobId job, Time now);
  /// A job that is done or lost, and the scheduler has heard of it.
  void forget(JobId job);
  void advance(Time now);                          ///< all that happens until `now`. @throws what the scheduler throws
  [[nodiscard]] std::optional<Time> next() const;  ///< when something happens
  [[nodiscard]] FakeProgress progress(JobId job) const;

  class Run;

 private:
  MachineConfig machine_;
  FakeCosts costs_;
  std::uint32_t next_id_ = 0;
  std::unique_ptr<Run> run_;
};

}  // namespace sluice
