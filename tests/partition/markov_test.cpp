// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/markov.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "sw/core/errors.h"
#include "sw/partition/markov_fit.h"
#include "sw/partition/markov_study.h"

namespace sluice {
namespace {

using Kernels = std::vector<MarkovKernel>;
using Warps = std::vector<unsigned>;

MarkovKernel waiting(double ratio, double latency, double slope = 0, double requests = 1) {
  return {.waits = {{ratio, latency, slope, requests}}};
}

const MarkovKernel kMemory = waiting(0.1, 300, 8, 4), kCompute = waiting(0.01, 200, 2, 1);
const MarkovKernel kTwoKinds = {.waits = {{0.05, 200, 3, 2}, {0.03, 400, 5, 16}}};

void rows_sum_to_one(const Kernels& kernels, const Warps& warps) {
  const MarkovChain chain = markov_chain(kernels, warps);
  for (std::size_t i = 0; i < chain.states(); ++i) {
    const auto row = chain.transitions.begin() + static_cast<std::ptrdiff_t>(i * chain.states());
    EXPECT_NEAR(std::accumulate(row, row + static_cast<std::ptrdiff_t>(chain.states()), 0.0), 1, 1e-12) << "state " << i;
  }
}

TEST(Markov, RowsOfTheChainSumToOne) {
  rows_sum_to_one({kMemory}, {16});
  rows_sum_to_one({kMemory, kCompute}, {7, 9});
  rows_sum_to_one({kTwoKinds}, {8});
  rows_sum_to_one({kTwoKinds, kMemory, kCompute}, {2, 3, 4});
}

/// The published number of states: one more than the warps, for each kernel; two kinds of waits: pairs of at most so many.
TEST(Markov, StatesAreThoseOfThePaper) {
  EXPECT_EQ(markov_chain(Kernels{kMemory}, Warps{16}).states(), 17U);
  EXPECT_EQ(markov_chain(Kernels{kMemory, kCompute}, Warps{8, 8}).states(), 81U);
  EXPECT_EQ(markov_chain(Kernels{kTwoKinds}, Warps{16}).states(), 153U);
}

/// Two warps, R_m = 1/4, L = 4 in every state: by hand from equation 1.
TEST(Markov, TransitionsAreThoseOfTheEquation) {
  const MarkovChain chain = markov_chain(Kernels{waiting(0.25, 4)}, Warps{2});
  const std::vector<double> by_hand = {9 / 16.0,          6 / 16.0,
                                       1 / 16.0,  // both ready: D = 2
                                       3 / 4.0 * 1 / 4.0, 3 / 4.0 * 3 / 4.0 + 1 / 4.0 / 4.0,
                                       1 / 4.0 * 3 / 4.0,  // one: D = 1
                                       1 / 4.0 * 1 / 4.0, 2 / 4.0 * 3 / 4.0,
                                       9 / 16.0};  // none: D = 1
  ASSERT_EQ(chain.transitions.size(), by_hand.size());
  for (std::size_t i = 0; i < by_hand.size(); ++i) EXPECT_NEAR(chain.transitions[i], by_hand[i], 1e-15) << i;
  EXPECT_EQ(chain.cycles, (std::vector<double>{2, 1, 1}));
}

TEST(Markov, OneWarpIsTheClosedForm) {
  for (const double ratio : {0.001, 0.1, 0.9})
    for (const double latency : {1.0, 33.0, 600.0})
      for (const double slope : {0.0, 8.25}) {
        const double l = latency + slope * 3;
        const double ipc = markov_ipc(Kernels{waiting(ratio, latency, slope, 3)}, Warps{1})[0];
        EXPECT_NEAR(ipc, 1 / (1 + ratio * l), 1e-12) << ratio << " " << l;
      }
}

TEST(Markov, WithoutMemoryEveryCycleIssues) {
  for (const unsigned warps : {1U, 2U, 16U}) {
    EXPECT_NEAR(markov_ipc(Kernels{waiting(0, 600, 8)}, Warps{warps})[0], 1, 1e-12);
    EXPECT_NEAR(markov_ipc(Kernels{MarkovKernel{}}, Warps{warps})[0], 1, 1e-12);
  }
}

TEST(Markov, APartnerWithoutWarpsChangesNothing) {
  for (const MarkovKernel& kernel : {kMemory, kCompute, kTwoKinds})
    for (const unsigned warps : {1U, 5U, 16U}) {
      const auto pair = markov_ipc(Kernels{kernel, kMemory}, Warps{warps, 0});
      EXPECT_NEAR(pair[0], markov_ipc(Kernels{kernel}, Warps{warps})[0], 1e-12);
      EXPECT_EQ(pair[1], 0);
    }
}

TEST(Markov, ExchangedKernelsExchangeTheirIpc) {
  const auto one = markov_ipc(Kernels{kMemory, kCompute}, Warps{3, 8}),
             other = markov_ipc(Kernels{kCompute, kMemory}, Warps{8, 3});
  EXPECT_NEAR(one[0], other[1], 1e-12);
  EXPECT_NEAR(one[1], other[0], 1e-12);
  EXPECT_GT(one[1], one[0]);
}

/// Two halves of one kernel, whose requests meet all of each other's, are that kernel.
TEST(Markov, AKernelBesideItselfIsThatKernelWithAllWarps) {
  const auto halves = markov_ipc(Kernels{kMemory, kMemory}, Warps{5, 5});
  EXPECT_NEAR(halves[0] + halves[1], markov_ipc(Kernels{kMemory}, Warps{10})[0], 1e-12);
}

/// Equal kinds of waits cannot be told apart.
TEST(Markov, TwoEqualKindsOfWaitsAreOne) {
  const MarkovKernel two = {.waits = {{0.03, 300, 8, 4}, {0.07, 300, 8, 4}}};
  EXPECT_NEAR(markov_ipc(Kernels{two}, Warps{9})[0], markov_ipc(Kernels{kMemory}, Warps{9})[0], 1e-12);
  EXPECT_NEAR(markov_ipc(Kernels{merged_waits(two)}, Warps{9})[0], markov_ipc(Kernels{kMemory}, Warps{9})[0], 1e-12);
}

/// The rules acted out warp by warp, without a matrix: every ready warp issues, may wait, and wakes with chance D / L.
std::vector<double> acted_out(const Kernels& kernels, const Warps& warps) {
  struct Warp {
    std::size_t kernel;
    int waits_for;  ///< -1: ready
  };
  std::vector<Warp> all;
  for (std::size_t k = 0; k < kernels.size(); ++k) all.insert(all.end(), warps[k], {k, -1});
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> issued(kernels.size());
  double cycles = 0;
  for (int round = 0; round < 2000000; ++round) {
    double length = 0;
    std::vector<double> requests(kernels.size());
    for (const Warp& w : all) {
      const MarkovKernel& kernel = kernels[w.kernel];
      if (w.waits_for < 0)
        length += kernel.issue_cycles;
      else
        for (std::size_t k = 0; k < kernels.size(); ++k)
          requests[k] += kernel.waits[static_cast<std::size_t>(w.waits_for)].requests *
                         (k == w.kernel ? 1 : kernel.traffic * kernels[k].exposure);
    }
    length = std::max(length, 1.0);
    cycles += length;
    for (Warp& w : all) {
      const MarkovKernel& kernel = kernels[w.kernel];
      double chance = uniform(random);
      if (w.waits_for < 0) {
        ++issued[w.kernel];
        for (std::size_t i = 0; i < kernel.waits.size() && w.waits_for < 0; ++i) {
          if (chance < kernel.waits[i].ratio) w.waits_for = static_cast<int>(i);
          chance -= kernel.waits[i].ratio;
        }
      } else {
        const MarkovWait& wait = kernel.waits[static_cast<std::size_t>(w.waits_for)];
        if (chance < length / (wait.latency + wait.slope * requests[w.kernel])) w.waits_for = -1;
      }
    }
  }
  for (double& i : issued) i /= cycles;
  return issued;
}

TEST(Markov, AgreesWithTheRulesActedOut) {
  MarkovKernel pipe = waiting(0.05, 60, 1, 2), shy = kMemory;
  pipe.issue_cycles = 1.5;
  pipe.traffic = 0.25;
  shy.exposure = 0.5;
  const std::vector<std::pair<Kernels, Warps>> cases = {{{kMemory}, {4}}, {{kTwoKinds}, {5}}, {{shy, pipe}, {3, 4}}};
  for (const auto& [kernels, warps] : cases) {
    const auto model = markov_ipc(kernels, warps), acted = acted_out(kernels, warps);
    for (std::size_t k = 0; k < kernels.size(); ++k) EXPECT_NEAR(model[k] / acted[k], 1, 0.02) << "kernel " << k;
  }
}

TEST(Markov, AnSmIsItsVirtualSms) {
  EXPECT_NEAR(markov_sm_ipc(Kernels{kMemory}, Warps{32}, 4)[0], 4 * markov_ipc(Kernels{kMemory}, Warps{8})[0], 1e-12);
  const double between = markov_sm_ipc(Kernels{kMemory}, Warps{33}, 4)[0];
  EXPECT_NEAR(between, 3 * markov_ipc(Kernels{kMemory}, Warps{8})[0] + markov_ipc(Kernels{kMemory}, Warps{9})[0], 1e-12);
}

TEST(Markov, ProfitIsOneLessTheReciprocalOfTheThroughput) {
  EXPECT_NEAR(co_scheduling_profit(std::array{1.0, 0.75}, std::array{2.0, 1.0}), 1 - 1 / 1.25, 1e-15);
  EXPECT_NEAR(co_scheduling_profit(std::array{1.0, 0.5}, std::array{2.0, 1.0}), 0, 1e-15);
  EXPECT_LT(co_scheduling_profit(std::array{0.4, 0.5}, std::array{2.0, 1.0}), 0);
  EXPECT_THROW((void)co_scheduling_profit(std::array{0.4, 0.5}, std::array{0.0, 1.0}), InputError);
  EXPECT_THROW((void)co_scheduling_profit(std::array{0.0, 0.0}, std::array{1.0, 1.0}), InputError);
}

TEST(Markov, RefusesWhatIsNoKernel) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinite = std::numeric_limits<double>::infinity();
  for (const MarkovKernel& bad :
       {waiting(1, 100), waiting(-0.1, 100), waiting(kNan, 100), waiting(0.1, 0), waiting(0.1, kInfinite), waiting(0.1, 100, -1),
        waiting(0.1, 100, 1, kNan), MarkovKernel{.issue_cycles = 0.5}, MarkovKernel{.traffic = 2}, MarkovKernel{.exposure = -1},
        MarkovKernel{.waits = {{0.6, 100}, {0.6, 100}}}, MarkovKernel{.waits = {{}, {}, {}}}})
    EXPECT_THROW((void)markov_chain(Kernels{bad}, Warps{2}), InputError);
  EXPECT_THROW((void)markov_chain(Kernels{kMemory}, Warps{65}), InputError);
  EXPECT_THROW((void)markov_chain(Kernels{kTwoKinds, kTwoKinds}, Warps{16, 16}), InputError);
  EXPECT_THROW((void)markov_sm_ipc(Kernels{kMemory}, Warps{4}, 0), InputError);
}

constexpr MarkovMachine kMachine{.schedulers = 4, .cycles_per_sector = 8};

/// All sectors from DRAM, half of the loads of 4 sectors and half of 32: 18 on average.
TEST(MarkovFit, PrintedKernelHasThePapersTwoKinds) {
  const MarkovKernel k = printed_kernel({.loads = 0.1, .sectors_per_load = 18, .l2_sectors = 1.8, .dram_sectors = 1.8}, kMachine);
  ASSERT_EQ(k.waits.size(), 2U);
  EXPECT_NEAR(k.waits[0].ratio, 0.05, 1e-12);
  EXPECT_NEAR(k.waits[1].ratio, 0.05, 1e-12);
  EXPECT_NEAR(k.waits[0].requests, 4, 1e-12);
  EXPECT_NEAR(k.waits[1].requests, 32, 1e-12);
  EXPECT_NEAR(k.waits[0].latency, 600, 1e-12);
  EXPECT_NEAR(k.waits[1].latency, 600 + 8 * 28, 1e-12);
  EXPECT_EQ(k.issue_cycles * k.traffic * k.exposure, 1);
  EXPECT_TRUE(printed_kernel({}, kMachine).waits.empty());
}

/// A kernel made by the model is found again from two windows of it.
TEST(MarkovFit, CalibrationGivesBothWindows) {
  const MarkovCounters counters{
      .loads = 0.05, .l2_sectors = 0.2, .dram_sectors = 0.1, .memory_stalls = 20, .dram_utilisation = 0.5};
  const Kernels made{waiting(0.02, 435, 8, 9)};
  const double one = markov_sm_ipc(made, Warps{4}, 4)[0], full = markov_sm_ipc(made, Warps{64}, 4)[0];
  const MarkovKernel k = calibrated_kernel(counters, {4, 16, one, full}, kMachine);
  EXPECT_NEAR(k.waits[0].ratio, 0.02, 1e-6);
  EXPECT_NEAR(k.waits[0].requests, 9, 1e-3);
  EXPECT_EQ(k.issue_cycles, 1);
  EXPECT_EQ(k.traffic, 0.5);
  EXPECT_EQ(k.exposure, 0.5);
}

TEST(MarkovFit, APipeThatLimitsIsTheCostOfAnInstruction) {
  const MarkovKernel k = calibrated_kernel({.memory_stalls = 1}, {8, 8, 1, 2.5}, kMachine);
  EXPECT_NEAR(k.issue_cycles, 4 / 2.5, 1e-12);
  EXPECT_NEAR(markov_sm_ipc(Kernels{k}, Warps{64}, 4)[0], 2.5, 0.01);
}

TEST(MarkovFit, RefusesWhatIsNoMeasurement) {
  EXPECT_THROW((void)printed_kernel({.loads = 2}, kMachine), InputError);
  EXPECT_THROW((void)printed_kernel({.l2_sectors = 1, .dram_sectors = 2}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({.dram_utilisation = 1.5}, {1, 1, 1, 1}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({}, {1, 1, 0, 1}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({}, {1, 1, 1, 5}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({}, {0, 1, 1, 1}, kMachine), InputError);
}

TEST(MarkovStudy, NoPropertyIsViolated) {
  const MarkovStudy study = study_markov(100, 1);
  EXPECT_EQ(study.pairs, 100U);
  EXPECT_EQ(study.violations(), 0U);
  EXPECT_FALSE(study.first_violation) << *study.first_violation;
}

}  // namespace
}  // namespace sluice
