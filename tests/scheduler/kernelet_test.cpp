// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/kernelet_scheduler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/monte_carlo.h"
#include "sw/scheduler/pair_times.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/corun_tables.h"
#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// Two SMs of four slots.
MachineConfig machine() { return small_machine(2, {1024, 32768, 49152, 4}); }

FakeJob job(const std::string& name, std::uint32_t tasks, Time arrival = {}) { return sluice::job(name, tasks, 1ms, arrival); }

/// A task takes a millisecond with four CTAs on an SM: 4 tasks of 250,000 instructions at IPC 1. A and B gain a half together, A
/// and C a tenth, B and C nothing.
CoRunTable table() {
  CoRunTable t;
  for (const char* name : {"A", "B", "C"}) t.kernels[name] = {1, 250000, 0.5, 0.5};
  const auto add = [&](const char* a, const char* b, double gain) {
    for (std::uint32_t n = 1; n < 4; ++n)
      t.pairs[{a, b}].push_back({{CtaCount(n), CtaCount(4 - n)}, {gain * n / 4, gain * (4 - n) / 4}});
  };
  add("A", "B", 1.5);
  add("A", "C", 1.1);
  add("B", "C", 0.9);
  return t;
}

std::vector<KernelDescriptor> mix(const std::vector<FakeJob>& jobs) {
  std::vector<KernelDescriptor> kernels;
  for (const FakeJob& j : jobs) kernels.push_back(j.kernel);
  return kernels;
}

FakeResult run(IScheduler& scheduler, const std::vector<FakeJob>& jobs) {
  return run_fake(machine(), jobs, scheduler, {}, nullptr, pair_times(machine(), jobs, table()));
}

/// What each decision that changed who runs gave to whom, as "time in ms: A1 B3".
std::vector<std::string> trace(const LoggedScheduler& scheduler, const std::vector<FakeJob>& jobs) {
  std::vector<std::string> lines;
  std::string before;
  for (const LoggedDecision& d : scheduler.decisions()) {
    std::string shares;
    for (const JobShare& s : d.plan.jobs)
      shares += " " + jobs[s.job.value()].kernel.name + (s.share == kWholeMachine ? "" : std::to_string(s.share.ctas.value()));
    if (shares != before) lines.push_back(std::to_string(d.now / Time(1us)) + ":" + shares);
    before = shares;
  }
  return lines;
}

TEST(Kernelet, TasksOfAPairTakeAsLongAsItsRatesSay) {
  const std::vector<FakeJob> jobs{job("A", 60), job("B", 60)};
  const TaskTimes times = pair_times(machine(), jobs, table());
  const Plan pair{{{JobId(0), {CtaCount(1)}}, {JobId(1), {CtaCount(3)}}}};
  EXPECT_EQ(times(JobId(0), pair), Time(666666667)) << "IPC 3/8 for one CTA, which alone is a quarter of IPC 1";
  EXPECT_EQ(times(JobId(1), pair), Time(666666667));
  EXPECT_EQ(times(JobId(0), {{{JobId(0), kWholeMachine}}}), Time(1ms));
  EXPECT_EQ(times(JobId(0), {{{JobId(0), {CtaCount(4)}}, {JobId(1), {CtaCount(4)}}}}), Time(1ms)) << "no ratio of the table";
}

/// Algorithm 1: the best pair, another choice at the end of the slice in which a kernel came, and at once when one has no task
/// left to begin.
TEST(Kernelet, ChoosesAnewOnlyWhenTheReadyKernelsChange) {
  const std::vector<FakeJob> jobs{job("A", 400), job("C", 100), job("B", 200, 7ms), job("C", 40, 8ms)};
  LoggedScheduler scheduler(std::make_unique<KerneletScheduler>(machine(), table(), mix(jobs)));
  const FakeResult r = run(scheduler, jobs);
  ASSERT_TRUE(r.finished);
  const std::vector<std::string> lines = trace(scheduler, jobs);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0], "0: A1 C3");
  EXPECT_EQ(lines[1], "10000: A1 B3") << "B came at 7 ms, in the slice from 5 ms to 10 ms; equal profits: the lowest count";
  EXPECT_EQ(lines[2].substr(lines[2].find(':')), ": A1 C3") << "the elder C goes on when B has begun its last task";
  EXPECT_LT(r.jobs[1].ended, r.jobs[3].ended);
  std::set<Time> wakes;
  for (const LoggedDecision& d : scheduler.decisions())
    if (d.plan.wake_at) wakes.insert(*d.plan.wake_at);
  EXPECT_TRUE(wakes.contains(5ms));
  EXPECT_TRUE(wakes.contains(10ms));
}

