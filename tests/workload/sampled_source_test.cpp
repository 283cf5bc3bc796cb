// SPDX-License-Identifier: Apache-2.0
// Which CTAs of a grid are simulated, and what is concluded of the others.
#include "sw/workload/sampled_source.h"

#include <gtest/gtest.h>

#include <random>

#include "sw/core/errors.h"

namespace sluice {
namespace {

TEST(SamplePlan, HasBlocksOfNeighboursOverTheWholeGrid) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto to = [&](std::uint32_t most) { return 1 + static_cast<std::uint32_t>(random() % most); };
    const std::uint32_t resident = to(2000), grid = to(2000000), ratio = to(200);
    const auto plan = SamplePlan::of(grid, resident, ratio);
    ASSERT_EQ(plan.has_value(), ratio > 1 && grid / 2 >= 32 * resident) << grid << " " << resident << " " << ratio;
    if (!plan) continue;
    const std::uint32_t all = plan->simulated();
    EXPECT_LE(all, grid / 2);
    EXPECT_GE(all, 32 * resident);
    EXPECT_LE(all, grid / std::min(ratio, grid / (32 * resident)));
    EXPECT_EQ(plan->index(0), 0U);
    EXPECT_EQ(plan->index(all - 1), grid - 1);
    std::uint32_t jumps = 0;
    for (std::uint32_t i = 1; i < all; ++i) {
      ASSERT_GT(plan->index(i), plan->index(i - 1));
      jumps += plan->index(i) != plan->index(i - 1) + 1 ? 1 : 0;
    }
    EXPECT_GE(jumps, 7U) << "eight blocks at least";
    EXPECT_LE(jumps, 63U);
  }
}

/// Begins of CTAs whose rate is `cycles` a CTA at each place of the grid, as a machine shows them that holds `resident`.
std::vector<std::uint64_t> begins(const SamplePlan& plan, std::uint32_t resident,
                                  const std::function<double(std::uint32_t)>& cycles) {
  std::vector<std::uint64_t> begun(plan.simulated(), 0);
  double now = 5000;
  for (std::uint32_t i = resident; i < plan.simulated(); ++i) {
    now += cycles(plan.index(i - resident));
    begun[i] = static_cast<std::uint64_t>(now);
  }
  return begun;
}

TEST(SamplePlan, WhatIsLeftOutGoesAtTheRateOfItsNeighbours) {
  constexpr std::uint32_t kGrid = 1000000, kResident = 128;
  const auto plan = SamplePlan::of(kGrid, kResident, 20);
  ASSERT_TRUE(plan);
  const double out = kGrid - plan->simulated();
  const auto even = plan->left_out(begins(*plan, kResident, [](auto) { return 25.0; }), {}, 0);
  EXPECT_NEAR(even.cycles, 25 * out, 25 * out * 1e-3);
  EXPECT_LT(even.interval, even.cycles * 1e-3);
  const auto least = SamplePlan::of(20 * 32 * kResident, kResident, 20);  // CTAs that end together
  ASSERT_TRUE(least);
  std::vector<std::uint64_t> waves(least->simulated());
  for (std::uint32_t i = 0; i < least->simulated(); ++i) waves[i] = 5000 + i / kResident * kResident * 25;
  EXPECT_DOUBLE_EQ(least->left_out(waves, {}, 0).cycles, 25.0 * (least->grid() - least->simulated()));
  const auto twice = [](std::uint32_t cta) { return cta < kGrid / 2 ? 20.0 : 40.0; };
  const auto phases = plan->left_out(begins(*plan, kResident, twice), {}, 0);
  EXPECT_NEAR(phases.cycles, 30 * out, 30 * out * 0.01) << "two phases";
  EXPECT_GT(phases.interval, phases.cycles * 0.02);
  const auto rises = plan->left_out(begins(*plan, kResident, [](std::uint32_t cta) { return 10 + cta * 40.0 / kGrid; }), {}, 0);
  EXPECT_NEAR(rises.cycles, 30 * out, 30 * out * 0.01);
}

/// Beside another launch a CTA takes 40 cycles, alone 10. In the simulation the other's end comes when 3 of 10 have run, in the
/// whole when half have.
TEST(SamplePlan, WhereAnotherEndsTheRateChanges) {
  constexpr std::uint32_t kGrid = 1000000, kResident = 128;
  const auto plan = SamplePlan::of(kGrid, kResident, 20);
  ASSERT_TRUE(plan);
  const auto begun = begins(*plan, kResident, [](std::uint32_t cta) { return cta < 3 * kGrid / 10 ? 40.0 : 10.0; });
  const double seen = static_cast<double>(begun[plan->simulated() * 3 / 10]);
  const auto estimate = plan->left_out(begun, {{seen, 40.0 * kGrid / 2}}, 0);
  const double all = 25.0 * kGrid, simulated = (0.3 * 40 + 0.7 * 10) * plan->simulated();
  EXPECT_NEAR(estimate.cycles + simulated, all, all * 0.01);
  EXPECT_LT(estimate.interval, all * 0.01);
}

