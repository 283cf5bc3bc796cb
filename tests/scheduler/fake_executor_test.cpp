// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_executor.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/policy_scheduler.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/jobs.h"
#include "tests/scheduler/turns.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// Two SMs of eight slots.
MachineConfig machine() { return small_machine(2, {1536, 32768, 49152, 8}); }

FakeResult run(const std::string& name, const std::vector<FakeJob>& jobs, const std::vector<CtaCount>& ctas = {}) {
  SchedulerInput input{machine(), {}, ctas};
  for (const FakeJob& j : jobs) input.mix.push_back(j.kernel);
  return run_fake(machine(), jobs, *make_scheduler(name, input));
}

TEST(FakeExecutor, AJobAloneFillsTheMachine) {
  const FakeResult r = run("left_over", {job("A", 33, 10us)});
  EXPECT_TRUE(r.finished);
  EXPECT_EQ(r.end, Time(30us)) << "16 tasks at a time";
  EXPECT_EQ(r.jobs[0].began, Time(0));
}

TEST(FakeExecutor, LeftOverBeginsTheSecondInWhatTheFirstLeaves) {
  const FakeResult r = run("left_over", {job("A", 24, 10us), job("B", 8, 1us)});
  EXPECT_EQ(r.jobs[1].began, Time(10us)) << "A has begun its last task";
  EXPECT_EQ(r.jobs[1].ended, Time(11us));
  EXPECT_EQ(r.jobs[0].ended, Time(20us));
}

TEST(FakeExecutor, FcfsTakesTheJobsInTurn) {
  const FakeResult r = run("fcfs", {job("A", 24, 10us), job("B", 8, 1us)});
  EXPECT_EQ(r.jobs[1].began, Time(0));
  EXPECT_EQ(r.jobs[1].ended, Time(1us)) << "eight slots each";
}

TEST(FakeExecutor, PoliciesShareBetweenAsManyJobsAsTheUnitHasSlots) {
  const std::vector<FakeJob> jobs{job("A", 40, 10us), job("B", 40, 10us), job("C", 40, 10us)};
  SchedulerInput input{machine(), {}};
  for (const FakeJob& j : jobs) input.mix.push_back(j.kernel);
  input.slots = 2;
  LoggedScheduler scheduler(make_scheduler("even", input));
  EXPECT_TRUE(run_fake(machine(), jobs, scheduler).finished);
  const std::vector<JobShare>& first = scheduler.decisions().front().plan.jobs;
  ASSERT_EQ(first.size(), 2U) << "the oldest two; the third waits, and nothing is kept for it";
  EXPECT_EQ(first[0].share.ctas, CtaCount(4));
  EXPECT_EQ(first[1].job, JobId(1));
}

TEST(FakeExecutor, QuotasHoldUntilAJobEnds) {
  // Two and six CTAs on each of two SMs: A runs four at a time until B is done, then sixteen.
  const FakeResult r = run("static", {job("A", 40, 10us), job("B", 24, 10us)}, {CtaCount(2), CtaCount(6)});
  EXPECT_EQ(r.jobs[1].ended, Time(20us));
  EXPECT_EQ(r.jobs[0].ended, Time(40us)) << "8 tasks until then, 16 and 16 after it";
}

TEST(FakeExecutor, SpatialGivesEachItsOwnSms) {
  const FakeResult r = run("spatial", {job("A", 16, 10us), job("B", 8, 10us)});
  EXPECT_EQ(r.jobs[0].ended, Time(20us));
  EXPECT_EQ(r.jobs[1].ended, Time(10us));
}

TEST(FakeExecutor, ResourcesBoundWhatQuotasAllow) {
  const FakeResult r = run("left_over", {job("A", 6, 10us, {}, 16384)});
  EXPECT_EQ(r.end, Time(20us)) << "two on an SM by their registers";
}

TEST(FakeExecutor, TimersEvictAtTheEndsOfTasks) {
  LoggedScheduler turns(std::make_unique<test::Turns>(15us));
  const FakeResult r = run_fake(machine(), {job("A", 64, 10us), job("B", 16, 10us)}, turns);
  EXPECT_TRUE(r.finished);
  // A runs tasks from 0, 10, and is evicted at 15; they end at 20. B waits for them, has 16 tasks from 20 to 30.
  EXPECT_EQ(r.jobs[1].began, Time(20us));
  EXPECT_EQ(r.jobs[1].ended, Time(30us));
  EXPECT_EQ(r.jobs[0].evictions, 1U);
  EXPECT_EQ(r.jobs[0].ended, Time(50us));
  const auto evicted = std::ranges::find_if(turns.decisions(), [](const LoggedDecision& d) {
    return std::ranges::find(d.events, Event{EventKind::Evicted, JobId(0)}) != d.events.end();
  });
  ASSERT_NE(evicted, turns.decisions().end());
  EXPECT_EQ(evicted->now, Time(20us));
}

