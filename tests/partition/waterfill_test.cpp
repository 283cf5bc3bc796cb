// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/waterfill.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "sw/core/errors.h"
#include "sw/partition/warped_slicer.h"
#include "tests/partition/random_mix.h"
#include "tests/support.h"

namespace sluice {
namespace {

using test::counts;
using test::random_mix;
using test::RandomMix;

constexpr SmResources kFermi{1536, 32768, 49152, 8};
constexpr SmResources kHot{256, 9216, 3072, 1}, kDxt{64, 2304, 2048, 1};

/// An SM that is `slots` CTA slots and nothing else.
constexpr SmResources slots(std::uint32_t n) { return {0, 0, 0, n}; }

double lowest(const std::optional<WaterfillResult>& result) { return std::ranges::min(result->performance); }

TEST(Waterfill, RaisesTheWorstOffKernel) {
  const std::vector<Profile> profiles{{0.5, 0.8, 1.0}, {0.25, 0.5, 0.75, 1.0}};
  const auto result = waterfill(profiles, std::vector{slots(1), slots(1)}, slots(5));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ctas, counts({2, 3}));  // 1,1 -> 1,2 -> (tie at 0.5) 2,2 -> 2,3
  EXPECT_EQ(result->performance, (std::vector<double>{0.8, 0.75}));
}

TEST(Waterfill, GivesHotTwoAndDxtSixOnTheTableOneMachine) {
  // Both scale with their CTAs, HOT to the 3 that its registers allow, DXT to 8: the published split of the pair.
  const std::vector<Profile> profiles{{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const auto result = waterfill(profiles, std::vector{kHot, kDxt}, kFermi);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ctas, counts({2, 6}));
}

TEST(Waterfill, JumpsOverAPlateau) {
  const auto result = waterfill(std::vector<Profile>{{5, 5, 4, 10}, {10}}, std::vector{slots(1), slots(1)}, slots(5));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ctas, counts({4, 1}));
}

TEST(Waterfill, DoesNotPayForAPlateauItCannotCross) {
  const auto result = waterfill(std::vector<Profile>{{5, 5, 4, 10}, {10}}, std::vector{slots(1), slots(1)}, slots(4));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ctas, counts({1, 1}));
}

TEST(Waterfill, AStepThatDoesNotFitStopsOnlyItsKernel) {
  const std::vector<SmResources> demand{{0, 8, 0, 1}, {0, 1, 0, 1}};
  const auto result = waterfill(std::vector<Profile>{{1, 4}, {2, 3, 4}}, demand, {0, 12, 0, 8});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ctas, counts({1, 3}));
}

TEST(Waterfill, TiesGoToTheLowestIndex) {
  const auto result = waterfill(std::vector<Profile>{{1, 2}, {1, 2}}, std::vector{slots(1), slots(1)}, slots(3));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->ctas, counts({2, 1}));
}

TEST(Waterfill, ATieForTheLowestIndexCanCostTheSumButNotTheMinimum) {
  // Three slots, both kernels at 1/2 with one CTA: the first gains little by its second CTA, the second would double.
  const std::vector<Profile> profiles{{4, 5, 8}, {4, 8}};
  const std::vector<SmResources> demand{slots(1), slots(1)};
  EXPECT_EQ(waterfill(profiles, demand, slots(3))->ctas, counts({2, 1})) << "1 and 2 have the same minimum and the higher sum";
}

TEST(Waterfill, HasNoAnswerWhenOneCtaOfEachDoesNotFit) {
  EXPECT_FALSE(waterfill(std::vector<Profile>{{1}, {1}}, std::vector{slots(1), slots(1)}, slots(1)));
}

TEST(Waterfill, LeavesSlotsEmptyBelowTheSaturationThreshold) {
  const std::vector<Profile> profiles{{0.90, 0.95, 1.0}};
  const std::vector<SmResources> demand{slots(1)};
  EXPECT_EQ(waterfill(profiles, demand, slots(3))->ctas, counts({3}));
  EXPECT_EQ(waterfill(profiles, demand, slots(3), 0.06)->ctas, counts({1}));
}

TEST(Waterfill, TheSaturationThresholdCountsPerCta) {
  const std::vector<Profile> profiles{{0.75, 0.75, 1.0}};  // a quarter for two CTAs: an eighth each
  const std::vector<SmResources> demand{slots(1)};
  EXPECT_EQ(waterfill(profiles, demand, slots(3), 0.12)->ctas, counts({3}));
  EXPECT_EQ(waterfill(profiles, demand, slots(3), 0.125)->ctas, counts({1}));
}

TEST(Waterfill, RejectsABrokenCurve) {
  EXPECT_THROW((void)waterfill(std::vector<Profile>{{}}, std::vector{slots(1)}, slots(1)), InvalidProfile);
}

RC_GTEST_PROP(Waterfill, NeverExceedsAnyResource, ()) {
  const RandomMix mix = *random_mix();
  const auto result = waterfill(mix.profiles, mix.demand, mix.capacity);
  RC_PRE(result.has_value());
  SmResources left = mix.capacity;
  for (std::size_t k = 0; k < mix.demand.size(); ++k) {
    RC_ASSERT(result->ctas[k] >= CtaCount(1));
    RC_ASSERT(fits(mix.demand[k], left, result->ctas[k]));
    left = take(left, mix.demand[k], result->ctas[k]);
  }
}

