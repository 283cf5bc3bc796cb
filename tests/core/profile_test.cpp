// SPDX-License-Identifier: Apache-2.0
#include "sw/core/profile.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "sw/core/errors.h"

namespace sluice {
namespace {

TEST(PerformanceSteps, KeepsOnlyNewMaxima) {
  const PerformanceSteps steps = performance_steps(Profile{2, 1, 4, 4, 3, 8, 7});
  EXPECT_EQ(steps.performance, (std::vector<double>{0.25, 0.5, 1.0}));
  EXPECT_EQ(steps.cta_count, (std::vector<unsigned>{1, 3, 6}));
}

TEST(PerformanceSteps, StopsAtAnInteriorPeak) {
  EXPECT_EQ(performance_steps(Profile{1, 2, 1, 1}).cta_count, (std::vector<unsigned>{1, 2}));
}

TEST(PerformanceSteps, StartsAtOneCtaEvenWithoutProgress) {
  const PerformanceSteps steps = performance_steps(Profile{0, 0, 5});
  EXPECT_EQ(steps.performance, (std::vector<double>{0, 1}));
  EXPECT_EQ(steps.cta_count, (std::vector<unsigned>{1, 3}));
}

TEST(PerformanceSteps, AsksForOneCtaWhenNothingEverMoves) {
  const PerformanceSteps steps = performance_steps(Profile{0, 0, 0});
  EXPECT_EQ(steps.performance, (std::vector<double>{1}));
  EXPECT_EQ(steps.cta_count, (std::vector<unsigned>{1}));
}

TEST(PerformanceSteps, RejectsWhatIsNoPerformance) {
  EXPECT_THROW((void)performance_steps(Profile{}), InvalidProfile);
  EXPECT_THROW((void)performance_steps(Profile{1, -1}), InvalidProfile);
  EXPECT_THROW((void)performance_steps(Profile{1, std::numeric_limits<double>::quiet_NaN()}), InvalidProfile);
  EXPECT_THROW((void)performance_steps(Profile{std::numeric_limits<double>::infinity()}), InvalidProfile);
}

RC_GTEST_PROP(PerformanceSteps, RiseFromOneCtaToTheKernelsBest, ()) {
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20)));
  const PerformanceSteps steps = performance_steps(Profile(values.begin(), values.end()));
  RC_ASSERT(steps.performance.size() == steps.cta_count.size());
  RC_ASSERT(steps.cta_count.front() == 1U);
  RC_ASSERT(steps.performance.back() == 1.0);
  RC_ASSERT(std::ranges::adjacent_find(steps.performance, std::greater_equal{}) == steps.performance.end());
  RC_ASSERT(std::ranges::adjacent_find(steps.cta_count, std::greater_equal{}) == steps.cta_count.end());
}

}  // namespace
}  // namespace sluice