/// The other ends behind all samples, but in the whole when half have run: no block has the rate from there on.
TEST(SamplePlan, ARateThatNoBlockHasMakesTheIntervalAsLongAsWhatGoesAtIt) {
  constexpr std::uint32_t kGrid = 1000000, kResident = 128;
  const auto plan = SamplePlan::of(kGrid, kResident, 20);
  ASSERT_TRUE(plan);
  const auto begun = begins(*plan, kResident, [](std::uint32_t) { return 40.0; });
  const double after = static_cast<double>(begun.back()) + 1;
  EXPECT_GT(plan->left_out(begun, {{after, 40.0 * kGrid / 2}}, 0).interval, 40.0 * kGrid * 0.4);
}

TEST(SamplePlan, BehindThoseThatHaveBegunTheBlocksAreOverTheRest) {
  constexpr std::uint32_t kGrid = 20480, kResident = 32, kBegun = 450;  // slate's GS beside RG, 1 in 20
  const auto all = SamplePlan::of(kGrid, kResident, 20);
  ASSERT_TRUE(all);
  const auto plan = all->behind(kBegun);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->simulated(), all->simulated());
  for (std::uint32_t i = 0; i < kBegun; ++i) ASSERT_EQ(plan->index(i), i);
  for (std::uint32_t i = 1; i < plan->simulated(); ++i) ASSERT_GT(plan->index(i), plan->index(i - 1));
  EXPECT_EQ(plan->index(plan->simulated() - 1), kGrid - 1);
  const auto rate = [](std::uint32_t cta) { return cta < kBegun ? 170.0 : 60.0; };  // before the decision, and since
  const auto begun = begins(*plan, kResident, rate);
  const double decided = static_cast<double>(begun[kBegun]);
  const auto estimate = plan->left_out(begun, {{decided, decided}}, 0);
  EXPECT_NEAR(estimate.cycles, 60.0 * (kGrid - plan->simulated()), 60.0 * kGrid * 1e-3);
  EXPECT_LT(estimate.interval, estimate.cycles * 1e-2);
  EXPECT_EQ(estimate.before(decided), 0);
  EXPECT_FALSE(all->behind(all->simulated() - 1));
}

/// A grid that is read in order, one CTA a time.
class Counted : public IInstructionSource {
 public:
  [[nodiscard]] std::uint32_t num_registers() const override { return 1; }
  std::uint32_t begin_cta(std::uint32_t cta) override {
    EXPECT_EQ(cta, next_++);
    ++open;
    return cta;
  }
  void end_cta(std::uint32_t) override { --open; }
  Instruction next(WarpCursor& cursor) const override {
    EXPECT_EQ(cursor.cta, cursor.handle);
    ++cursor.position;
    return {};
  }
  void lines(const WarpCursor& cursor, std::uint32_t, std::vector<LineAccess>&) const override {
    EXPECT_EQ(cursor.cta, cursor.handle);
  }
  int open = 0;

 private:
  std::uint32_t next_ = 0;
};

TEST(SampledSource, ReadsTheGridInOrderAndNamesItsCtas) {
  auto counted = std::make_unique<Counted>();
  Counted& grid = *counted;
  const auto plan = SamplePlan::of(100000, 64, 20);
  ASSERT_TRUE(plan);
  SampledSource sampled(
      std::move(counted), *plan, [] { return 0; }, [] { return false; });
  for (std::uint32_t i = 0; i < plan->simulated(); ++i) {
    WarpCursor cursor;
    cursor.cta = i;
    cursor.handle = sampled.begin_cta(i);
    EXPECT_EQ(cursor.handle, plan->index(i));
    std::vector<LineAccess> lines;
    (void)sampled.next(cursor);
    sampled.lines(cursor, 0, lines);
    EXPECT_EQ(cursor.cta, i);
    EXPECT_EQ(cursor.position, 1U);
  }
  EXPECT_EQ(grid.open, static_cast<int>(plan->simulated()));
}

TEST(SampledSource, LeavesNothingOutUntilThePartitionIsDecided) {
  const auto plan = SamplePlan::of(100000, 64, 20);
  ASSERT_TRUE(plan);
  for (const std::uint32_t decided : {1000U, plan->simulated() - 10}) {
    std::uint32_t i = 0;
    SampledSource sampled(
        std::make_unique<Counted>(), *plan, [&] { return i; }, [&] { return i < decided; });
    const auto run = [&] {
      std::uint32_t last = 0;
      for (; i < plan->simulated(); ++i) {
        last = sampled.begin_cta(i);
        if (i < decided) {
          EXPECT_EQ(last, i);
          EXPECT_FALSE(sampled.leaves_out_from());
        }
      }
      return last;
    };
    if (decided == 1000) {
      EXPECT_EQ(run(), 99999U);
      EXPECT_EQ(sampled.leaves_out_from(), 1000U);
    } else {
      EXPECT_THROW((void)run(), InputError);
    }
  }
}

}  // namespace
}  // namespace sluice
