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

namespace sluice {
namespace {

using Kernels = std::vector<MarkovKernel>;
using Warps = std::vector<unsigned>;

MarkovKernel waiting(double ratio, double latency, double slope = 0, double requests = 1) {
  return {.waits = {{ratio, latency, slope, requests}}};
}

const MarkovKernel kMemory = waiting(0.1, 300, 8, 4), kCompute = waiting(0.01, 200, 2, 1);
const MarkovKernel kTwoKinds = {.waits = {{0.05, 200, 3, 2}, {0.03, 400, 5, 16}}};

double alone(const MarkovKernel& kernel, unsigned warps) { return markov_ipc(Kernels{kernel}, Warps{warps})[0]; }

/// Kernels and their warps: some that stand above, and pairs with any figures on up to 16 warps.
std::vector<std::pair<Kernels, Warps>> mixes() {
  std::vector<std::pair<Kernels, Warps>> all{
      {{kMemory}, {16}}, {{kMemory, kCompute}, {7, 9}}, {{kTwoKinds}, {8}}, {{kTwoKinds, kMemory, kCompute}, {2, 3, 4}}};
  std::mt19937_64 random(1);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  const auto spread = [&](double low, double high) { return low * std::pow(high / low, uniform(0, 1)); };
  while (all.size() < 500) {
    auto& [kernels, warps] = all.emplace_back();
    const auto together = static_cast<unsigned>(uniform(2, 17)), first = 1 + static_cast<unsigned>(uniform(0, together - 1));
    warps = {first, together - first};
    for (int k = 0; k < 2; ++k) {
      kernels.push_back(waiting(spread(1e-4, kMaxWaitRatio), spread(1, 2000), uniform(0, 20), spread(0.1, 100)));
      kernels.back().issue_cycles = random() % 2 == 0 ? 1 : spread(1, 8);
      kernels.back().traffic = uniform(0, 1);
      kernels.back().exposure = uniform(0, 1);
    }
  }
  return all;
}

TEST(Markov, TheChainIsOneAndARoundLeavesItsSteadyState) {
  for (const auto& [kernels, warps] : mixes()) {
    const MarkovChain chain = markov_chain(kernels, warps);
    const std::vector<double> share = steady_state(chain);
    std::vector<double> after(chain.states());
    for (std::size_t i = 0; i < chain.states(); ++i) {
      const double* row = &chain.transitions[i * chain.states()];
      EXPECT_NEAR(std::accumulate(row, row + chain.states(), 0.0), 1, 1e-12) << "state " << i;
      for (std::size_t j = 0; j < chain.states(); ++j) {
        EXPECT_GE(row[j], 0);
        after[j] += share[i] * row[j];
      }
    }
    EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1, 1e-12);
    for (std::size_t j = 0; j < chain.states(); ++j) EXPECT_NEAR(after[j], share[j], 1e-12) << "state " << j;
  }
}

TEST(Markov, EveryKernelMakesProgressInTheCyclesThatThereAre) {
  for (const auto& [kernels, warps] : mixes()) {
    const std::vector<double> ipc = markov_ipc(kernels, warps);
    double cycles = 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      EXPECT_GT(ipc[k], 0);
      cycles += ipc[k] * kernels[k].issue_cycles;
    }
    EXPECT_LE(cycles, 1 + 1e-12);
  }
}

TEST(Markov, MoreWarpsNeverLowerTheIpcOfMemoryThatNeverQueues) {
  for (const auto& [kernels, warps] : mixes()) {
    MarkovKernel wide = kernels[0];
    for (MarkovWait& wait : wide.waits) wait.slope = 0;
    EXPECT_GE(alone(wide, warps[0] + 1), alone(wide, warps[0]) - 1e-12);
  }
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
  for (const auto& [kernels, warps] : mixes()) {
    // A round of one warp is issue_cycles long when it issues, and one cycle when it waits.
    double cycles = kernels[0].issue_cycles;
    for (const MarkovWait& wait : kernels[0].waits) cycles += wait.ratio * (wait.latency + wait.slope * wait.requests);
    EXPECT_NEAR(alone(kernels[0], 1), 1 / cycles, 1e-12) << cycles;
  }
}

TEST(Markov, WithoutMemoryEveryCycleIssues) {
  for (auto& [kernels, warps] : mixes()) {
    MarkovKernel free = kernels[0];
    for (MarkovWait& wait : free.waits) wait.ratio = 0;
    EXPECT_NEAR(alone(free, warps[0]) * free.issue_cycles, 1, 1e-12);
    free.waits.clear();
    EXPECT_NEAR(alone(free, warps[0]) * free.issue_cycles, 1, 1e-12);
  }
}

TEST(Markov, APartnerWithoutWarpsChangesNothing) {
  for (const auto& [kernels, warps] : mixes()) {
    const auto pair = markov_ipc(Kernels{kernels[0], kMemory}, Warps{warps[0], 0});
    EXPECT_NEAR(pair[0], alone(kernels[0], warps[0]), 1e-12);
    EXPECT_EQ(pair[1], 0);
  }
}

TEST(Markov, ExchangedKernelsExchangeTheirIpc) {
  for (const auto& [kernels, warps] : mixes()) {
    const auto one = markov_ipc(kernels, warps),
               other = markov_ipc(Kernels(kernels.rbegin(), kernels.rend()), Warps(warps.rbegin(), warps.rend()));
    for (std::size_t k = 0; k < one.size(); ++k) EXPECT_NEAR(one[k], other[one.size() - 1 - k], 1e-12);
  }
  const auto ipc = markov_ipc(Kernels{kMemory, kCompute}, Warps{3, 8});
  EXPECT_GT(ipc[1], ipc[0]);
}

/// Two halves of one kernel, whose requests meet all of each other's, are that kernel.
TEST(Markov, AKernelBesideItselfIsThatKernelWithAllWarps) {
  const auto halves = markov_ipc(Kernels{kMemory, kMemory}, Warps{5, 5});
  EXPECT_NEAR(halves[0] + halves[1], markov_ipc(Kernels{kMemory}, Warps{10})[0], 1e-12);
}

/// Equal kinds of waits cannot be told apart.
TEST(Markov, TwoEqualKindsOfWaitsAreOne) {
  for (const auto& [kernels, warps] : mixes()) {
    MarkovKernel two = kernels[0];
    if (two.waits.size() > 1) continue;
    const double ratio = two.waits[0].ratio;
    two.waits.push_back(two.waits[0]);
    two.waits[0].ratio = ratio / 3;
    two.waits[1].ratio = ratio - ratio / 3;
    EXPECT_NEAR(alone(two, warps[0]), alone(kernels[0], warps[0]), 1e-12);
  }
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
  EXPECT_THROW((void)calibrated_kernel({.loads = 2}, {1, 1, 1, 1}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({.l2_sectors = 1, .dram_sectors = 2}, {1, 1, 1, 1}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({.dram_utilisation = 1.5}, {1, 1, 1, 1}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({}, {1, 1, 0, 1}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({}, {1, 1, 1, 5}, kMachine), InputError);
  EXPECT_THROW((void)calibrated_kernel({}, {0, 1, 1, 1}, kMachine), InputError);
}

}  // namespace
}  // namespace sluice
