// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/co_schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sw/core/errors.h"

namespace sluice {
namespace {

/// An SM of four schedulers with room for 16 CTAs of four warps; 10 SMs.
CoScheduleRules rules() {
  CoScheduleRules r;
  r.capacity = {2048, 65536, 65536, 16};
  r.sms = 10;
  r.schedulers = 4;
  return r;
}

CandidateKernel kernel(double ratio, double requests, double issue, double memory) {
  return {.model = {.waits = {{ratio, 500, 8, requests}}},
          .demand = {128, 4096, 4096, 1},
          .instructions_per_block = 5000,
          .blocks = 100000,
          .issue_utilisation = issue,
          .memory_utilisation = memory};
}

const CandidateKernel kMemory = kernel(0.15, 20, 0.1, 0.9), kOtherMemory = kernel(0.12, 16, 0.15, 0.85),
                      kCompute = kernel(0.001, 2, 0.95, 0.05), kOtherCompute = kernel(0.002, 1, 0.9, 0.04);

double profit(const CandidateKernel& a, const CandidateKernel& b, unsigned n, unsigned m) {
  const std::vector<unsigned> full{64}, both{4 * n, 4 * m};
  const std::vector<double> alone{markov_sm_ipc(std::vector{a.model}, full, 4)[0],
                                  markov_sm_ipc(std::vector{b.model}, full, 4)[0]};
  return co_scheduling_profit(markov_sm_ipc(std::vector{a.model, b.model}, both, 4), alone);
}

TEST(CoSchedule, IsTheBestOfAllPairsAndCounts) {
  const std::vector<CandidateKernel> all{kMemory, kOtherMemory, kCompute};
  CoScheduleRules r = rules();
  r.issue_threshold = r.memory_threshold = 0;
  const CoScheduleChoice choice = find_co_schedule(all, r);
  ASSERT_TRUE(choice.best);
  EXPECT_EQ(choice.pairs, 3U);
  EXPECT_EQ(choice.pruned, 0U);
  double best = 0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b)
      for (unsigned n = 1; n < 16; ++n)
        for (unsigned m = 1; n + m <= 16; ++m) best = std::max(best, profit(all[a], all[b], n, m));
  EXPECT_DOUBLE_EQ(choice.best->profit, best);
  const auto [a, b] = choice.best->kernels;
  EXPECT_DOUBLE_EQ(profit(all[a], all[b], choice.best->ctas[0].value(), choice.best->ctas[1].value()), best);
  EXPECT_EQ(b, 2U) << "memory beside compute";
}

/// Equation 7: blocks times instructions over IPC.
TEST(CoSchedule, SlicesTakeEqualTime) {
  CandidateKernel longer = kMemory;
  longer.instructions_per_block = 70000;
  const CoScheduleChoice choice = find_co_schedule(std::vector{longer, kCompute}, rules());
  ASSERT_TRUE(choice.best);
  const auto cycles = [&](std::size_t k, double instructions) {
    return static_cast<double>(choice.best->slices[k]) * instructions / choice.best->ipc[k] / 10;
  };
  const double first = cycles(0, 70000), second = cycles(1, 5000);
  EXPECT_NEAR(first / second, 1, 0.05);
  EXPECT_NEAR(choice.best->imbalance, std::abs(first - second) / std::max(first, second), 1e-9);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_GE(choice.best->slices[k], choice.best->ctas[k].value() * 10) << "less than a wave";
}

TEST(CoSchedule, ASliceIsAsLongAsItMustBe) {
  CoScheduleRules r = rules();
  r.slice_cycles = 1e6;
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, kCompute}, r);
  ASSERT_TRUE(choice.best);
  EXPECT_NEAR(static_cast<double>(choice.best->slices[1]) * 5000 / choice.best->ipc[1] / 10, 1e6, 1e3);
}

TEST(CoSchedule, ASliceEndsWithTheFirstKernelThatIsDone) {
  CandidateKernel rest = kCompute;
  rest.blocks = 7;
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, rest}, rules());
  ASSERT_TRUE(choice.best);
  EXPECT_LE(choice.best->slices[1], 7U);
  EXPECT_GE(choice.best->slices[0], 1U);
}

