// SPDX-License-Identifier: Apache-2.0
// Who runs beside whom, and the table that says so.
#include "sw/policy/co_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sw/core/errors.h"
#include "sw/policy/corun_table.h"
#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

/// An SM with room for 16 CTAs of four warps; 10 SMs.
CoScheduleRules rules() {
  CoScheduleRules r;
  r.capacity = {2048, 65536, 65536, 16};
  r.sms = 10;
  return r;
}

CandidateKernel kernel(const std::string& name) { return {name, {128, 4096, 4096, 1}}; }

const CandidateKernel kMemory = kernel("memory"), kOtherMemory = kernel("other_memory"), kCompute = kernel("compute"),
                      kOtherCompute = kernel("other_compute");

/// Memory beside compute gains most; ever more CTAs of the first bring it less and less.
CoRunTable table() {
  CoRunTable t;
  t.kernels = {{"memory", {0.5, 5000, 0.1, 0.9}},
               {"other_memory", {0.6, 5000, 0.15, 0.85}},
               {"compute", {3.8, 5000, 0.95, 0.05}},
               {"other_compute", {3.6, 5000, 0.9, 0.04}}};
  for (const auto& [a, first] : t.kernels)
    for (const auto& [b, second] : t.kernels) {
      if (a >= b) continue;
      for (unsigned n = 1; n < 16; ++n) {
        const double shared = std::abs(first.memory_utilisation - second.memory_utilisation);
        const double part = n / 16.0, gain = 1 + 0.8 * shared * part * (1 - part);
        t.pairs[{a, b}].push_back({{CtaCount(n), CtaCount(16 - n)}, {first.ipc * part * gain, second.ipc * (1 - part) * gain}});
      }
    }
  return t;
}

double profit(const CoRunTable& t, const CandidateKernel& a, const CandidateKernel& b, const CoRun& run) {
  return co_scheduling_profit(run.ipc, std::array{t.kernels.at(a.name).ipc, t.kernels.at(b.name).ipc});
}

TEST(CoSchedule, IsTheBestOfAllPairsAndRatios) {
  const std::vector<CandidateKernel> all{kMemory, kOtherMemory, kCompute};
  CoScheduleRules r = rules();
  r.issue_threshold = r.memory_threshold = 0;
  const CoRunTable t = table();
  const CoScheduleChoice choice = find_co_schedule(all, t, r);
  ASSERT_TRUE(choice.best);
  EXPECT_EQ(choice.pairs, 3U);
  EXPECT_EQ(choice.pruned, 0U);
  double best = 0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b)
      for (const CoRun& run : t.of(all[a].name, all[b].name)) best = std::max(best, profit(t, all[a], all[b], run));
  EXPECT_DOUBLE_EQ(choice.best->profit, best);
  EXPECT_EQ(choice.best->kernels, (std::array<std::size_t, 2>{0, 2})) << "memory beside compute";
  EXPECT_EQ(choice.best->ctas, (std::array{CtaCount(8), CtaCount(8)}));
}

TEST(CoSchedule, LeavesOutRatiosThatDoNotFit) {
  CandidateKernel large = kMemory;
  large.demand.registers = 16384;
  CoScheduleRules r = rules();
  r.capacity.registers = 131072;
  const CoScheduleChoice choice = find_co_schedule(std::vector{large, kCompute}, table(), r);
  ASSERT_TRUE(choice.best);
  EXPECT_EQ(choice.best->ctas[0], CtaCount(5)) << "of 8, the best without registers";
}

/// Equation 7: blocks times instructions over IPC.
TEST(CoSchedule, SlicesTakeEqualTime) {
  CoRunTable t = table();
  t.kernels.at("memory").instructions_per_block = 70000;
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, kCompute}, t, rules());
  ASSERT_TRUE(choice.best);
  const auto cycles = [&](std::size_t k, double instructions) {
    return static_cast<double>(choice.best->slices[k]) * instructions / choice.best->ipc[k] / 10;
  };
  const double first = cycles(0, 70000), second = cycles(1, 5000);
  EXPECT_NEAR(first / second, 1, 0.05);
  EXPECT_NEAR(first / choice.best->cycles, 1, 0.05);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_GE(choice.best->slices[k], choice.best->ctas[k].value() * 10) << "less than a wave";
}

TEST(CoSchedule, ASliceIsAsLongAsItMustBe) {
  CoScheduleRules r = rules();
  r.slice_cycles = 1e6;
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, kCompute}, table(), r);
  ASSERT_TRUE(choice.best);
  EXPECT_NEAR(static_cast<double>(choice.best->slices[1]) * 5000 / choice.best->ipc[1] / 10, 1e6, 2e3);
}

