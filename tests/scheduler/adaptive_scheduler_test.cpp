// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/adaptive_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// Two SMs of 32768 registers and 16 slots.
MachineConfig machine() { return small_machine(2, {2048, 32768, 49152, 16}); }

SchedulerInput input(const std::vector<FakeJob>& jobs) {
  SchedulerInput in{machine(), {}};
  for (const FakeJob& j : jobs) {
    in.mix.push_back(j.kernel);
    in.times[j.kernel.name] = fake_solo_times(in.machine, j.kernel, j.task_time);
  }
  return in;
}

/// CTAs of each job of a plan.
std::map<std::uint32_t, std::uint32_t> counts(const Plan& plan) {
  std::map<std::uint32_t, std::uint32_t> ctas;
  for (const JobShare& share : plan.jobs) ctas[share.job.value()] = share.share.ctas.value();
  return ctas;
}

using Counts = std::map<std::uint32_t, std::uint32_t>;

TEST(AdaptiveScheduler, GivesFiveThenThreeAndThreeThenFive) {
  // The example of SiM's section 3.7 from first to last task: five CTAs of A fill an SM, and so do three of A and three of B.
  const std::vector<FakeJob> jobs{job("A", 200, 10us, {}, 6000), job("B", 18, 10us, 175us, 4900)};
  LoggedScheduler scheduler(make_scheduler("adaptive", input(jobs)));
  const FakeResult r = run_fake(machine(), jobs, scheduler);
  EXPECT_TRUE(r.finished);
  std::vector<std::pair<Time, Counts>> changes;
  for (const LoggedDecision& d : scheduler.decisions())
    if (changes.empty() || changes.back().second != counts(d.plan)) changes.emplace_back(d.now, counts(d.plan));
  const std::vector<std::pair<Time, Counts>> expected{
      {0us, {{0, 5}}},            // A arrives
      {175us, {{0, 3}, {1, 3}}},  // B arrives: 20 of A's 200 tasks are left, and all 18 of B's
      {200us, {{0, 5}}},          // B has begun its last task
      {210us, {}},                // so has A
  };
  EXPECT_EQ(changes, expected);
}

/// Jobs of which each task has 64 threads and 1000 registers, as a scheduler sees them.
std::vector<JobView> views(std::size_t n) {
  std::vector<JobView> jobs(n);
  for (std::uint32_t k = 0; k < n; ++k) {
    jobs[k].id = JobId(k);
    jobs[k].kernel = job(std::string(1, static_cast<char>('A' + k)), 100, 1us, {}, 1000).kernel;
    jobs[k].state = JobState::Running;
    jobs[k].tasks = 100;
  }
  return jobs;
}

TEST(AdaptiveScheduler, AJobBeyondTheBoundOnTheNttCountsAsTheLongest) {
  std::vector<JobView> jobs = views(2);
  std::vector<double> longer, shorter;
  for (int c = 1; c <= 16; ++c) {
    longer.push_back(100 - c);
    shorter.push_back(16.0 / c);
  }
  const auto with = [&](double most, Time now) {
    AdaptiveScheduler scheduler(machine(), {{"A", longer}, {"B", shorter}}, {}, kNoSlotLimit, AdaptiveScheduler::kTurn,
                                {most, 1e9});
    return counts(scheduler.decide(jobs, {}, now));
  };
  EXPECT_EQ(with(kNoNttLimit, 4ms), (Counts{{0, 15}, {1, 1}}));
  EXPECT_EQ(with(8, 0ms), (Counts{{0, 14}, {1, 2}})) << "1 ms alone, so 8 ms at most";
  EXPECT_EQ(with(8, 4ms), (Counts{{0, 12}, {1, 4}})) << "4 of them are over";
  EXPECT_THROW(with(0.5, 0ms), InputError);
}

