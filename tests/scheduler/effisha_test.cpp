// SPDX-License-Identifier: Apache-2.0
// EffiSha's policies on its own workload. The expected figures come from a discrete-event program that shares no code with Sluice
// and was written from the paper's section 7; where the paper prints a figure, that is checked, too.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "sw/core/metrics.h"
#include "sw/gpu/report/stats.h"
#include "sw/scheduler/dprr.h"
#include "sw/scheduler/piv.h"
#include "sw/scheduler/priority.h"
#include "sw/scheduler/rr.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
const std::filesystem::path kScenarios = std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/scenarios";

ScheduleRun run(const std::string& scenario, const std::string& scheduler) {
  const Scenario s = read_scenario(kScenarios / (scenario + ".toml"));
  return schedule_on_fake(s, abstract_target(s), scheduler);
}

/// Table 3 in its order: NeuralNet, Sort, Reduction, MD5Hash, MD, Scan, Triad, Stencil2D, FFT, Spmv, BFS.
struct Expected {
  const char *scenario, *scheduler;
  double antt, stp;
  std::uint64_t evictions;
  std::array<double, 11> ntt;
};
constexpr Expected kExpected[] = {
    {"effisha_group", "piv", 9.53, 6.07, 5, {5.20, 14.02, 36.71, 1.00, 4.02, 38.19, 1.00, 1.41, 1.00, 1.00, 1.26}},
    {"effisha_sjf", "piv", 1.57, 8.49, 7, {3.73, 1.98, 1.00, 1.00, 2.17, 1.00, 1.00, 2.13, 1.00, 1.00, 1.26}},
    {"effisha_random", "piv", 10.99, 5.25, 3, {5.31, 1.00, 24.84, 1.00, 1.11, 30.91, 38.02, 1.22, 1.00, 7.91, 8.62}},
    {"effisha_group", "dprr", 3.01, 4.91, 11, {4.24, 7.36, 1.97, 1.32, 4.00, 2.31, 1.21, 2.13, 3.97, 1.36, 3.20}},
    // The reference counts 19: one evicts Sort for Sort, when the queues swap.
    {"effisha_sjf", "dprr", 3.01, 4.43, 18, {4.45, 6.81, 1.97, 1.32, 3.93, 3.02, 2.03, 2.13, 2.69, 2.78, 1.95}},
    {"effisha_random", "dprr", 5.93, 4.12, 5, {5.73, 1.00, 2.19, 1.46, 3.11, 18.72, 20.17, 2.00, 2.55, 4.42, 3.87}},
    {"effisha_group", "arrival", 10.63, 3.10, 0, {1.00, 3.06, 7.66, 4.88, 1.95, 17.92, 19.25, 1.72, 40.22, 10.64, 8.62}},
    {"effisha_group", "rr", 4.86, 2.93, 13, {3.50, 2.11, 3.18, 2.68, 3.75, 7.96, 7.74, 2.13, 9.92, 6.00, 4.49}},
};

class EffishaTable : public ::testing::TestWithParam<Expected> {};

TEST_P(EffishaTable, HasEveryFigureToAHundredth) {
  const Expected& e = GetParam();
  const ScheduleRun r = run(e.scenario, e.scheduler);
  ASSERT_EQ(r.jobs.size(), e.ntt.size());
  for (std::size_t k = 0; k < e.ntt.size(); ++k) EXPECT_NEAR(r.jobs[k].ntt(), e.ntt[k], 0.01) << r.jobs[k].name;
  EXPECT_NEAR(r.antt(), e.antt, 0.01);
  EXPECT_NEAR(r.stp(), e.stp, 0.01);
  EXPECT_EQ(r.evictions(), e.evictions);
  EXPECT_EQ(r.makespan, Time(81620us)) << "the GPU is never idle, and evictions cost nothing";
}
INSTANTIATE_TEST_SUITE_P(Effisha, EffishaTable, ::testing::ValuesIn(kExpected),
                         [](const auto& test) { return std::string(test.param.scenario) + "_" + test.param.scheduler; });

/// Section 7.3, figure 14a, as the text prints it.
TEST(Effisha, PivMeetsTheThreeFiguresThatThePaperPrints) {
  const ScheduleRun r = run("effisha_group", "piv");
  for (const auto& [k, published] : {std::pair(2U, 38.0), std::pair(1U, 14.0), std::pair(5U, 39.0)})
    EXPECT_NEAR(r.jobs[k].ntt(), published, 0.05 * published) << r.jobs[k].name;
}

TEST(Effisha, PrioritiesWithoutPreemptionAreWorseThanWith) {
  for (const char* scenario : {"effisha_group", "effisha_sjf", "effisha_random"}) {
    EXPECT_GT(run(scenario, "prio_np").antt(), run(scenario, "piv").antt()) << scenario;
    EXPECT_EQ(run(scenario, "prio_np").evictions(), 0U) << scenario;
  }
}

