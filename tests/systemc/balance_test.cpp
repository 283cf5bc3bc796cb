// SPDX-License-Identifier: Apache-2.0
// Mode Balance: the twin's search against the golden candidates and choice over random scenes, and what it promises on any.
#include "sw/partition/balance.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "systemc/unit/twin/balance_search.h"

namespace sluice {
namespace {

class Scene {
 public:
  explicit Scene(std::uint64_t seed) : random_(seed) {
    config_.capacity_warps = 48;
    config_.capacity_registers = 32768;
    config_.capacity_shared = 49152;
    config_.capacity_slots = 8;
    const std::uint32_t kernels = between(2, 8);
    sms_ = between(kernels + 1, 40);
    settings_.candidates = between(1, 9);
    settings_.keep = between(0, 400) / 100.0;
    for (std::uint32_t k = 0; k < kernels; ++k) {
      config_.demand_warps[k] = between(1, 24);
      config_.demand_registers[k] = between(1, 20000);
      config_.demand_shared[k] = between(0, 3) == 0 ? between(1, 30000) : 0;
      demand_.push_back({config_.demand_warps[k] * kWarpSize, config_.demand_registers[k], config_.demand_shared[k], 1});
      kernels_.push_back({k, occupancy(demand_.back(), capacity()).value()});
    }
  }

  [[nodiscard]] std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  [[nodiscard]] SmResources capacity() const {
    return {config_.capacity_warps * kWarpSize, config_.capacity_registers, config_.capacity_shared, config_.capacity_slots};
  }
  [[nodiscard]] std::vector<JointCounts> golden_candidates() const {
    return balance_candidates(demand_, capacity(), settings_.candidates, sms_ - kernels_.size());
  }
  [[nodiscard]] bool fits_sm(const BalanceSearchTwin& search, std::uint32_t sm) const {
    SmResources free = capacity();
    for (std::size_t k = 0; k < demand_.size(); ++k) {
      const CtaCount count(search.quota(sm, k));
      if (!fits(demand_[k], free, count)) return false;
      free = take(free, demand_[k], count);
    }
    return true;
  }

  SluiceConfig config_;
  BalanceConfig settings_;
  std::uint32_t sms_ = 0;
  std::vector<SmResources> demand_;
  std::vector<BalanceSearchTwin::Kernel> kernels_;

 private:
  std::mt19937_64 random_;
};

/// A search to its end, with counters of a fixed speed of each kernel in each partition.
TEST(Balance, TwinIsGoldenInRandomScenes) {
  std::uint32_t decided = 0, refused = 0, in_order = 0;
  for (std::uint64_t seed = 1; seed <= 100000; ++seed) {
    Scene scene(seed);
    const std::vector<JointCounts> candidates = scene.golden_candidates();
    BalanceSearchTwin search(scene.settings_, scene.sms_);
    ASSERT_EQ(search.begin(scene.config_, scene.kernels_), !candidates.empty()) << seed;
    if (candidates.empty()) {
      ++refused;
      continue;
    }
    const std::size_t kernels = scene.kernels_.size();
    const std::uint64_t speeds = scene.between(1, ~0U);
    const auto speed = [&](std::uint32_t sm, std::size_t k) {  // of its CTAs there, by what else is there
      std::uint64_t hash = speeds;
      for (std::size_t other = 0; other < kernels; ++other) hash = hash * 6364136223846793005ULL + search.quota(sm, other) + k;
      return static_cast<std::uint32_t>(1000 + (hash >> 40U) % 19000);
    };
    std::uint32_t windows = 0;
    do {
      ASSERT_LE(++windows, kernels) << seed << ": the search does not end";
      for (std::uint32_t sm = 0; sm < scene.sms_; ++sm) {
        ASSERT_TRUE(scene.fits_sm(search, sm)) << seed << ": SM " << sm << " is given what does not fit";
        ASSERT_LT(search.owner(sm), kernels) << seed;
        ASSERT_GT(search.quota(sm, search.owner(sm)), 0U) << seed;
        search.take(sm, speed(sm, search.owner(sm)));
      }
    } while (!search.end_of_window());
    const BalanceReport& report = search.report();
    ASSERT_EQ(report.candidates.size(), candidates.size()) << seed;
    std::vector<std::vector<double>> rates;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const BalanceCandidate& seen = report.candidates[c];
      ASSERT_EQ(seen.ctas, candidates[c]) << seed;
      ASSERT_NEAR(seen.score, std::reduce(seen.rates.begin(), seen.rates.end()), 1e-9) << seed;
      for (const double rate : seen.rates) ASSERT_GT(rate, 0) << seed << ": a kernel was never counted";
      rates.push_back(seen.rates);
    }
    const auto golden = balance_choice(rates, scene.settings_.keep);
    ASSERT_EQ(golden.has_value(), search.kept() != nullptr) << seed;
    ASSERT_EQ(golden ? static_cast<std::int32_t>(*golden) : -1, report.kept) << seed;
    ++(golden ? decided : in_order);
    // From outside: nothing that was measured is better than what is kept, or than running in order.
    const double kept = golden ? report.candidates[*golden].score : scene.settings_.keep;
    for (const BalanceCandidate& c : report.candidates) ASSERT_LE(c.score, kept) << seed;
  }
  EXPECT_GT(decided, 10000U);
  EXPECT_GT(in_order, 1000U);
  EXPECT_GT(refused, 1000U);
}

/// No clean sample of a kernel: its partition is not kept.
TEST(Balance, APartitionThatNobodyMeasuredIsNotKept) {
  Scene scene(7);
  for (std::uint64_t seed = 8; scene.golden_candidates().empty() || scene.kernels_.size() != 2; ++seed) scene = Scene(seed);
  scene.settings_.keep = 0;
  BalanceSearchTwin search(scene.settings_, scene.sms_);
  ASSERT_TRUE(search.begin(scene.config_, scene.kernels_));
  while (!search.end_of_window()) {
  }
  EXPECT_EQ(search.kept(), nullptr);
  EXPECT_LT(search.report().kept, 0);
}

}  // namespace
}  // namespace sluice