TEST(CoSchedule, PrunesPairsThatAreAlikeInBoth) {
  const std::vector<CandidateKernel> all{kMemory, kOtherMemory, kCompute, kOtherCompute};
  const CoScheduleChoice choice = find_co_schedule(all, rules());
  EXPECT_EQ(choice.pairs, 6U);
  EXPECT_EQ(choice.pruned, 2U);
  EXPECT_FALSE(choice.lost_profit);
  CandidateKernel busy = kOtherMemory;
  busy.issue_utilisation = 0.8;  // alike in memory only
  EXPECT_EQ(find_co_schedule(std::vector{kMemory, busy, kCompute}, rules()).pruned, 0U);
}

TEST(CoSchedule, PruningSaysWhatItCosts) {
  // Labels that make the best pair look alike.
  CandidateKernel disguised = kCompute;
  disguised.issue_utilisation = kMemory.issue_utilisation;
  disguised.memory_utilisation = kMemory.memory_utilisation;
  CandidateKernel apart = kOtherMemory;
  apart.memory_utilisation = 0.1;
  const std::vector<CandidateKernel> all{kMemory, disguised, apart};
  CoScheduleRules r = rules();
  r.price_pruning = true;
  const CoScheduleChoice pruned = find_co_schedule(all, r);
  r.issue_threshold = 0;
  const CoScheduleChoice whole = find_co_schedule(all, r);
  ASSERT_TRUE(whole.best && pruned.lost_profit && whole.lost_profit);
  EXPECT_EQ(pruned.pruned, 1U);
  EXPECT_EQ(whole.best->kernels, (std::array<std::size_t, 2>{0, 1}));
  EXPECT_GT(*pruned.lost_profit, 0);
  EXPECT_DOUBLE_EQ(*pruned.lost_profit, whole.best->profit - (pruned.best ? pruned.best->profit : 0));
  EXPECT_EQ(*whole.lost_profit, 0);
}

TEST(CoSchedule, TheLastCandidateIsNeverPruned) {
  CandidateKernel disguised = kCompute;
  disguised.issue_utilisation = kMemory.issue_utilisation;
  disguised.memory_utilisation = kMemory.memory_utilisation;
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, disguised}, rules());
  EXPECT_EQ(choice.pruned, 0U);
  EXPECT_TRUE(choice.best);
}

TEST(CoSchedule, TiesGoToTheLowestIndex) {
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, kCompute, kCompute}, rules());
  ASSERT_TRUE(choice.best);
  EXPECT_EQ(choice.best->kernels, (std::array<std::size_t, 2>{0, 1}));
}

TEST(CoSchedule, IsNoneWithoutAPairThatGains) {
  EXPECT_FALSE(find_co_schedule({}, rules()).best);
  EXPECT_FALSE(find_co_schedule(std::vector{kMemory}, rules()).best);
  CandidateKernel all_registers = kCompute;
  all_registers.demand.registers = 65536;
  EXPECT_FALSE(find_co_schedule(std::vector{all_registers, kMemory}, rules()).best);
  CandidateKernel busy = kCompute;
  busy.model.waits.clear();  // alone it issues in every cycle
  EXPECT_FALSE(find_co_schedule(std::vector{busy, busy}, rules()).best);
}

TEST(CoSchedule, RefusesWhatIsNoKernel) {
  const auto refused = [](auto&& spoil) {
    std::vector<CandidateKernel> all{kMemory, kCompute};
    CoScheduleRules r = rules();
    spoil(all[1], r);
    EXPECT_THROW((void)find_co_schedule(all, r), InputError);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  refused([](CandidateKernel& k, CoScheduleRules&) { k.instructions_per_block = 0; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.blocks = 0; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.issue_utilisation = 1.5; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.issue_utilisation = -0.1; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.memory_utilisation = kNan; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.demand.registers = 65537; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.demand = {}; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.model.waits[0].ratio = 2; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.sms = 0; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.schedulers = 0; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.slice_cycles = kNan; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.issue_threshold = -1; });
}

}  // namespace
}  // namespace sluice