double antt_of(IScheduler& scheduler, const char* scenario) {
  const Scenario s = read_scenario(kScenarios / scenario);
  std::vector<FakeJob> jobs;
  for (const ScenarioLaunch& launch : launches(s, {})) {
    FakeJob job;
    job.kernel.grid_ctas = static_cast<std::uint32_t>(*s.jobs[launch.job].alone / *s.task);
    job.task_time = *s.task;
    job.arrival = launch.arrival;
    job.priority = launch.priority;
    jobs.push_back(job);
  }
  const FakeResult r = run_fake(abstract_target(s).machine, jobs, scheduler);
  std::vector<Turnaround> all;
  for (std::size_t k = 0; k < jobs.size(); ++k)
    all.push_back({std::chrono::duration<double>(*s.jobs[k].alone).count(),
                   std::chrono::duration<double>(r.jobs[k].ended - r.jobs[k].arrived).count()});
  return antt(all);
}

TEST(Effisha, SlicesOfTheStaticPriorityAreShorter) {
  Dprr group(Dprr::SliceFrom::Static), sjf(Dprr::SliceFrom::Static), random(Dprr::SliceFrom::Static);
  EXPECT_NEAR(antt_of(group, "effisha_group.toml"), 4.08, 0.01);
  EXPECT_NEAR(antt_of(sjf, "effisha_sjf.toml"), 2.21, 0.01);
  EXPECT_NEAR(antt_of(random, "effisha_random.toml"), 5.98, 0.01);
}

TEST(Effisha, RoundRobinTakesAnySlice) {
  Rr one(1ms), two(2ms);
  EXPECT_NEAR(antt_of(one, "effisha_group.toml"), 4.76, 0.01);
  EXPECT_NEAR(antt_of(two, "effisha_group.toml"), 4.63, 0.01);
}

/// Figure 9: fewer evictions with a higher priority, and with a longer wait.
TEST(Effisha, EvictionsFallWithPriorityAndWait) {
  const Scenario s = read_scenario(kScenarios / "effisha_fig9.toml");
  ASSERT_EQ(s.waits.size(), 7U);
  std::uint64_t before = 11000;
  for (const Time wait : s.waits) {
    const ScheduleRun r = schedule_on_fake(s, abstract_target(s), "piv", wait);
    ASSERT_EQ(r.jobs.size(), 11000U);
    std::map<std::int32_t, double> evictions;
    for (const LaunchOutcome& launch : r.jobs) evictions[launch.priority] += static_cast<double>(launch.evictions);
    std::vector<double> priority, count;
    for (const auto& [p, n] : evictions) {
      priority.push_back(p);
      count.push_back(n);
    }
    ASSERT_EQ(priority.size(), 9U);
    EXPECT_LE(gpu::rank_correlation(priority, count), -0.9) << wait.count() << " ps";
    EXPECT_EQ(count.back(), 0.0) << "nothing is more important";
    EXPECT_LT(r.evictions(), before);
    before = r.evictions();
  }
}

/// The reference's totals, with priorities that it draws by itself.
TEST(Effisha, Figure9HasTheReferencesTotals) {
  const Scenario s = read_scenario(kScenarios / "effisha_fig9.toml");
  for (const auto& [wait, total] : {std::pair(1ms, 7930.0), std::pair(8ms, 5907.0), std::pair(64ms, 3898.0)})
    EXPECT_NEAR(static_cast<double>(schedule_on_fake(s, abstract_target(s), "piv", Time(wait)).evictions()), total, 0.05 * total);
}

/// Jobs that are there, in order of arrival; the scheduler asked again and again.
class Turns {
 public:
  explicit Turns(IScheduler& scheduler) : scheduler_(scheduler) {}
  void arrives(std::int32_t priority, JobState state = JobState::Ready) {
    JobView job;
    job.id = JobId(static_cast<std::uint32_t>(jobs_.size()));
    job.priority = priority;
    job.state = state;
    jobs_.push_back(job);
  }
  JobView& job(std::size_t k) { return jobs_[k]; }
  std::uint32_t at(Time now, std::vector<Event> events = {}) {
    plan = scheduler_.decide(jobs_, events, now);
    EXPECT_EQ(plan.jobs.size(), 1U);
    return plan.jobs.at(0).job.value();
  }
  Plan plan;

 private:
  IScheduler& scheduler_;
  std::vector<JobView> jobs_;
};

TEST(Piv, EvictsForAHigherPriorityAndNotForAnEqualOne) {
  Piv piv;
  Turns turns(piv);
  turns.arrives(5, JobState::Prep);
  turns.arrives(5);
  EXPECT_EQ(turns.at(0ms), 1U);
  turns.job(0).state = JobState::Ready;  // copied: older, and no more important
  EXPECT_EQ(turns.at(1ms), 1U);
  turns.arrives(6);
  EXPECT_EQ(turns.at(2ms), 2U);
  turns.job(2).state = JobState::Done;
  EXPECT_EQ(turns.at(3ms), 0U) << "equals by arrival";
  EXPECT_FALSE(turns.plan.wake_at);
}