TEST(AdaptiveScheduler, DecidesWhenAJobArrivesOrHasBegunItsLastTaskAndNotBetween) {
  std::vector<JobView> jobs = views(2);
  jobs[1].state = JobState::Prep;
  std::vector<double> times;
  for (int c = 1; c <= 16; ++c) times.push_back(1.0 / c);
  AdaptiveScheduler scheduler(machine(), {{"A", times}, {"B", times}}, {});
  EXPECT_EQ(counts(scheduler.decide(jobs, {}, Time(1))), (Counts{{0, 16}})) << "B's inputs are not there";
  jobs[1].state = JobState::Ready;
  EXPECT_EQ(counts(scheduler.decide(jobs, {}, Time(2))), (Counts{{0, 8}, {1, 8}}));
  jobs[0].tasks_begun = 90;
  EXPECT_EQ(counts(scheduler.decide(jobs, {}, Time(3))), (Counts{{0, 8}, {1, 8}})) << "progress alone changes nothing";
  jobs[0].tasks_begun = 100;
  EXPECT_EQ(counts(scheduler.decide(jobs, {}, Time(4))), (Counts{{1, 16}}));
  jobs[0].state = JobState::Done;
  EXPECT_EQ(counts(scheduler.decide(jobs, {}, Time(5))), (Counts{{1, 16}}));
  jobs[1].state = JobState::Lost;
  EXPECT_EQ(counts(scheduler.decide(jobs, {}, Time(6))), Counts{});
}

TEST(AdaptiveScheduler, ProgressCountsWhenItDecides) {
  std::vector<JobView> jobs = views(2);
  jobs[0].tasks_begun = 75;
  std::vector<double> times;
  for (int c = 1; c <= 16; ++c) times.push_back(1.0 / c);
  EXPECT_EQ(counts(AdaptiveScheduler(machine(), {{"A", times}, {"B", times}}, {}).decide(jobs, {}, Time(1))),
            (Counts{{0, 4}, {1, 12}}))
      << "a quarter of A is left, so a third of B's CTAs will do";
}

TEST(AdaptiveScheduler, LeavesOutCountsThatAreNotFaster) {
  const std::vector<JobView> jobs = views(1);
  std::vector<double> times(16, 5.0);
  times[0] = 20;
  times[1] = 10;  // and 5 from 3 CTAs on
  EXPECT_EQ(counts(AdaptiveScheduler(machine(), {{"A", times}}, {}).decide(jobs, {}, Time(1))), (Counts{{0, 3}}));
}

TEST(AdaptiveScheduler, JobsThatDoNotFitTogetherTakeTurns) {
  // One CTA of any two does not fit an SM.
  std::vector<FakeJob> jobs{job("A", 60, 400us, {}, 20000), job("B", 20, 400us, 1ms, 20000), job("C", 40, 400us, 1ms, 20000)};
  LoggedScheduler scheduler(make_scheduler("adaptive", input(jobs)));
  const FakeResult r = run_fake(machine(), jobs, scheduler);
  EXPECT_TRUE(r.finished);
  EXPECT_EQ(r.jobs[2].began, Time(3200us)) << "the turn begins at 1 ms, ends at 3 ms, and A's tasks 0.2 ms later: C is longer";
  EXPECT_GE(r.jobs[0].evictions, 2U);
  EXPECT_LT(r.jobs[1].began, r.jobs[0].ended) << "B does not wait for the end of A";
  EXPECT_FALSE(scheduler.decisions().back().plan.wake_at) << "one that is alone needs no turns";
}

TEST(AdaptiveScheduler, WhoArrivesWaitsForTheEndOfATurn) {
  std::vector<FakeJob> jobs{job("A", 20, 100us, {}, 20000), job("B", 200, 100us, 50us, 20000)};
  const auto scheduler = make_scheduler("adaptive", input(jobs));
  const FakeResult r = run_fake(machine(), jobs, *scheduler);
  EXPECT_EQ(r.jobs[0].evictions, 0U) << "B takes longer, but A is at work";
  EXPECT_EQ(r.jobs[1].began, Time(1ms));
}

TEST(AdaptiveScheduler, ATurnLastsUntilItsJobHasBegun) {
  // Tasks of 10 ms and slices of 2 ms: whoever's turn it is waits for the others' tasks, and has the SMs then.
  std::vector<FakeJob> jobs{job("A", 6, 10ms, {}, 20000), job("B", 6, 10ms, 1us, 20000)};
  const auto scheduler = make_scheduler("adaptive", input(jobs));
  const FakeResult r = run_fake(machine(), jobs, *scheduler);
  EXPECT_TRUE(r.finished);
  EXPECT_EQ(r.jobs[1].began, Time(10ms));
  EXPECT_EQ(r.jobs[0].evictions, 2U);
}

