// SPDX-License-Identifier: Apache-2.0
#include "sw/core/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace sluice {
namespace {

// Kernel 1 takes twice as long beside kernel 2, kernel 2 four times.
constexpr std::array<Turnaround, 2> kMix{{{100, 200}, {50, 200}}};

TEST(Metrics, SpeedupAndNormalisedTurnaroundAreReciprocal) {
  EXPECT_DOUBLE_EQ(speedup(kMix[0]), 0.5);
  EXPECT_DOUBLE_EQ(ntt(kMix[0]), 2.0);
}

TEST(Metrics, StpSumsSpeedups) { EXPECT_DOUBLE_EQ(stp(kMix), 0.75); }

TEST(Metrics, AnttIsTheMeanTurnaround) { EXPECT_DOUBLE_EQ(antt(kMix), 3.0); }

TEST(Metrics, FairnessIsTheSmallestSpeedup) { EXPECT_DOUBLE_EQ(min_speedup(kMix), 0.25); }

TEST(Metrics, KernelsThatDoNotDisturbEachOtherScoreK) {
  constexpr std::array<Turnaround, 3> kUndisturbed{{{7, 7}, {8, 8}, {9, 9}}};
  EXPECT_DOUBLE_EQ(stp(kUndisturbed), 3.0);
  EXPECT_DOUBLE_EQ(antt(kUndisturbed), 1.0);
  EXPECT_DOUBLE_EQ(min_speedup(kUndisturbed), 1.0);
}

TEST(Metrics, GeometricMeanOfReciprocalsIsOne) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::array{4.0, 0.25}), 1.0);
  EXPECT_DOUBLE_EQ(geometric_mean(std::array{2.0, 8.0}), 4.0);
  EXPECT_DOUBLE_EQ(geometric_mean({}), 0.0);
}

}  // namespace
}  // namespace sluice
