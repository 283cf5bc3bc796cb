// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/watchdog.h"

#include <gtest/gtest.h>

namespace sluice::gpu {
namespace {

using std::chrono::milliseconds;

/// A job under the watchdog, and its clock.
struct Job {
  Watchdog dog{milliseconds(100), 8};
  Watchdog::Time now{};
  QuotaTable quota{1, 1, 0};
  std::uint64_t done = 0;

  /// Time passes, and the host looks. @return it raised the quotas
  bool after(milliseconds passed, std::uint64_t resident) {
    now += passed;
    const auto raised = dog.look(now, done, resident, quota);
    if (raised) quota = *raised;
    return raised.has_value();
  }
};

TEST(Watchdog, RaisesStepByStepToAllThatFitsAndThenOpensOtherSms) {
  Job job;
  std::vector<QuotaTable> steps;
  for (int look = 0; look < 200; ++look)
    if (job.after(milliseconds(10), job.quota[0] + job.quota[1] + job.quota[2])) steps.push_back(job.quota);
  EXPECT_EQ(steps, (std::vector<QuotaTable>{{2, 2, 0}, {4, 4, 0}, {8, 8, 0}, {8, 8, 1}, {8, 8, 2}, {8, 8, 4}, {8, 8, 8}}));
  EXPECT_EQ(job.dog.raises(), 7U);
}

TEST(Watchdog, WaitsForTheWholeBoundBetweenSteps) {
  Job job;
  EXPECT_FALSE(job.after(milliseconds(0), 2));
  EXPECT_FALSE(job.after(milliseconds(99), 2));
  EXPECT_TRUE(job.after(milliseconds(1), 2));
  EXPECT_FALSE(job.after(milliseconds(99), 4));
  EXPECT_FALSE(job.after(milliseconds(99), 4));
  EXPECT_TRUE(job.after(milliseconds(1), 4));
}

TEST(Watchdog, LeavesAJobAloneThatEndsBlocks) {
  Job job;
  for (int look = 0; look < 100; ++look) {
    ++job.done;
    EXPECT_FALSE(job.after(milliseconds(99), 2));
  }
  EXPECT_EQ(job.dog.raises(), 0U);
}

TEST(Watchdog, LeavesAJobAloneThatIsNotAllThereOrEvicted) {
  Job job;
  for (int look = 0; look < 10; ++look) EXPECT_FALSE(job.after(milliseconds(99), 1));
  job.quota = {0, 0, 0};
  for (int look = 0; look < 10; ++look) EXPECT_FALSE(job.after(milliseconds(99), 0));
}

}  // namespace
}  // namespace sluice::gpu
