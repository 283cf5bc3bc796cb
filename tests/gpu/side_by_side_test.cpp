// SPDX-License-Identifier: Apache-2.0
// What `balance` measures on silicon, on SMs whose rates depend on their own CTAs only.
#include "sw/gpu/jobs/side_by_side.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sw/partition/balance.h"

namespace sluice::gpu {
namespace {

using Counts = std::vector<CtaCount>;

class Sms {
 public:
  explicit Sms(std::uint64_t seed) : draw_(seed) {
    mix_.machine.num_sms = number(20, 132);
    mix_.machine.sm.capacity = {2048, 65536, 233472, 32};
    const std::uint32_t kernels = number(2, 3);
    for (std::uint32_t k = 0; k < kernels + 1; ++k) {  // the last one is done
      const std::uint32_t warps = number(1, 8);
      mix_.kernels.push_back(
          kernel_of(std::string(1, static_cast<char>('A' + k)), {warps * 32, warps * number(1, 8) * 256, 1152, 1}));
      mix_.most.push_back(CtaCount(number(4, 16)));
      speed_.push_back(number(1, 1000));
      if (k < kernels) open_.push_back(k);
    }
    hurt_ = number(0, 30) / 10.0;
  }

  /// Blocks per second of an SM that holds so many CTAs of each.
  [[nodiscard]] std::vector<double> rates(const std::vector<std::uint32_t>& ctas) const {
    double load = 0;
    std::vector<double> own;
    for (std::size_t k = 0; k < ctas.size(); ++k) {
      own.push_back(static_cast<double>(ctas[k]) / mix_.most[k].value());
      load += own.back();
    }
    for (std::size_t k = 0; k < ctas.size(); ++k) own[k] = speed_[k] * std::sqrt(own[k]) / (1 + hurt_ * (load - own[k]));
    return own;
  }
  std::vector<std::vector<double>> measure(const std::vector<QuotaTable>& tables) {
    windows.push_back(tables);
    std::vector<std::vector<double>> rates_by_kernel(tables.size(), std::vector<double>(mix_.machine.num_sms));
    for (std::uint32_t sm = 0; sm < mix_.machine.num_sms; ++sm) {
      std::vector<std::uint32_t> ctas;
      for (const QuotaTable& table : tables) ctas.push_back(table[sm]);
      const std::vector<double> here = rates(ctas);
      for (std::size_t k = 0; k < here.size(); ++k) rates_by_kernel[k][sm] = here[k];
    }
    return rates_by_kernel;
  }
  [[nodiscard]] SideBySide found() {
    std::vector<SmResources> demand;
    for (const std::size_t k : open_) demand.push_back(mix_.kernels[k].demand());
    return measure_side_by_side([this](const auto& tables, double) { return measure(tables); }, mix_, open_,
                                balance_candidates(demand, mix_.machine.sm.capacity, 7, 7), 1.0);
  }
  /// Each open kernel's rate over its own alone.
  [[nodiscard]] std::vector<double> true_rates(std::vector<std::uint32_t> ctas) const {
    std::vector<double> out;
    const std::vector<double> shared = rates(ctas);
    for (const std::size_t k : open_) {
      std::vector<std::uint32_t> alone(mix_.kernels.size(), 0);
      alone[k] = mix_.most[k].value();
      out.push_back(shared[k] / rates(alone)[k]);
    }
    return out;
  }
  [[nodiscard]] const SiliconMix& mix() const { return mix_; }
  [[nodiscard]] std::size_t open() const { return open_.size(); }
  std::vector<std::vector<QuotaTable>> windows;

 private:
  std::uint32_t number(std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(draw_);
  }
  std::mt19937_64 draw_;
  SiliconMix mix_;
  std::vector<std::size_t> open_;
  std::vector<double> speed_;
  double hurt_ = 0;
};

TEST(SideBySide, TheBestOfWhatFitsIsSeenOnAllSmsLast) {
  std::uint32_t worth = 0, not_worth = 0;
  for (std::uint64_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    Sms sms(seed);
    const auto [first, found] = sms.found();
    ASSERT_FALSE(sms.windows.empty());
    double best = 0;
    for (std::uint32_t sm = 0; sm < sms.mix().machine.num_sms; ++sm) {
      std::vector<std::uint32_t> held;
      for (const QuotaTable& table : sms.windows.front()) held.push_back(table[sm]);
      EXPECT_EQ(held.back(), 0U) << "a kernel that is done";
      const auto kernels = std::ranges::count_if(held, [](std::uint32_t ctas) { return ctas != 0; });
      if (kernels == 1) continue;
      ASSERT_EQ(static_cast<std::size_t>(kernels), sms.open()) << "SM " << sm;
      std::vector<SmResources> demand;
      Counts ctas;
      for (std::size_t k = 0; k < sms.open(); ++k) {
        demand.push_back(sms.mix().kernels[k].demand());
        ctas.emplace_back(held[k]);
        EXPECT_LE(ctas[k], sms.mix().most[k]);
      }
      EXPECT_TRUE(fits_sub_cores(demand, ctas, sms.mix().machine.sm.capacity));
      best = std::max(best, balance_score(sms.true_rates(held), std::vector<BalanceWish>(sms.open())));
    }
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(std::ranges::is_sorted(first, std::greater(), &BalanceCandidate::score));
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[found.size() - 1 - i].ctas, first.at(i).ctas) << "the best again";
    if (std::abs(best - 1) < 1e-3) continue;  // either is right
    EXPECT_NEAR(found.back().score, best, 1e-3);
    std::vector<std::uint32_t> last;
    for (const CtaCount ctas : found.back().ctas) last.push_back(ctas.value());
    for (std::size_t k = 0; k < sms.open(); ++k)
      for (const std::uint32_t quota : sms.windows[found.size()][k]) ASSERT_EQ(quota, last[k]);
    EXPECT_EQ(sms.windows.size(), 1 + found.size() + (best < 1.0 ? sms.open() : 0)) << "kernels alone where it is not worth it";
    ++(best < 1.0 ? not_worth : worth);
  }
  EXPECT_GT(worth, 200U);
  EXPECT_GT(not_worth, 200U);
}

}  // namespace
}  // namespace sluice::gpu
