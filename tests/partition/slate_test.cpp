// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "sw/core/errors.h"
#include "sw/partition/corun_split.h"
#include "sw/partition/slate_table.h"
#include "sw/partition/slate_tasks.h"

namespace sluice {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(SlateTable, HasTheTwentyFiveCellsAsPrinted) {
  constexpr SlateClass kClasses[] = {SlateClass::LowCompute, SlateClass::MediumCompute, SlateClass::HighCompute,
                                     SlateClass::MediumMemory, SlateClass::HighMemory};
  const char* printed[] = {
      "L_C corun corun solo corun corun",  //
      "M_C corun corun solo solo corun",   //
      "H_C solo solo solo solo corun",     //
      "M_M corun solo corun solo solo",    //
      "H_M corun corun solo solo solo",
  };
  for (std::size_t row = 0; row < 5; ++row) {
    std::string text(to_string(kClasses[row]));
    for (const SlateClass column : kClasses) text += slate_corun(kClasses[row], column) ? " corun" : " solo";
    EXPECT_EQ(text, printed[row]);
  }
}

TEST(SlateTable, TheSymmetricOneSharesWhereEitherOrderMay) {
  std::string changed;
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 5; ++column) {
      const auto active = static_cast<SlateClass>(row), candidate = static_cast<SlateClass>(column);
      const bool may = slate_corun(active, candidate, SlateTable::Symmetric);
      EXPECT_EQ(may, slate_corun(candidate, active, SlateTable::Symmetric));
      EXPECT_TRUE(may || !slate_corun(active, candidate)) << "takes nothing away";
      if (may != slate_corun(active, candidate))
        changed += std::string(to_string(active)) + " " + std::string(to_string(candidate)) + ", ";
    }
  EXPECT_EQ(changed, "H_C M_M, H_M H_C, ");
}

TEST(SlateTable, PutsTheFiveKernelsOfTableTwoWhereThePaperHasThem) {
  // GFLOP/s and GB/s alone on a Titan Xp.
  const auto of = [](double gflops, double bandwidth) {
    return slate_class({gflops / 12150, bandwidth / 547.6, ComputeShare::PeakFlops});
  };
  EXPECT_EQ(of(161.3, 401.49), SlateClass::MediumMemory) << "BlackScholes";
  EXPECT_EQ(of(19.6, 340.9), SlateClass::MediumMemory) << "Gaussian";
  EXPECT_EQ(of(1525, 403.5), SlateClass::MediumMemory) << "SGEMM: memory comes before compute";
  EXPECT_EQ(of(4.2, 71.6), SlateClass::LowCompute) << "QuasiRandom";
  EXPECT_EQ(of(0, 568.6), SlateClass::HighMemory) << "Transpose";
  // Their compute intensities, beside a memory intensity that tells nothing.
  EXPECT_EQ(of(161.3, 0), SlateClass::MediumCompute);
  EXPECT_EQ(of(19.6, 0), SlateClass::LowCompute);
  EXPECT_EQ(of(1525, 0), SlateClass::HighCompute);
}

TEST(SlateTable, AThresholdBelongsToTheHigherLevel) {
  EXPECT_EQ(slate_class({0.25, 0}), SlateClass::MediumCompute);
  EXPECT_EQ(slate_class({0.65, 0.2899}), SlateClass::HighCompute);
  EXPECT_EQ(slate_class({0.04, 0, ComputeShare::PeakFlops}), SlateClass::HighCompute);
  EXPECT_EQ(slate_class({0.0399, 0, ComputeShare::PeakFlops}), SlateClass::MediumCompute);
  EXPECT_EQ(slate_class({1, 0.29}), SlateClass::MediumMemory);
  EXPECT_EQ(slate_class({0, 0.87}), SlateClass::HighMemory);
}

TEST(SlateTable, RefusesIntensitiesThatAreNone) {
  for (const Intensity& broken : {Intensity{-0.1, 0}, Intensity{0, kNan}, Intensity{std::numeric_limits<double>::infinity(), 0}})
    EXPECT_THROW((void)slate_class(broken), InputError);
}

TEST(SlateTasks, HoldEveryBlockOnceAndInOrder) {
  for (const std::uint32_t blocks : {1U, 9U, 10U, 11U, 384U})
    for (const std::uint32_t size : {1U, 2U, 10U, 100U}) {
      std::uint32_t next = 0;
      for (std::uint32_t t = 0; t < slate_tasks(blocks, size); ++t) {
        const SlateTask task = slate_task(t, blocks, size);
        EXPECT_EQ(task.first, next);
        EXPECT_GE(task.blocks, 1U);
        EXPECT_LE(task.blocks, size);
        next += task.blocks;
      }
      EXPECT_EQ(next, blocks) << "tasks of " << size;
      EXPECT_EQ(slate_task(slate_tasks(blocks, size), blocks, size).blocks, 0U) << "another worker asks when all is gone";
    }
}

TEST(CorunSplit, TakesTheSplitThatEndsFirst) {
  // 10 and 10 to do. At 8 SMs: the first is done at 12.5, the second then has 2.5 left: 15. At 16: 12.5 for both.
  const std::vector<CorunRate> rates{{8, 0.8, 0.6}, {16, 0.8, 0.8}, {24, 0.9, 0.5}};
  const auto split = best_split(10, 10, rates);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->first_sms, 16U);
  EXPECT_DOUBLE_EQ(split->makespan, 12.5);
  EXPECT_DOUBLE_EQ(best_split(10, 10, std::vector{rates[0]})->makespan, 15);
}

TEST(CorunSplit, DependsOnWhatIsLeft) {
  const std::vector<CorunRate> rates{{8, 0.4, 0.9}, {24, 0.9, 0.4}};
  EXPECT_EQ(best_split(90, 40, rates)->first_sms, 24U);
  EXPECT_EQ(best_split(40, 90, rates)->first_sms, 8U);
}

TEST(CorunSplit, HasNoneWhereTheGainIsTooSmall) {
  EXPECT_FALSE(best_split(10, 10, std::vector{CorunRate{16, 0.5, 0.5}})) << "as long as one after the other";
  EXPECT_FALSE(best_split(10, 10, std::vector{CorunRate{16, 0.505, 0.505}})) << "one per cent";
  EXPECT_TRUE(best_split(10, 10, std::vector{CorunRate{16, 0.515, 0.515}})) << "three per cent";
  EXPECT_FALSE(best_split(10, 10, std::vector{CorunRate{16, 1, 0}})) << "the second would stand still";
  EXPECT_FALSE(best_split(10, 10, {})) << "never measured";
}

TEST(CorunSplit, RefusesSpeedsAndTimesThatAreNone) {
  EXPECT_THROW((void)best_split(kNan, 1, {}), InputError);
  EXPECT_THROW((void)best_split(1, -1, {}), InputError);
  EXPECT_THROW((void)best_split(1, 1, std::vector{CorunRate{16, kNan, 1}}), InputError);
  EXPECT_THROW((void)best_split(1, 1, std::vector{CorunRate{16, 1, -1}}), InputError);
}

}  // namespace
}  // namespace sluice
