// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/slate_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// Eight SMs, each of which holds one CTA of the jobs below.
MachineConfig machine() { return small_machine(8, {64, 32768, 49152, 8}); }

/// Kernels that are named after their class, and one of which nothing is known.
const Intensities kIntensities{
    {"L_C", {0.1, 0.1}}, {"M_C", {0.5, 0.1}}, {"H_C", {0.9, 0.1}}, {"M_M", {0.9, 0.5}}, {"H_M", {0, 1}}};

/// Jobs in the scheduler's eyes: named, and all of them ready, in order of arrival.
std::vector<JobView> ready(const std::vector<std::string>& names) {
  std::vector<JobView> jobs(names.size());
  for (std::uint32_t k = 0; k < jobs.size(); ++k) {
    jobs[k].id = JobId(k);
    jobs[k].kernel = job(names[k], 100, 1us).kernel;
    jobs[k].state = JobState::Ready;
    jobs[k].tasks = 100;
  }
  return jobs;
}

/// Who holds which SMs, as text: "1:0-3 0:4-7", or "1:all".
std::string text(const Plan& plan) {
  std::string out;
  for (const JobShare& share : plan.jobs) {
    const SmRange& sms = share.share.sms;
    out += (out.empty() ? "" : " ") + std::to_string(share.job.value()) + ":";
    out += sms == kEverySm ? "all" : std::to_string(sms.first.value()) + "-" + std::to_string(sms.first.value() + sms.count - 1);
  }
  return out;
}

/// The scheduler `slate` and the jobs it is asked about.
struct Scene {
  std::vector<JobView> jobs;
  SlateScheduler slate{8, slate_table_rule(8, kIntensities)};
  int moment = 0;

  std::string decide() { return text(slate.decide(jobs, {}, Time(++moment))); }
  std::string end(std::uint32_t k) {
    jobs[k].state = JobState::Done;
    return decide();
  }
  std::string arrive(const std::string& name) {
    jobs.push_back(ready({name}).front());
    jobs.back().id = JobId(static_cast<std::uint32_t>(jobs.size() - 1));
    return decide();
  }
};

TEST(SlateScheduler, ShrinksForAPartnerAndGrowsWhenItEnds) {
  Scene s{ready({"L_C"})};
  EXPECT_EQ(s.decide(), "0:all");
  EXPECT_EQ(s.arrive("H_M"), "0:0-3 1:4-7");
  EXPECT_EQ(s.decide(), "0:0-3 1:4-7");
  EXPECT_EQ(s.end(0), "1:all");
  EXPECT_EQ(s.arrive("M_C"), "2:0-3 1:4-7") << "on the SMs that were free: the range of job 1 shrinks from below";
  EXPECT_EQ(s.end(1), "2:all");
  EXPECT_EQ(s.end(2), "");
}

TEST(SlateScheduler, ASurvivorKeepsItsRangeBesideTheNextPartner) {
  Scene s{ready({"L_C", "L_C", "M_C"})};
  EXPECT_EQ(s.decide(), "0:0-3 1:4-7");
  EXPECT_EQ(s.end(0), "2:0-3 1:4-7");
}

TEST(SlateScheduler, LooksForThePartnerInOrderOfArrival) {
  Scene s{ready({"M_C", "H_C", "M_M", "H_M", "L_C"})};
  EXPECT_EQ(s.decide(), "0:0-3 3:4-7") << "the first of the queue that table I lets beside M_C";
  EXPECT_EQ(s.end(0), "4:0-3 3:4-7") << "beside H_M";
  EXPECT_EQ(s.end(3), "4:0-3 2:4-7") << "H_C is not complementary to L_C, M_M is";
  EXPECT_EQ(s.end(2), "4:all");
  EXPECT_EQ(s.end(4), "1:all");
}

TEST(SlateScheduler, TheRowIsTheActiveJob) {
  EXPECT_EQ(Scene{ready({"H_C", "M_M"})}.decide(), "0:all");
  EXPECT_EQ(Scene{ready({"M_M", "H_C"})}.decide(), "0:0-3 1:4-7");
}