TEST(AdaptiveScheduler, RefusesWhatItCannotEstimate) {
  const auto refusal = [](const FakeJob& j, const SoloTimes& times) {
    return test::refusal([&] { (void)make_scheduler("adaptive", {machine(), {j.kernel}, {}, {}, times}); });
  };
  const FakeJob a = job("A", 1, 1us, {}, 10000);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(a, {{"A", {3, 2, 1}}}), "accepted");
  EXPECT_EQ(refusal(a, {{"B", {3, 2, 1}}}), "kernel A: no times alone over CTA counts");
  EXPECT_EQ(refusal(a, {{"A", {3, 2}}}), "kernel A: no time alone with 3 CTAs on an SM: must have one for each of 1..3");
  EXPECT_EQ(refusal(a, {{"A", {3, kNan, 1}}}), "kernel A: time nan alone with 2 CTAs on an SM: must be finite and above 0");
  EXPECT_EQ(refusal(a, {{"A", {3, 2, 0}}}), "kernel A: time 0 alone with 3 CTAs on an SM: must be finite and above 0");
  EXPECT_NE(refusal(job("A", 1, 1us, {}, 40000), {{"A", {1}}}).find("kernel A: one CTA needs 40000 registers"),
            std::string::npos);
  // A kernel that nobody announced is refused when it arrives.
  AdaptiveScheduler scheduler(machine(), {}, {});
  const std::vector<JobView> jobs = views(1);
  EXPECT_THROW((void)scheduler.decide(jobs, {}, Time(1)), InputError);
}

TEST(SoloTimes, AreWhatTheFakeExecutorTakes) {
  const FakeJob a = job("A", 37, 10us, {}, 6000);
  const std::vector<double> times = fake_solo_times(machine(), a.kernel, a.task_time);
  ASSERT_EQ(times.size(), 5U);
  for (std::uint32_t c = 1; c <= 5; ++c) {
    class Fixed : public IScheduler {
     public:
      explicit Fixed(std::uint32_t ctas) : ctas_(ctas) {}
      [[nodiscard]] Plan decide(std::span<const JobView>, std::span<const Event>, Time) override {
        return {{{JobId(0), {CtaCount(ctas_)}}}};
      }

     private:
      std::uint32_t ctas_;
    } fixed(c);
    const Time end = run_fake(machine(), {a}, fixed).end;
    EXPECT_DOUBLE_EQ(times[c - 1], (std::chrono::duration<double, std::milli>(end).count())) << c;
  }
}

TEST(Pt, EachTakesWhatThoseBeforeItLeave) {
  // Two CTAs of A and one of B fill an SM; B's turn for the rest comes when A has begun its last task.
  std::vector<FakeJob> jobs{job("A", 12, 10us, {}, 12000), job("B", 12, 10us, {}, 6000)};
  const auto scheduler = make_scheduler("pt", input(jobs));
  const FakeResult r = run_fake(machine(), jobs, *scheduler);
  EXPECT_EQ(r.jobs[0].ended, Time(30us)) << "as if alone";
  EXPECT_EQ(r.jobs[1].began, Time(0)) << "in what A leaves: under Left-Over it would wait";
  EXPECT_EQ(r.jobs[1].ended, Time(40us)) << "two tasks at a time until A is done, ten then";
}

TEST(AdaptiveScheduler, SharesBetweenAsManyJobsAsTheUnitHasSlots) {
  const std::vector<FakeJob> jobs{job("A", 40, 10us), job("B", 80, 10us), job("C", 60, 10us)};
  SchedulerInput in = input(jobs);
  in.slots = 2;
  LoggedScheduler scheduler(make_scheduler("adaptive", in));
  EXPECT_TRUE(run_fake(machine(), jobs, scheduler).finished);
  for (const LoggedDecision& d : scheduler.decisions()) EXPECT_LE(d.plan.jobs.size(), 2U);
  EXPECT_EQ(scheduler.decisions().front().plan.reason, "job 2 (C) has the longest remaining time");
}

}  // namespace
}  // namespace sluice