TEST(Kernelet, ASliceAndTheNextMayBegin) {
  const std::vector<FakeJob> jobs{job("A", 400), job("B", 400)};
  LoggedScheduler scheduler(std::make_unique<KerneletScheduler>(machine(), table(), mix(jobs)));
  ASSERT_TRUE(run(scheduler, jobs).finished);
  const Plan& first = scheduler.decisions().front().plan;
  // 5 ms at 2 SMs x IPC 0.375 or 1.125 over 250,000 instructions: 15 and 45 tasks.
  EXPECT_EQ(first.jobs.at(0).task_limit, 30U);
  EXPECT_EQ(first.jobs.at(1).task_limit, 90U);
  EXPECT_EQ(first.wake_at, Time(5ms));
}

/// A limit that the rates' truth outruns holds the tasks back until the slice's end.
TEST(Kernelet, NoTaskBeginsBeyondItsSlices) {
  std::vector<FakeJob> jobs{job("A", 400), job("B", 400)};
  jobs[1].task_time = 100us;  // ten times as fast as the table says
  LoggedScheduler scheduler(std::make_unique<KerneletScheduler>(machine(), table(), mix(jobs)));
  class Sees : public ITaskObserver {
   public:
    void task_begins(JobId job, SmId, Time begin, Time) override { begun += job == JobId(1) && begin < Time(5ms) ? 1 : 0; }
    int begun = 0;
  } sees;
  ASSERT_TRUE(run_fake(machine(), jobs, scheduler, {}, &sees).finished);
  EXPECT_EQ(sees.begun, 90);
}

TEST(Kernelet, OneKernelAloneRunsInSlicesToo) {
  const std::vector<FakeJob> jobs{job("A", 800), job("B", 80, 12ms)};
  LoggedScheduler scheduler(std::make_unique<KerneletScheduler>(machine(), table(), mix(jobs)));
  ASSERT_TRUE(run(scheduler, jobs).finished);
  EXPECT_EQ(scheduler.decisions().front().plan.jobs.at(0).task_limit, 80U) << "twice 5 ms of eight tasks a millisecond";
  const std::vector<std::string> lines = trace(scheduler, jobs);
  EXPECT_EQ(lines.at(0), "0: A");
  EXPECT_EQ(lines.at(1), "15000: A1 B3");
  EXPECT_EQ(lines.at(2).substr(lines[2].find(':')), ": A");
}

TEST(Kernelet, WithoutAPairThatGainsTheLongestQueueRunsAlone) {
  const std::vector<FakeJob> jobs{job("B", 80), job("C", 80), job("C", 80)};
  LoggedScheduler scheduler(std::make_unique<KerneletScheduler>(machine(), table(), mix(jobs)));
  ASSERT_TRUE(run(scheduler, jobs).finished);
  const std::vector<LoggedDecision>& d = scheduler.decisions();
  ASSERT_EQ(d.front().plan.jobs.size(), 1U);
  EXPECT_EQ(d.front().plan.jobs[0].job, JobId(1)) << "two of C wait; the elder first";
}

TEST(Kernelet, KernelsThatTheTableLacksRunAlone) {
  const std::vector<FakeJob> jobs{job("X", 80), job("Y", 80)};
  LoggedScheduler scheduler(std::make_unique<KerneletScheduler>(machine(), table(), mix(jobs)));
  EXPECT_EQ(run(scheduler, jobs).end, Time(20ms));
  EXPECT_EQ(trace(scheduler, jobs).front(), "0: X");
}

TEST(Kernelet, PruningSaysWhatItLost) {
  CoRunTable t = table();
  t.kernels["C"].issue_utilisation = 1;  // A and B, the best pair, are alike
  const std::vector<FakeJob> jobs{job("A", 80), job("B", 80), job("C", 80)};
  KerneletScheduler pruning(machine(), t, mix(jobs)), whole(machine(), t, mix(jobs));
  whole.prune(0, 0);
  ASSERT_TRUE(run(pruning, jobs).finished && run(whole, jobs).finished);
  EXPECT_GT(pruning.pruning().pruned, 0U);
  EXPECT_NEAR(pruning.pruning().lost_profit, (1 - 1 / 1.5) - (1 - 1 / 1.1), 1e-9) << "in the first decision";
  EXPECT_EQ(whole.pruning().pruned, 0U);
  EXPECT_EQ(whole.pruning().lost_profit, 0);
}