TEST(Rr, RenewsTheSliceOfAJobThatIsAlone) {
  Rr rr(2ms);
  Turns turns(rr);
  turns.arrives(0);
  EXPECT_EQ(turns.at(0ms), 0U);
  EXPECT_EQ(turns.plan.wake_at, Time(2ms));
  EXPECT_EQ(turns.at(2ms), 0U);
  EXPECT_EQ(turns.plan.wake_at, Time(4ms));
  turns.arrives(0);
  EXPECT_EQ(turns.at(3ms), 0U) << "its slice is not over";
  EXPECT_EQ(turns.at(4ms), 1U);
}

TEST(Rr, ASliceBeginsWhenTheJobBeforeItHasLeft) {
  Rr rr(2ms);
  Turns turns(rr);
  turns.arrives(0);
  turns.arrives(0);
  EXPECT_EQ(turns.at(0ms), 0U);
  EXPECT_EQ(turns.at(2ms), 1U);
  EXPECT_EQ(turns.at(3ms, {{EventKind::Evicted, JobId(0)}}), 1U);
  EXPECT_EQ(turns.plan.wake_at, Time(5ms));
}

TEST(Rr, ASliceIsNotLostToASlowLaunch) {
  Rr rr(2ms);
  Turns turns(rr);
  turns.arrives(0, JobState::ToRun);
  turns.arrives(0);
  EXPECT_EQ(turns.at(0ms), 0U);
  EXPECT_EQ(turns.at(2ms), 0U) << "it has not begun";
  turns.job(0).state = JobState::Running;
  EXPECT_EQ(turns.at(4ms), 1U);
}

TEST(Dprr, WholeMillisecondsCountAndNoMoreThanTwenty) {
  for (const auto& [waited, slice] : {std::pair(Time(2900us), Time(2ms)), std::pair(Time(3ms), Time(2500us)),
                                      std::pair(Time(20ms), Time(11ms)), std::pair(Time(500ms), Time(11ms))}) {
    Dprr dprr;
    Turns turns(dprr);
    turns.arrives(30);
    EXPECT_EQ(turns.at(0ms), 0U);
    turns.arrives(1);
    EXPECT_EQ(turns.at(1ms), 0U) << "no preemption on arrival";
    turns.job(0).state = JobState::Done;
    EXPECT_EQ(turns.at(1ms + waited), 1U);
    EXPECT_EQ(*turns.plan.wake_at - (1ms + waited), slice);
  }
}

TEST(Dprr, TheQueuesSwapWhenTheActiveOneIsEmpty) {
  Dprr dprr;
  Turns turns(dprr);
  for (const std::int32_t priority : {3, 1, 7}) turns.arrives(priority);
  EXPECT_EQ(turns.at(0ms), 2U);
  EXPECT_EQ(turns.plan.wake_at, Time(4ms)) << "(7 + 1) / 2";
  EXPECT_EQ(turns.at(4ms), 0U);
  EXPECT_EQ(turns.plan.wake_at, Time(8ms)) << "priority 3, and 4 for 4 ms";
  EXPECT_EQ(turns.at(8ms), 1U) << "the last one in the active queue";
  EXPECT_EQ(turns.plan.wake_at, Time(13ms)) << "priority 1, and 8 for 8 ms";
  EXPECT_EQ(turns.at(13ms), 2U) << "static priorities again";
  EXPECT_EQ(turns.plan.wake_at, Time(17ms)) << "waiting counts from the swap on";
}

/// What a scheduler needs of each kernel alone, the fake executor knows.
TEST(ScheduleOnFake, GivesSchedulersTheTimesAlone) {
  const Scenario s = read_scenario(kScenarios / "effisha_sjf.toml");
  const ScheduleRun run = schedule_on_fake(s, abstract_target(s), "adaptive");
  EXPECT_EQ(run.jobs.size(), 11U);
  EXPECT_LT(run.antt(), schedule_on_fake(s, abstract_target(s), "arrival").antt()) << "jobs that do not fit together take turns";
}

/// Section 6.4.
TEST(Priority, OnlyRootGoesAboveItsThread) {
  EXPECT_EQ(thread_priority(0), 10);
  EXPECT_EQ(thread_priority(-20), 20);
  EXPECT_EQ(thread_priority(19), 0);
  EXPECT_EQ(granted_priority(std::nullopt, 10, true), 10) << "none is asked for";
  EXPECT_EQ(granted_priority(7, 10, false), 7);
  EXPECT_EQ(granted_priority(10, 10, false), 10);
  EXPECT_EQ(granted_priority(11, 10, false), 10) << "ignored";
  EXPECT_EQ(granted_priority(30, 10, true), 30);
}

}  // namespace
}  // namespace sluice