TEST(CoSchedule, TheShortestSliceIsTheFirstThatCostsTwoPercent) {
  const std::vector<SliceOverhead> slices{{140, 0.9}, {280, 0.2}, {560, 0.02}, {1120, 0.001}};
  EXPECT_EQ(shortest_slice(slices), 560U);
  EXPECT_EQ(shortest_slice(slices, 0.3), 280U);
  EXPECT_EQ(shortest_slice(std::span(slices).first(2)), std::nullopt);
}

TEST(CoSchedule, PrunesPairsThatAreAlikeInBoth) {
  const std::vector<CandidateKernel> all{kMemory, kOtherMemory, kCompute, kOtherCompute};
  const CoScheduleChoice choice = find_co_schedule(all, table(), rules());
  EXPECT_EQ(choice.pairs, 6U);
  EXPECT_EQ(choice.pruned, 2U);
  EXPECT_FALSE(choice.lost_profit);
  CoRunTable alike_in_memory_only = table();
  alike_in_memory_only.kernels.at("other_memory").issue_utilisation = 0.8;
  EXPECT_EQ(find_co_schedule(std::vector{kMemory, kOtherMemory, kCompute}, alike_in_memory_only, rules()).pruned, 0U);
}

/// Labels that make memory and compute, the best pair, look alike.
CoRunTable disguised() {
  CoRunTable t = table();
  t.kernels.at("compute").issue_utilisation = t.kernels.at("memory").issue_utilisation;
  t.kernels.at("compute").memory_utilisation = t.kernels.at("memory").memory_utilisation;
  t.kernels.at("other_memory").memory_utilisation = 0.1;
  return t;
}

TEST(CoSchedule, PruningSaysWhatItCosts) {
  const std::vector<CandidateKernel> all{kMemory, kCompute, kOtherMemory};
  CoScheduleRules r = rules();
  r.price_pruning = true;
  const CoScheduleChoice pruned = find_co_schedule(all, disguised(), r);
  r.issue_threshold = 0;
  const CoScheduleChoice whole = find_co_schedule(all, disguised(), r);
  ASSERT_TRUE(whole.best && pruned.best && pruned.lost_profit && whole.lost_profit);
  EXPECT_EQ(pruned.pruned, 1U);
  EXPECT_EQ(whole.best->kernels, (std::array<std::size_t, 2>{0, 1}));
  EXPECT_GT(*pruned.lost_profit, 0);
  EXPECT_DOUBLE_EQ(*pruned.lost_profit, whole.best->profit - pruned.best->profit);
  EXPECT_EQ(*whole.lost_profit, 0);
}

TEST(CoSchedule, TheLastCandidateIsNeverPruned) {
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, kCompute}, disguised(), rules());
  EXPECT_EQ(choice.pruned, 0U);
  EXPECT_TRUE(choice.best);
}

TEST(CoSchedule, TiesGoToTheLowestIndex) {
  const CoScheduleChoice choice = find_co_schedule(std::vector{kMemory, kCompute, kCompute}, table(), rules());
  ASSERT_TRUE(choice.best);
  EXPECT_EQ(choice.best->kernels, (std::array<std::size_t, 2>{0, 1}));
}

TEST(CoSchedule, IsNoneWithoutAPairThatGains) {
  EXPECT_FALSE(find_co_schedule({}, table(), rules()).best);
  EXPECT_FALSE(find_co_schedule(std::vector{kMemory}, table(), rules()).best);
  EXPECT_FALSE(find_co_schedule(std::vector{kMemory, kMemory}, table(), rules()).best) << "two jobs of one kernel";
  CandidateKernel all_registers = kCompute;
  all_registers.demand.registers = 65536;
  EXPECT_FALSE(find_co_schedule(std::vector{all_registers, kMemory}, table(), rules()).best);
  CoRunTable t = table();
  for (auto& [names, runs] : t.pairs)
    for (CoRun& run : runs) run.ipc = {0.1, 0.1};
  EXPECT_FALSE(find_co_schedule(std::vector{kMemory, kCompute}, t, rules()).best);
}

