// SPDX-License-Identifier: Apache-2.0
// The scheduler of docs/developer/add_a_scheduler.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "sw/scheduler/one_at_a_time.h"
#include "tests/scheduler/jobs.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

// [walk-through]
/// Who has the fewest CTAs left goes first, and gives way to a newcomer with fewer.
class FewestLeft : public OneAtATime {
 private:
  static std::uint64_t left(const JobView* job) { return job->tasks - job->tasks_begun; }
  const JobView& choose(Jobs ready, const JobView*, Time) override { return **std::ranges::min_element(ready, {}, left); }
};

TEST(FewestLeft, GivesWayToAShorterJob) {
  const std::vector<FakeJob> jobs{job("long", 80, 10us), job("short", 8, 10us, 15us)};
  FewestLeft scheduler;
  const FakeResult r = run_fake(small_machine(1, {1536, 32768, 49152, 8}), jobs, scheduler);
  EXPECT_TRUE(r.finished);
  EXPECT_EQ(r.jobs[1].began, Time(20us)) << "the long job's CTAs end";
  EXPECT_EQ(r.jobs[1].ended, Time(30us));
  EXPECT_EQ(r.jobs[0].ended, Time(110us)) << "80 tasks, eight at a time, and 10 us for the short job";
  EXPECT_EQ(r.jobs[0].evictions, 1U);
}
// [end]

}  // namespace
}  // namespace sluice
