// SPDX-License-Identifier: Apache-2.0
// Every scheduler of the registry over random jobs, watched from outside: by the plans that go out and the tasks that begin.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "sw/core/resources.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/corun_tables.h"

namespace sluice {
namespace {

/// Between a scheduler and the executor: hears every plan, sees every task, and believes neither.
class Watcher : public IScheduler, public ITaskObserver {
 public:
  Watcher(std::unique_ptr<IScheduler> inner, const MachineConfig& machine, const std::vector<FakeJob>& jobs,
          const FakeCosts& costs)
      : inner_(std::move(inner)), machine_(machine), jobs_(jobs), costs_(costs) {}
  [[nodiscard]] Mode mode() const override { return inner_->mode(); }

  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    RC_ASSERT(now >= now_);
    now_ = now;
    plan_ = inner_->decide(jobs, events, now);
    for (const JobShare& s : plan_.jobs) {
      const auto job = std::ranges::find(jobs, s.job, &JobView::id);
      RC_ASSERT(job != jobs.end());
      RC_ASSERT(may_hold_sms(job->state));
      RC_ASSERT(std::ranges::count(plan_.jobs, s.job, &JobShare::job) == 1);
    }
    // No job that has something to begin beside an idle GPU.
    const bool ready =
        std::ranges::any_of(jobs, [](const JobView& job) { return may_hold_sms(job.state) && job.tasks_begun < job.tasks; });
    RC_ASSERT(!ready || !plan_.jobs.empty());
    return plan_;
  }

  void measured(std::span<const JobId> jobs, std::span<const BalanceCandidate> found) override { inner_->measured(jobs, found); }

  void task_begins(JobId job, SmId sm, Time begin, Time end) override {
    RC_ASSERT(sm.value() < machine_.num_sms);
    RC_ASSERT(end - begin == jobs_[job.value()].task_time);
    ++tasks[job.value()];
    auto& here = running_[sm.value()];
    std::erase_if(here, [&](const Task& t) { return t.end <= begin; });
    here.push_back({job.value(), end});
    SmResources used;
    for (const Task& t : here) {
      const SmResources cta = jobs_[t.job].kernel.demand();
      used = {used.threads + cta.threads, used.registers + cta.registers, used.shared_memory_bytes + cta.shared_memory_bytes,
              used.cta_slots + cta.cta_slots};
    }
    RC_ASSERT(fits(used, machine_.sm.capacity));
    if (costs_.evict > Time(0)) return;  // then tasks also begin after a plan without their job
    const auto share = std::ranges::find(plan_.jobs, job, &JobShare::job);
    RC_ASSERT(share != plan_.jobs.end());
    RC_ASSERT(tasks[job.value()] <= share->task_limit);
    const SmRange& sms = share->share.sms;
    RC_ASSERT(sm >= sms.first);
    RC_ASSERT(sm.value() - sms.first.value() < sms.count);
    if (mode() != Mode::LeftOver && mode() != Mode::Fcfs)
      RC_ASSERT(std::ranges::count(here, job.value(), &Task::job) <= std::int64_t{share->share.ctas.value()});
  }

  std::map<std::uint32_t, std::uint64_t> tasks;  ///< that began, of each job

 private:
  struct Task {
    std::uint32_t job;
    Time end;
  };

  std::unique_ptr<IScheduler> inner_;
  const MachineConfig& machine_;
  const std::vector<FakeJob>& jobs_;
  FakeCosts costs_;
  Time now_{};
  Plan plan_;
  std::map<std::uint32_t, std::vector<Task>> running_;  ///< by SM
};

/// As many SMs as jobs, or more: some schedulers give each job SMs of its own.
void check_one(std::string_view name, bool with_costs) {
  MachineConfig machine;
  machine.name = "random";
  machine.core_mhz = 1000;
  machine.sm.capacity = {1536, 32768, 49152, *rc::gen::inRange(1U, 8U)};
  const auto n = *rc::gen::inRange(1U, 7U);
  machine.num_sms = n + *rc::gen::inRange(0U, 3U);
  std::vector<FakeJob> jobs;
  SchedulerInput input{machine, {}};
  // Times in half milliseconds: slices end inside a job, and often with an arrival.
  const auto time = [](int low, int high) { return *rc::gen::inRange(low, high) * Time(std::chrono::microseconds(500)); };
  for (std::uint32_t k = 0; k < n; ++k) {
    FakeJob job;
    job.kernel.name = std::string(1, static_cast<char>('A' + k));
    job.kernel.grid_ctas = *rc::gen::inRange(1U, 200U);
    job.kernel.block_threads = 64;
    job.kernel.registers_per_cta = *rc::gen::inRange(64U, 20000U);
    job.task_time = time(1, 6);
    job.arrival = time(0, 60);
    job.priority = *rc::gen::inRange(0, 31);
    if (k > 0 && *rc::gen::inRange(0, 4) == 0) job.after = *rc::gen::inRange(0U, k);
    input.mix.push_back(job.kernel);
    input.times[job.kernel.name] = fake_solo_times(machine, job.kernel, job.task_time);
    input.intensities[job.kernel.name] = {*rc::gen::inRange(0, 11) / 10.0, *rc::gen::inRange(0, 11) / 10.0};
    jobs.push_back(std::move(job));
  }
  input.predicted = test::random_co_runs(input.mix, machine);
  input.executed = test::random_co_runs(input.mix, machine);
  input.seed = *rc::gen::inRange(0U, 1000U);
  FakeCosts costs;
  if (with_costs) costs = {time(0, 3), time(0, 10), time(0, 40), time(0, 10)};
  Watcher watcher(make_scheduler(name, input), machine, jobs, costs);
  const FakeResult r = run_fake(machine, jobs, watcher, costs, &watcher);
  RC_ASSERT(r.finished);
  for (std::uint32_t k = 0; k < n; ++k) {
    RC_ASSERT(watcher.tasks[k] == jobs[k].kernel.grid_ctas);
    RC_ASSERT(r.jobs[k].began >= r.jobs[k].arrived + costs.copy + costs.launch);
  }
}

TEST(SchedulerProperties, NoJobIsLostAndNoShareExceeded) {
  for (const SchedulerRow& row : scheduler_rows())
    EXPECT_TRUE(rc::check(std::string(row.name), [&] { check_one(row.name, false); })) << row.name;
}

TEST(SchedulerProperties, EveryJobEndsWhateverTheStepsCost) {
  for (const SchedulerRow& row : scheduler_rows())
    EXPECT_TRUE(rc::check(std::string(row.name), [&] { check_one(row.name, true); })) << row.name;
}

}  // namespace
}  // namespace sluice