TEST(SlateScheduler, OrNeitherIs) {
  const std::vector<JobView> jobs = ready({"H_C", "M_M"});
  SchedulerInput input{machine(), {jobs[0].kernel, jobs[1].kernel}};
  input.intensities = kIntensities;
  EXPECT_EQ(text(make_scheduler("slate_symmetric", input)->decide(jobs, {}, Time(1))), "0:0-3 1:4-7");
  EXPECT_EQ(text(make_scheduler("slate", input)->decide(jobs, {}, Time(1))), "0:all");
}

TEST(SlateScheduler, AKernelOfUnknownIntensityRunsSolo) {
  EXPECT_EQ(Scene{ready({"L_C", "new"})}.decide(), "0:all");
  EXPECT_EQ(Scene{ready({"new", "L_C"})}.decide(), "0:all");
}

TEST(SlateScheduler, WithOneSmNothingIsShared) {
  SlateScheduler slate(1, slate_table_rule(1, kIntensities));
  EXPECT_EQ(text(slate.decide(ready({"L_C", "L_C"}), {}, Time(1))), "0:all");
}

TEST(SlateScheduler, AJobIsPassedOverEightTimes) {
  Scene s{ready({"L_C", "H_C"})};
  EXPECT_EQ(s.decide(), "0:all");
  for (std::uint32_t k = 2; k < 10; ++k) {
    EXPECT_EQ(s.arrive("L_C"), "0:0-3 " + std::to_string(k) + ":4-7");
    EXPECT_EQ(s.end(k), "0:all");
  }
  EXPECT_EQ(s.arrive("L_C"), "0:all") << "job 1 is next";
  EXPECT_EQ(s.end(0), "1:all") << "solo, as job 10 is not complementary to it";
  EXPECT_EQ(s.end(1), "10:all");
}