TEST(FakeExecutor, ProfilesCostWhatTheyAreSaidToAndAreThenThere) {
  LoggedScheduler scheduler(make_scheduler("warped_slicer", {machine(), {}}));
  FakeJob a = job("A", 64, 10us), b = job("B", 64, 10us);
  a.profile = {1, 1, 1, 1, 1, 1, 1, 1};
  b.profile = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_TRUE(run_fake(machine(), {a, b}, scheduler, {25us}).finished);
  const std::vector<LoggedDecision>& d = scheduler.decisions();
  EXPECT_TRUE(d.at(0).plan.profile);
  EXPECT_EQ(d.at(0).plan.jobs.at(1).share.sms.first, SmId(1)) << "until then each has SMs of its own";
  EXPECT_EQ(d.at(1).now, Time(25us));
  EXPECT_EQ(d.at(1).plan.jobs.at(0).share, (Share{CtaCount(1), kEverySm}));
  EXPECT_EQ(d.at(1).plan.jobs.at(1).share, (Share{CtaCount(7), kEverySm}));
}

TEST(WarpedSlicerScheduler, ProfilesAnewWhenTheMixChanges) {
  const auto scheduler = make_scheduler("warped_slicer", {machine(), {}});
  std::vector<JobView> jobs(3);
  std::vector<Event> profiled;
  for (std::uint32_t k = 0; k < 3; ++k) {
    jobs[k].id = JobId(k);
    jobs[k].kernel = job("A", 1, 1us).kernel;
    jobs[k].state = JobState::Running;
    jobs[k].profile = {1, 2, 3};
    profiled.push_back({EventKind::Profiled, JobId(k)});
  }
  EXPECT_FALSE(scheduler->decide(jobs, profiled, Time(1)).profile);
  EXPECT_FALSE(scheduler->decide(jobs, std::vector<Event>{{EventKind::LastTaskBegun, JobId(0)}}, Time(2)).profile);
  jobs[2].state = JobState::Done;
  EXPECT_TRUE(scheduler->decide(jobs, std::vector<Event>{{EventKind::Done, JobId(2)}}, Time(3)).profile)
      << "the profiles were of another mix";
  EXPECT_FALSE(scheduler->decide(jobs, std::span(profiled).first(2), Time(4)).profile);
}

/// Gives nobody anything.
class Nothing : public IScheduler {
  [[nodiscard]] Plan decide(std::span<const JobView>, std::span<const Event>, Time) override { return {}; }
};

TEST(FakeExecutor, TellsThatAJobIsLeftWithoutSms) {
  Nothing nothing;
  const FakeResult r = run_fake(machine(), {job("A", 4, 1us)}, nothing);
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.jobs[0].tasks_done, 0U);
}

/// Lets a job begin so many tasks, and no more until it hears that these are done.
class Limited : public IScheduler {
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time now) override {
    if (now >= Time(100us)) return {{{jobs.front().id, kWholeMachine}}};
    return {{{jobs.front().id, kWholeMachine, 5}}, Time(100us)};
  }
};

TEST(FakeExecutor, TaskLimitsHold) {
  Limited limited;
  const FakeResult r = run_fake(machine(), {job("A", 8, 10us)}, limited);
  EXPECT_EQ(r.end, Time(110us)) << "five tasks at once, three from 100 us on";
}

TEST(FakeExecutor, ASchedulerHearsOfTheLastTaskWhenItBegins) {
  LoggedScheduler scheduler(make_scheduler("arrival", {machine(), {}}));
  EXPECT_TRUE(run_fake(machine(), {job("A", 17, 10us)}, scheduler).finished);
  const auto heard = std::ranges::find_if(scheduler.decisions(), [](const LoggedDecision& d) {
    return std::ranges::find(d.events, Event{EventKind::LastTaskBegun, JobId(0)}) != d.events.end();
  });
  ASSERT_NE(heard, scheduler.decisions().end());
  EXPECT_EQ(heard->now, Time(10us)) << "sixteen tasks end, and the last one begins";
}

TEST(FakeExecutor, AJobArrivesAfterTheEndOfAnother) {
  FakeJob a = job("A", 16, 10us, 3us), b = job("B", 16, 10us);
  a.after = 1;
  const FakeResult r = run("arrival", {a, b});
  EXPECT_EQ(r.jobs[0].arrived, Time(13us));
  EXPECT_EQ(r.end, Time(23us));
}

