// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/brute_force.h"

#include <gtest/gtest.h>

#include "sw/core/errors.h"
#include "sw/partition/waterfill_study.h"

namespace sluice {
namespace {

constexpr SmResources kSlot{0, 0, 0, 1};
const std::vector<SmResources> kTwo{kSlot, kSlot};

TEST(BruteForce, FindsTheHighestMinimum) {
  const auto best = brute_force(std::vector<Profile>{{1, 9, 10}, {5, 6, 10}}, kTwo, {0, 0, 0, 4});
  EXPECT_EQ(best->ctas, (std::vector{CtaCount(2), CtaCount(2)}));  // 0.9 and 0.6; 1+3 leaves 0.1, 3+1 leaves 0.5
}

TEST(BruteForce, PrefersTheHigherSumAmongEqualMinima) {
  const auto best = brute_force(std::vector<Profile>{{4, 5, 8}, {4, 8}}, kTwo, {0, 0, 0, 3});
  EXPECT_EQ(best->ctas, (std::vector{CtaCount(1), CtaCount(2)}));
}

TEST(BruteForce, PrefersTheFirstInLexicographicOrderAmongEquals) {
  const auto best = brute_force(std::vector<Profile>{{1, 2}, {1, 2}}, kTwo, {0, 0, 0, 3});
  EXPECT_EQ(best->ctas, (std::vector{CtaCount(1), CtaCount(2)}));
}

TEST(BruteForce, HasNoAnswerWhenOneCtaOfEachDoesNotFit) {
  EXPECT_FALSE(brute_force(std::vector<Profile>{{1}, {1}}, kTwo, {0, 0, 0, 1}));
}

TEST(BruteForce, RejectsABrokenCurve) {
  EXPECT_THROW((void)brute_force(std::vector<Profile>{{1, -1}}, std::vector{kSlot}, kSlot), InvalidProfile);
}

TEST(WaterfillStudy, FindsWaterfillingOptimalForEveryCurve) {
  const StudyResult result = study_waterfill({.cases = 5000, .seed = 7});
  for (const StudyTally* tally : {&result.concave, &result.arbitrary}) {
    EXPECT_EQ(tally->drawn, 5000U);
    EXPECT_GT(tally->contended, 1000U) << "the cases are too easy to tell anything";
    EXPECT_EQ(tally->mismatches(), 0U) << "seed 7, " << tally->first_mismatch.value_or("");
  }
}

TEST(WaterfillStudy, SeesWhatASaturationThresholdGivesAway) {
  const StudyResult result = study_waterfill({.cases = 2000, .seed = 7, .epsilon = 0.08});
  EXPECT_GT(result.concave.minimum.cases, 0U);
  EXPECT_TRUE(result.concave.first_mismatch);
}

TEST(WaterfillStudy, DrawsTheSameCasesForTheSameSeed) {
  const StudyConfig config{.cases = 500, .seed = 3, .max_kernels = 4, .max_ctas = 12};
  const StudyResult one = study_waterfill(config), two = study_waterfill(config);
  EXPECT_EQ(one.concave.contended, two.concave.contended);
  EXPECT_EQ(one.arbitrary.total.sum, two.arbitrary.total.sum);
}

}  // namespace
}  // namespace sluice