TEST(CoSchedule, RefusesWhatIsNoKernel) {
  const auto refused = [](auto&& spoil) {
    std::vector<CandidateKernel> all{kMemory, kCompute};
    CoScheduleRules r = rules();
    spoil(all[1], r);
    EXPECT_THROW((void)find_co_schedule(all, table(), r), InputError);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  refused([](CandidateKernel& k, CoScheduleRules&) { k.name = "unknown"; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.demand.registers = 65537; });
  refused([](CandidateKernel& k, CoScheduleRules&) { k.demand = {}; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.sms = 0; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.slice_cycles = kNan; });
  refused([](CandidateKernel&, CoScheduleRules& r) { r.issue_threshold = -1; });
}

MachineConfig machine() {
  MachineConfig m = small_machine(2, {1024, 32768, 49152, 8});
  m.sm.schedulers = 2;
  return m;
}

KernelDescriptor kernel(const std::string& name, std::uint32_t threads) {
  KernelDescriptor k;
  k.name = name;
  k.grid_ctas = 100;
  k.block_threads = threads;
  return k;
}

const std::vector<KernelDescriptor> kMix{kernel("A", 128), kernel("B", 256)};
const std::map<std::string, CoRunKernel> kAlone{{"A", {1, 4000, 0.5, 0.9}}, {"B", {1, 4000, 0.9, 0.1}}};

CoRunTable predicted() {
  return predicted_co_runs(kMix, std::vector<MarkovKernel>{{.waits = {{0.1, 400, 4, 8}}}, {.waits = {{0.01, 400, 4, 1}}}}, kAlone,
                           machine());
}

TEST(CoRunTable, RatiosLeaveRoomForNobody) {
  const bool ok = rc::check([] {
    const SmResources capacity{1024, 32768, 49152, 8};
    const auto cta = [] {
      return SmResources{32 * *rc::gen::inRange(1U, 12U), *rc::gen::inRange(0U, 9000U), *rc::gen::inRange(0U, 9000U), 1};
    };
    const SmResources a = cta(), b = cta();
    const auto ratios = slice_ratios(a, b, capacity);
    for (const auto& [n, m] : ratios) {
      RC_ASSERT(fits(a, capacity, n));
      const SmResources left = take(capacity, a, n);
      RC_ASSERT(fits(b, left, m));
      RC_ASSERT(!fits(a, take(left, b, m)));
      RC_ASSERT(!fits(b, take(left, b, m)));
    }
    // Whatever fits together is a part of one of them.
    for (CtaCount n(1); fits(a, capacity, n); n += CtaCount(1)) {
      const CtaCount m = occupancy(b, take(capacity, a, n));
      RC_ASSERT(m == CtaCount(0) || std::ranges::any_of(ratios, [&](const auto& r) { return r[0] >= n && r[1] >= m; }));
    }
  });
  EXPECT_TRUE(ok);
}

TEST(CoRunTable, PredictsEveryRatioByTheMarkovModel) {
  const CoRunTable t = predicted();
  EXPECT_NO_THROW(check_complete(t, kMix, machine()));
  const std::vector<CoRun> runs = t.of("A", "B");
  ASSERT_EQ(runs.size(), slice_ratios(kMix[0].demand(), kMix[1].demand(), machine().sm.capacity).size());
  const std::vector<MarkovKernel> models{{.waits = {{0.1, 400, 4, 8}}}, {.waits = {{0.01, 400, 4, 1}}}};
  const std::vector<unsigned> warps{4 * runs[0].ctas[0].value(), 8 * runs[0].ctas[1].value()};
  EXPECT_EQ(runs[0].ipc[1], markov_sm_ipc(models, warps, 2)[1]);
  const std::vector<CoRun> swapped = t.of("B", "A");
  ASSERT_EQ(swapped.size(), runs.size());
  EXPECT_EQ(swapped.back().ctas, (std::array{runs[0].ctas[1], runs[0].ctas[0]}));
  EXPECT_EQ(swapped.back().ipc, (std::array{runs[0].ipc[1], runs[0].ipc[0]}));
  EXPECT_TRUE(t.of("A", "unknown").empty());
}

TEST(CoRunTable, RefusesWhatIsNoneInOneLine) {
  const auto refusal = [](auto&& spoil) {
    CoRunTable t = predicted();
    spoil(t);
    return test::refusal([&] { check_complete(t, kMix, machine()); });
  };
  EXPECT_EQ(refusal([](CoRunTable& t) { t.pairs.begin()->second.pop_back(); }), "pair A and B: no figures with 6 and 1 CTAs");
  EXPECT_EQ(refusal([](CoRunTable& t) { t.kernels.erase("B"); }), "pair A and B: kernel B: no figures alone");
  EXPECT_EQ(refusal([](CoRunTable& t) { t.kernels.at("A").ipc = 0; }), "kernel A: ipc = 0: must be above 0");
  EXPECT_EQ(refusal([](CoRunTable& t) { t.kernels.at("A").memory_utilisation = 1.5; }),
            "kernel A: memory_utilisation = 1.5: must be at least 0, at most 1");
  EXPECT_NE(refusal([](CoRunTable& t) {
              t.kernels.at("A").instructions_per_block = std::numeric_limits<double>::quiet_NaN();
            }).find("kernel A: instructions_per_block = nan"),
            std::string::npos);
  EXPECT_NE(refusal([](CoRunTable& t) { t.pairs.begin()->second[0].ipc[1] = -1; }).find("ipc = -1"), std::string::npos);
  EXPECT_NE(refusal([](CoRunTable& t) { t.pairs.begin()->second[0].ctas[1] = CtaCount(0); }).find("ctas = 0"), std::string::npos);
}

}  // namespace
}  // namespace sluice