TEST(SlateScheduler, RangesNeverMeetAndEveryJobEnds) {
  const char* names[] = {"L_C", "M_C", "H_C", "M_M", "H_M", "new"};
  std::size_t pairs = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](std::uint32_t low, std::uint32_t high) {
      return low + static_cast<std::uint32_t>(random() % (high - low + 1));
    };
    MachineConfig m = machine();
    m.num_sms = draw(1, 9);
    SchedulerInput input{m, {}};
    input.intensities = kIntensities;
    std::vector<FakeJob> jobs;
    for (std::uint32_t k = draw(1, 12); k > 0; --k) {
      jobs.push_back(job(names[draw(0, 5)], draw(1, 60), Time(draw(1, 50)), Time(draw(0, 1000))));
      input.times[jobs.back().kernel.name] = {draw(1, 100) / 10.0};
    }
    std::ranges::stable_sort(jobs, {}, &FakeJob::arrival);
    for (const char* first : names)
      for (const char* second : names)
        if (m.num_sms > 1)
          input.coruns.push_back({first, second, {draw(1, m.num_sms - 1), draw(0, 10) / 10.0, draw(0, 10) / 10.0}});
    for (const char* name : {"slate", "slate_symmetric", "slate_measured"}) {
      LoggedScheduler scheduler(make_scheduler(name, input));
      ASSERT_TRUE(run_fake(m, jobs, scheduler).finished) << name << ", seed " << seed;
      for (const LoggedDecision& d : scheduler.decisions()) {
        std::vector<int> owners(m.num_sms, 0);
        for (const JobShare& share : d.plan.jobs) {
          const SmRange all = share.share.sms == kEverySm ? SmRange{SmId(0), m.num_sms} : share.share.sms;
          ASSERT_GE(all.count, 1U) << name << ", seed " << seed;
          for (std::uint32_t sm = 0; sm < all.count; ++sm) ++owners.at(all.first.value() + sm);
        }
        const bool any = !d.plan.jobs.empty();
        ASSERT_TRUE(std::ranges::all_of(owners, [&](int n) { return n == (any ? 1 : 0); }))
            << name << ", seed " << seed << ": every SM has one owner: " << text(d.plan);
        pairs += d.plan.jobs.size() == 2 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(pairs, 1000U) << "jobs that share are what this is about";
}

TEST(SlateMeasured, TakesTheMeasuredSplitInEitherOrder) {
  const std::vector<JobView> jobs = ready({"A", "B"});
  const CorunRule rule = slate_measured_rule(machine(), {jobs[0].kernel, jobs[1].kernel}, {{"A", {10}}, {"B", {10}}},
                                             {{"A", "B", {2, 0.9, 0.9}}, {"A", "B", {4, 0.9, 0.6}}});
  EXPECT_EQ(text(SlateScheduler(8, rule).decide(jobs, {}, Time(1))), "0:0-1 1:2-7");
  EXPECT_EQ(text(SlateScheduler(8, rule).decide(ready({"B", "A"}), {}, Time(1))), "0:0-5 1:6-7");
  EXPECT_EQ(text(SlateScheduler(8, rule).decide(ready({"A", "A"}), {}, Time(1))), "0:all") << "never measured";
}

TEST(SlateMeasured, ASurvivorOnTheUpperSmsGetsItsMeasuredShareOfThem) {
  std::vector<JobView> jobs = ready({"A", "B", "C"});
  SlateScheduler slate(8, slate_measured_rule(machine(), {}, {{"A", {10}}, {"B", {10}}, {"C", {10}}},
                                              {{"A", "B", {2, 0.9, 0.9}}, {"B", "C", {5, 0.9, 0.9}}}));
  EXPECT_EQ(text(slate.decide(jobs, {}, Time(1))), "0:0-1 1:2-7");
  jobs[0].state = JobState::Done;
  EXPECT_EQ(text(slate.decide(jobs, {}, Time(2))), "2:0-2 1:3-7");
}

TEST(SlateMeasured, DecidesWhenAJobArrivesOrEndsAndNotBetween) {
  std::vector<JobView> jobs = ready({"A", "B"});
  SlateScheduler slate(8, slate_measured_rule(machine(), {}, {{"A", {20}}, {"B", {1}}, {"C", {1}}}, {{"A", "B", {2, 0.6, 0.6}}}));
  EXPECT_EQ(text(slate.decide(jobs, {}, Time(1))), "0:all") << "a gain of 1.6 per cent";
  jobs[0].tasks_begun = 50;
  EXPECT_EQ(text(slate.decide(jobs, {}, Time(2))), "0:all") << "3.1 per cent of what is left, but nothing happened";
  jobs.push_back(ready({"x", "y", "C"}).back());
  EXPECT_EQ(text(slate.decide(jobs, {}, Time(3))), "0:0-1 1:2-7");
}

TEST(SlateMeasured, CountsWhatIsLeft) {
  std::vector<JobView> jobs = ready({"A", "B"});
  const CorunRule rule = slate_measured_rule(machine(), {}, {{"A", {10}}, {"B", {10}}}, {{"A", "B", {2, 0.6, 0.6}}});
  EXPECT_EQ(text(SlateScheduler(8, rule).decide(jobs, {}, Time(1))), "0:0-1 1:2-7");
  jobs[0].tasks_begun = 97;
  EXPECT_EQ(text(SlateScheduler(8, rule).decide(jobs, {}, Time(1))), "0:all")
      << "little is gained beside what is as good as done";
}

TEST(SlateScheduler, RefusesBrokenProfiles) {
  const auto refusal = [](const std::string& name, const Intensities& intensities, const SoloTimes& times,
                          const std::vector<CorunMeasurement>& pairs) {
    SchedulerInput input{machine(), {job("A", 1, 1us).kernel}};
    input.intensities = intensities;
    input.times = times;
    input.coruns = pairs;
    return test::refusal([&] { (void)make_scheduler(name, input); });
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal("slate", {{"A", {kNan, 0}}}, {}, {}),
            "kernel A: intensity nan: must be finite and at least 0, as a share of the machine's peak");
  EXPECT_EQ(refusal("slate_measured", {}, {}, {}), "kernel A: no time alone");
  EXPECT_EQ(refusal("slate_measured", {}, {{"A", {kNan}}}, {}), "kernel A: time nan alone: must be finite and above 0");
  EXPECT_EQ(refusal("slate_measured", {}, {{"A", {1}}}, {{"A", "B", {8, 1, 1}}}), "A beside B: 8 SMs: must be 1..7");
  EXPECT_EQ(refusal("slate_measured", {}, {{"A", {1}}}, {{"A", "B", {0, 1, 1}}}), "A beside B: 0 SMs: must be 1..7");
  EXPECT_EQ(refusal("slate_measured", {}, {{"A", {1}}}, {{"A", "B", {4, 1, -1}}}),
            "A beside B: speed -1: must be finite and at least 0");
  EXPECT_EQ(refusal("slate_measured", {}, {{"A", {1}}}, {{"A", "B", {4, 1, 1}}}), "accepted");
}

}  // namespace
}  // namespace sluice