TEST(FakeExecutor, EveryStepCostsWhatItIsSaidTo) {
  FakeJob a = job("A", 160, 10us), b = job("B", 16, 10us, 35us);
  b.priority = 1;
  SchedulerInput input{machine(), {}};
  const auto with = [&](const FakeCosts& costs) {
    FakeResult r = run_fake(machine(), {a, b}, *make_scheduler("piv", input), costs);
    EXPECT_TRUE(r.finished);
    EXPECT_EQ(r.jobs[0].evictions, 1U);
    return r;
  };
  const FakeResult none = with({});
  EXPECT_EQ(none.jobs[1].began, Time(40us)) << "A's tasks end";
  EXPECT_EQ(none.end, Time(110us));
  FakeCosts copy;
  copy.copy = 7us;
  EXPECT_EQ(with(copy).jobs[0].began, Time(7us));
  EXPECT_EQ(with(copy).jobs[1].began, Time(47us)) << "B is ready at 42 us";
  FakeCosts launch;
  launch.launch = 3us;
  EXPECT_EQ(with(launch).jobs[1].began, Time(43us)) << "A's began at 3 us; B's launch takes until 38 us";
  EXPECT_EQ(with(launch).end, Time(116us)) << "A's first launch and its second";
  FakeCosts evict;
  evict.evict = 12us;
  EXPECT_EQ(with(evict).jobs[1].began, Time(50us)) << "A hears of it at 47 us";
}

/// Asks to be woken so often that no two equal waves follow each other undisturbed.
class Restless : public IScheduler {
 public:
  explicit Restless(std::unique_ptr<IScheduler> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] Mode mode() const override { return inner_->mode(); }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    Plan plan = inner_->decide(jobs, events, now);
    const Time soon = now + Time(5);
    if (!plan.jobs.empty()) plan.wake_at = plan.wake_at ? std::min(*plan.wake_at, soon) : soon;
    return plan;
  }

 private:
  std::unique_ptr<IScheduler> inner_;
};

std::vector<std::pair<Time, Event>> without_timers(const LoggedScheduler& scheduler) {
  std::vector<std::pair<Time, Event>> all;
  for (const LoggedDecision& d : scheduler.decisions())
    for (const Event& e : d.events)
      if (e.kind != EventKind::Timer) all.emplace_back(d.now, e);
  return all;
}

/// Any two of kernel A gain on an SM range each.
SchedulerInput on_ranges() {
  SchedulerInput input{machine(), {}};
  input.times["A"] = {1};
  input.coruns = {{"A", "A", {1, 0.9, 0.9}}};
  return input;
}

/// Waves that are counted and not run: nobody sees a difference but the clock on the wall.
TEST(FakeExecutor, CountingEqualWavesAtOnceChangesNothing) {
  for (const std::string_view name : {"arrival", "piv", "left_over", "fcfs", "slate_measured"}) {
    const bool ok = rc::check(std::string(name), [&] {
      std::vector<FakeJob> jobs;
      SchedulerInput input = on_ranges();
      for (auto n = *rc::gen::inRange(1, 3); n > 0; --n) {
        jobs.push_back(job("A", *rc::gen::inRange(1U, 400U), Time(*rc::gen::inRange(5, 50)), Time(*rc::gen::inRange(0, 400)),
                           *rc::gen::inRange(64U, 9000U)));
        jobs.back().priority = *rc::gen::inRange(0, 3);
        input.mix.push_back(jobs.back().kernel);
      }
      FakeCosts costs;
      costs.launch = Time(*rc::gen::inRange(0, 30));
      costs.evict = Time(*rc::gen::inRange(0, 60));
      LoggedScheduler restless(std::make_unique<Restless>(make_scheduler(name, input))), calm(make_scheduler(name, input));
      const FakeResult slow = run_fake(machine(), jobs, restless, costs), fast = run_fake(machine(), jobs, calm, costs);
      RC_ASSERT(without_timers(restless) == without_timers(calm));
      RC_ASSERT(slow.end == fast.end);
      for (std::size_t k = 0; k < jobs.size(); ++k) {
        RC_ASSERT(slow.jobs[k].began == fast.jobs[k].began);
        RC_ASSERT(slow.jobs[k].ended == fast.jobs[k].ended);
        RC_ASSERT(slow.jobs[k].evictions == fast.jobs[k].evictions);
        RC_ASSERT(slow.jobs[k].tasks_done == fast.jobs[k].tasks_done);
      }
    });
    EXPECT_TRUE(ok) << name;
  }
  const FakeResult r = run("arrival", {job("A", 16000000, 1ns)});
  EXPECT_EQ(r.end, Time(1ms));
  EXPECT_LT(r.steps, 100U);
  const std::vector<FakeJob> two = {job("A", 16000000, 1ns), job("A", 16000000, 1ns)};
  SchedulerInput input = on_ranges();
  for (const FakeJob& j : two) input.mix.push_back(j.kernel);
  const FakeResult ranges = run_fake(machine(), two, *make_scheduler("slate_measured", input));
  EXPECT_GT(ranges.jobs[0].ended, ranges.jobs[1].began) << "side by side";
  EXPECT_LT(ranges.steps, 200U);
}

