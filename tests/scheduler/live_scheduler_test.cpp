// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/live_scheduler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/registry.h"
#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

MachineConfig machine() { return small_machine(2, {1536, 32768, 49152, 8}); }

/// Names that a service can take.
std::vector<std::string_view> live_names() {
  std::vector<std::string_view> names;
  for (const std::string_view name : scheduler_names())
    if (test::refusal([&] { (void)make_live_scheduler(name, machine(), test::counts({3, 2})); }) == "accepted")
      names.push_back(name);
  return names;
}

TEST(LiveScheduler, EveryOneEndsJobsThatNobodyKnewBeforehand) {
  ASSERT_GT(live_names().size(), 10U);
  for (const std::string_view name : live_names()) {
    const auto scheduler = make_live_scheduler(name, machine(), {CtaCount(3), CtaCount(2)});
    FakeExecutor executor(machine(), *scheduler);
    std::vector<JobId> jobs;
    for (std::uint32_t k = 0; k < 12; ++k) {
      jobs.push_back(executor.submit(job(fmt::format("K{}", k % 3), 10 + k, 10us, Time(k * 7us), k == 4 ? 20000 : 1024)));
      executor.advance(Time(k * 7us));
    }
    while (executor.next()) executor.advance(*executor.next());
    for (const JobId id : jobs) EXPECT_EQ(executor.progress(id).state, JobState::Done) << name << ", job " << id.value();
  }
}

TEST(LiveScheduler, StaticCountsAreOfTheOldestJobs) {
  LoggedScheduler scheduler(make_live_scheduler("static", machine(), {CtaCount(3), CtaCount(2)}));
  FakeExecutor executor(machine(), scheduler);
  for (const char* name : {"A", "B", "C"}) executor.submit(job(name, 40, 10us));
  executor.advance(Time(0));
  const Plan& plan = scheduler.decisions().front().plan;
  ASSERT_EQ(plan.jobs.size(), 2U);
  EXPECT_EQ(plan.jobs[0].share.ctas, CtaCount(3));
  EXPECT_EQ(plan.jobs[1].share.ctas, CtaCount(2));
  EXPECT_NE(plan.reason.find("2 of 3 jobs share the machine: policy static: 2 CTA counts for 3 kernels"), std::string::npos)
      << plan.reason;
}

TEST(LiveScheduler, RefusesWhatHasToKnowTheKernelsBefore) {
  for (const auto& [name, said] : {std::pair{"adaptive", "times"},
                                   {"slate_measured", "times"},
                                   {"solo_curve", "curves"},
                                   {"oracle", "must be one of"},
                                   {"static", "--ctas"},
                                   {"evn", "must be one of"}}) {
    const std::string what = test::refusal([&] { (void)make_live_scheduler(name, machine()); });
    EXPECT_NE(what.find(said), std::string::npos) << name << ": " << what;
  }
}

TEST(FakeExecutor, AJobThatIsLostLeavesItsPlaceAtOnce) {
  const auto scheduler = make_live_scheduler("arrival", machine());
  FakeExecutor executor(machine(), *scheduler);
  const JobId a = executor.submit(job("A", 1000, 10us)), b = executor.submit(job("B", 16, 10us, 5us));
  executor.advance(25us);
  EXPECT_EQ(executor.progress(a).outcome.tasks_done, 32U);
  EXPECT_EQ(executor.progress(a).outcome.held, Time(25us));
  EXPECT_EQ(executor.progress(b).state, JobState::Ready);
  executor.lose(a, 25us);
  executor.advance(25us);
  EXPECT_EQ(executor.progress(a).state, JobState::Lost);
  EXPECT_EQ(executor.progress(b).state, JobState::Running);
  executor.forget(a);
  executor.advance(35us);
  EXPECT_EQ(executor.progress(b).state, JobState::Done);
  EXPECT_EQ(executor.progress(b).outcome.ended, Time(35us)) << "all 16 tasks at once";
  EXPECT_FALSE(executor.next());
}

}  // namespace
}  // namespace sluice