TEST(Kernelet, EndsSoonerThanBaseByWhatThePairGains) {
  const std::vector<FakeJob> jobs{job("A", 4000), job("B", 12000)};
  const SchedulerInput input{machine(), mix(jobs), {}, {}, {}, {}, {}, table(), table()};
  const auto end = [&](std::string_view name) { return run(*make_scheduler(name, input), jobs).end; };
  EXPECT_EQ(end("base"), Time(2s));
  EXPECT_EQ(end("arrival"), Time(2s));
  EXPECT_NEAR(static_cast<double>(end("kernelet").count()), 2e12 / 1.5, 2e10);
  EXPECT_EQ(end("kernelet"), end("kernelet_opt"));
}

TEST(MonteCarlo, DrawsPairsAndRatiosFromItsSeed) {
  std::vector<FakeJob> jobs;
  for (int i = 0; i < 6; ++i)
    for (const char* name : {"A", "B", "C"}) jobs.push_back(job(name, 200));
  const auto with = [&](std::uint64_t seed) {
    LoggedScheduler scheduler(std::make_unique<MonteCarlo>(machine(), table(), mix(jobs), seed));
    EXPECT_TRUE(run(scheduler, jobs).finished);
    return trace(scheduler, jobs);
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
}

/// Waves of a pair that are counted, not run: with an observer each task is run.
TEST(Kernelet, CountingThePairsWavesChangesNothing) {
  class Sees : public ITaskObserver {
    void task_begins(JobId, SmId, Time, Time) override {}
  };
  for (const char* name : {"kernelet", "base", "monte_carlo"})
    EXPECT_TRUE(rc::check(name, [&] {
      std::vector<FakeJob> jobs;
      for (const char* kernel : {"A", "B", "C", "B"}) {
        jobs.push_back(job(kernel, *rc::gen::inRange(1U, 600U), Time(*rc::gen::inRange(0, 20) * 1ms)));
        jobs.back().kernel.registers_per_cta = *rc::gen::inRange(64U, 16000U);
        jobs.back().task_time = Time(*rc::gen::inRange(1, 40) * 100us);
      }
      jobs[3].kernel = jobs[1].kernel;
      SchedulerInput input{machine(), mix(jobs)};
      input.predicted = input.executed = test::random_co_runs(input.mix, machine());
      const TaskTimes times = pair_times(machine(), jobs, input.executed);
      LoggedScheduler slow_log(make_scheduler(name, input)), fast_log(make_scheduler(name, input));
      Sees sees;
      const FakeResult slow = run_fake(machine(), jobs, slow_log, {}, &sees, times),
                       fast = run_fake(machine(), jobs, fast_log, {}, nullptr, times);
      RC_ASSERT(slow_log.decisions() == fast_log.decisions());
      RC_ASSERT(slow.end == fast.end);
      for (std::size_t k = 0; k < jobs.size(); ++k) RC_ASSERT(slow.jobs[k].ended == fast.jobs[k].ended);
    })) << name;
  const std::vector<FakeJob> jobs{job("A", 400000), job("B", 1200000)};
  KerneletScheduler scheduler(machine(), table(), mix(jobs), 10s);
  const FakeResult r = run(scheduler, jobs);
  EXPECT_TRUE(r.finished);
  EXPECT_LT(r.steps, 2000U);
}

TEST(Kernelet, RefusesATableThatLacksARatio) {
  CoRunTable t = table();
  t.pairs.begin()->second.pop_back();
  SchedulerInput input{machine(), mix({job("A", 1), job("B", 1)})};
  input.executed = t;
  for (const char* name : {"kernelet_opt", "monte_carlo"})
    EXPECT_EQ(test::refusal([&] { (void)make_scheduler(name, input); }), "pair A and B: no figures with 3 and 1 CTAs") << name;
  EXPECT_THROW(KerneletScheduler(machine(), table(), input.mix, Time(0)), InputError);
}

}  // namespace
}  // namespace sluice