TEST(Waterfill, ReachesTheBestMinimumOfAnyCurve) {
  unsigned contended = 0;
  for (std::uint64_t seed = 1; seed <= 10000; ++seed) {
    const RandomMix mix = random_mix(seed);
    const auto greedy = waterfill(mix.profiles, mix.demand, mix.capacity);
    const auto best = test::best_minimum(mix, [&](std::size_t k, std::uint32_t ctas) {
      const double most = std::ranges::max(mix.profiles[k]);
      return most > 0 ? mix.profiles[k][ctas - 1] / most : 1;
    });
    ASSERT_EQ(greedy.has_value(), best.has_value()) << mix << ", seed " << seed;
    if (!greedy) continue;
    ASSERT_EQ(lowest(greedy), *best) << mix << ", seed " << seed;
    contended += *best < 1 ? 1 : 0;
  }
  EXPECT_GT(contended, 2500U) << "the cases are too easy to tell anything";
}

RC_GTEST_PROP(Waterfill, LeavesNoStepThatFits, ()) {
  const RandomMix mix = *random_mix();
  const auto result = waterfill(mix.profiles, mix.demand, mix.capacity);
  RC_PRE(result.has_value());
  SmResources left = mix.capacity;
  for (std::size_t k = 0; k < mix.demand.size(); ++k) left = take(left, mix.demand[k], result->ctas[k]);
  for (std::size_t k = 0; k < mix.demand.size(); ++k) {
    const PerformanceSteps steps = performance_steps(mix.profiles[k]);
    const auto next = std::ranges::upper_bound(steps.cta_count, result->ctas[k].value());
    if (next == steps.cta_count.end()) continue;
    RC_ASSERT(!fits(mix.demand[k], left, CtaCount(*next - result->ctas[k].value())));
  }
}

RC_GTEST_PROP(Waterfill, IgnoresTheUnitOfPerformance, ()) {
  RandomMix mix = *random_mix();
  const auto before = waterfill(mix.profiles, mix.demand, mix.capacity);
  for (Profile& profile : mix.profiles) {
    for (double& value : profile) value *= 1024;
  }
  const auto after = waterfill(mix.profiles, mix.demand, mix.capacity);
  RC_ASSERT(before.has_value() == after.has_value());
  if (before) RC_ASSERT(before->ctas == after->ctas);
}

RC_GTEST_PROP(Waterfill, MinimumNeverFallsWhenTheSmGrows, ()) {
  const RandomMix mix = *random_mix();
  const auto small = waterfill(mix.profiles, mix.demand, mix.capacity);
  RC_PRE(small.has_value());
  SmResources more = mix.capacity;
  more.registers += *rc::gen::inRange(0U, 16U);
  more.cta_slots += *rc::gen::inRange(0U, 4U);
  RC_ASSERT(lowest(waterfill(mix.profiles, mix.demand, more)) >= lowest(small));
}

MachineConfig fermi(double loss_limit = 1.2) {
  MachineConfig machine;
  machine.num_sms = 16;
  machine.sm.capacity = kFermi;
  machine.partitioner.loss_limit = loss_limit;
  return machine;
}
const std::vector<SmResources> kHotDxt{kHot, kDxt};

TEST(LossGuard, AllowsSixTenthsForTwoKernels) {
  EXPECT_TRUE(loss_acceptable(std::array{1.0, 0.41}));
  EXPECT_FALSE(loss_acceptable(std::array{1.0, 0.39}));
}

TEST(LossGuard, AllowsFourTenthsForThreeKernels) {
  EXPECT_TRUE(loss_acceptable(std::array{0.61, 1.0, 1.0}));
  EXPECT_FALSE(loss_acceptable(std::array{0.59, 1.0, 1.0}));
}

TEST(LossGuard, AcceptsALossAtTheLimit) { EXPECT_TRUE(loss_acceptable(std::array{0.5, 1.0}, 1.0)); }

TEST(LossGuard, NeverTripsForOneKernel) { EXPECT_TRUE(loss_acceptable(std::array{0.0})); }

TEST(WarpedSlicerPartition, SharesTheSmWhenNobodyLosesTooMuch) {
  const std::vector<Profile> profiles{{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Partition partition = warped_slicer_partition(profiles, kHotDxt, fermi());
  EXPECT_EQ(partition, on_every_sm(std::array{CtaCount(2), CtaCount(6)}));
}

TEST(WarpedSlicerPartition, FallsBackToSpatialOccupancyWhenTheGuardTrips) {
  const MachineConfig strict = fermi(0.4);  // of 1/K: at most 20 %, and HOT keeps two thirds
  const std::vector<Profile> profiles{{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Partition partition = warped_slicer_partition(profiles, kHotDxt, strict);
  EXPECT_EQ(partition, on_own_sms(std::array{CtaCount(3), CtaCount(8)}, 16));
}

TEST(WarpedSlicerPartition, FallsBackToSpatialWhenOneCtaOfEachDoesNotFit) {
  const std::vector<SmResources> large{{1024, 20000, 0, 1}, {1024, 20000, 0, 1}};
  const Partition partition = warped_slicer_partition(std::vector<Profile>{{1}, {1}}, large, fermi());
  EXPECT_EQ(partition, on_own_sms(std::array{CtaCount(1), CtaCount(1)}, 16));
}

}  // namespace
}  // namespace sluice