class SeesAll : public ITaskObserver {
  void task_begins(JobId, SmId, Time, Time) override {}
};

/// With an observer every task is a step. Sanitizers and busy machines included: 2e7 on one that is free.
TEST(FakeExecutor, WorksOutAHundredThousandStepsASecond) {
  std::vector<FakeJob> jobs;
  for (int k = 0; k < 8; ++k) {
    jobs.push_back(job("A", 50000, 10us + k * 1us, k * 1ms));
    jobs.back().priority = k;
  }
  SeesAll observer;
  const auto begin = std::chrono::steady_clock::now();
  const FakeResult r = run_fake(machine(), jobs, *make_scheduler("dprr", {machine(), {}}), {}, &observer);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_TRUE(r.finished);
  EXPECT_GE(r.steps, 400000U);
  const double rate = static_cast<double>(r.steps) / seconds;
  std::cout << "fake executor: " << rate << " steps a second\n";
  EXPECT_GT(rate, 1e5);
}

TEST(FakeExecutor, RefusesWhatCannotRun) {
  Nothing nothing;
  const auto refusal = [&](const FakeJob& j) { return test::refusal([&] { (void)run_fake(machine(), {j}, nothing); }); };
  EXPECT_NE(refusal(job("A", 1, 1us, {}, 40000)).find("kernel A: one CTA needs 40000 registers"), std::string::npos);
  EXPECT_EQ(refusal(job("A", 0, 1us)), "kernel A: a grid of 0 CTAs: must be at least 1");
  EXPECT_EQ(refusal(job("A", 1, Time(0))), "kernel A: task time 0 ps: must be at least 1");
}

/// Whatever arrives whenever: nobody is left over, work is done once, and equal runs are equal.
TEST(FakeExecutor, EverySchedulerFinishesEveryJob) {
  for (const std::string_view name : scheduler_names()) {
    const bool ok = rc::check(std::string(name), [&] {
      std::vector<FakeJob> jobs;
      SchedulerInput input{machine(), {}};
      const auto n = *rc::gen::inRange(1, 3);
      for (int k = 0; k < n; ++k) {
        jobs.push_back(job(std::string(1, static_cast<char>('A' + k)), *rc::gen::inRange(1U, 60U), Time(*rc::gen::inRange(1, 50)),
                           Time(*rc::gen::inRange(0, 200)), *rc::gen::inRange(64U, 4096U)));
        input.mix.push_back(jobs.back().kernel);
        input.ctas.emplace_back(1);
        input.curves[jobs.back().kernel.name] = {1, 2, 3};
        input.times[jobs.back().kernel.name] = fake_solo_times(machine(), jobs.back().kernel, jobs.back().task_time);
      }
      std::ranges::stable_sort(jobs, {}, &FakeJob::arrival);
      for (std::size_t k = 0; k < jobs.size(); ++k) input.mix[k] = jobs[k].kernel;
      const auto once = [&] {
        LoggedScheduler scheduler(make_scheduler(name, input));
        const FakeResult r = run_fake(machine(), jobs, scheduler);
        RC_ASSERT(r.finished);
        for (std::size_t k = 0; k < jobs.size(); ++k) RC_ASSERT(r.jobs[k].tasks_done == jobs[k].kernel.grid_ctas);
        return scheduler.decisions();
      };
      RC_ASSERT(once() == once());
    });
    EXPECT_TRUE(ok) << name;
  }
}

TEST(DecisionLog, WritesALineForEachDecision) {
  const LoggedDecision d{Time(5),
                         {{EventKind::Arrived, JobId(1)}, {EventKind::Timer, JobId(0)}},
                         {{{JobId(1), kWholeMachine}, {JobId(0), {CtaCount(2), {SmId(4), 3}}, 9}}, Time(8), false, "why"}};
  EXPECT_EQ(json_line(d),
            R"({"now_ps":5,"events":[{"kind":"arrived","job":1},{"kind":"timer"}],"shares":[)"
            R"({"job":1,"ctas":null,"first_sm":0,"sms":null,"task_limit":null},)"
            R"({"job":0,"ctas":2,"first_sm":4,"sms":3,"task_limit":9}],"wake_at_ps":8,"profile":false,"reason":"why"})");
}

TEST(Registry, NamesTheAllowedSchedulersWhenItKnowsNone) {
  const std::string what = test::refusal([] { (void)make_scheduler("nobody", {machine(), {}}); });
  EXPECT_EQ(what.find("scheduler nobody: must be one of warped_slicer, "), 0U) << what;
  for (const std::string_view name : scheduler_names()) EXPECT_NE(what.find(name), std::string::npos) << name;
  EXPECT_EQ(what.find("oracle"), std::string::npos) << "many runs are no scheduler";
}

}  // namespace
}  // namespace sluice
