// SPDX-License-Identifier: Apache-2.0
// Mode Balance: the twin's search against the golden rules over random scenes, and what it promises on any.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "sw/partition/balance.h"
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
    settings_.rounds = between(2, 4);
    const bool wished = between(0, 1) == 0, promised = between(0, 3) == 0;
    for (std::uint32_t k = 0; k < kernels; ++k) {
      config_.demand_warps[k] = between(1, 24);
      config_.demand_registers[k] = between(1, 20000);
      config_.demand_shared[k] = between(0, 3) == 0 ? between(1, 30000) : 0;
      demand_.push_back({config_.demand_warps[k] * kWarpSize, config_.demand_registers[k], config_.demand_shared[k], 1});
      BalanceWish& wish = wishes_.emplace_back();
      if (wished) wish.weight = between(16, 2048) / 256.0;
      if (promised) wish.floor = between(0, 1000) / 1000.0;
      kernels_.push_back({k, occupancy(demand_.back(), capacity()).value(), wish});
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
  std::vector<BalanceWish> wishes_;
  std::vector<BalanceSearchTwin::Kernel> kernels_;

 private:
  std::mt19937_64 random_;
};

/// Rounds of a search to its end, with counters of a fixed speed of each kernel in each partition, against the golden rules.
class Rounds {
 public:
  enum class End { Base, InTurn, InOrder };

  Rounds(Scene& scene, BalanceSearchTwin& search, JointCounts base)
      : scene_(scene), search_(search), base_(std::move(base)), speeds_(scene.between(1, ~0U)) {
    for (std::size_t k = 0; k < kernels(); ++k) search_.alone(k, speed_alone(k));
  }

  /// @return what is kept in the end
  End run() {
    bool more = search_.begin(scene_.config_, scene_.kernels_, counts(base_));
    const bool climbs_at_all = wanted().size() > 1;
    EXPECT_TRUE(more);
    for (bool climbs = climbs_at_all; climbs; ++rounds_) {
      EXPECT_LT(rounds_, scene_.settings_.rounds) << "the search does not end";
      const std::vector<JointCounts> list = wanted();
      more = round();
      compare(list);
      climbs = step(list) && rounds_ + 1 < scene_.settings_.rounds;
      if (climbs) {
        EXPECT_TRUE(more);
      } else {
        finish(list);
      }
    }
    EXPECT_TRUE(more);
    return run_on_all();
  }

  std::uint32_t climbed = 0, returned = 0;

 private:
  /// The base; CTAs in turn, if there was no round; each kernel alone, if neither that nor the last round reaches `keep`: each on
  /// all SMs.
  End run_on_all() {
    const BalanceReport& report = search_.report();
    const auto seen = [&](std::size_t from_last) { return report.candidates.at(report.candidates.size() - from_last); };
    const auto on_all = [&](const std::vector<std::uint32_t>& held) {
      for (std::uint32_t sm = 0; sm < scene_.sms_; ++sm)
        for (std::size_t k = 0; k < kernels(); ++k) EXPECT_EQ(search_.quota(sm, k), held[k]);
    };
    std::vector<std::uint32_t> most;
    for (const auto& kernel : scene_.kernels_) most.push_back(kernel.fits);
    const auto better = [&](double base, double in_turn) { return balance_turns(base, in_turn) ? in_turn : base; };
    const double keep = scene_.settings_.keep;
    on_all(counts(base_));
    EXPECT_FALSE(search_.in_turn());
    bool more = windows(BalanceSearchTwin::kOnAll);
    EXPECT_EQ(report.candidates.size(), tried_.size() + 1);
    EXPECT_EQ(seen(1).score, balance_score(seen(1).rates, scene_.wishes_));
    EXPECT_EQ(report.floors, balance_shortfall(seen(1).rates, scene_.wishes_) == 0);
    const bool no_round = tried_.empty() && !promised();
    if (no_round) {
      EXPECT_TRUE(more);
      on_all(most);
      EXPECT_TRUE(search_.in_turn());
      more = windows(BalanceSearchTwin::kOnAll);
      EXPECT_EQ(report.candidates.size(), tried_.size() + 3);
    }
    const double before = no_round ? better(seen(2).score, seen(1).score) : seen(1).score;
    const bool alone = !promised() && balance_doubts(last_score_, before, keep);
    EXPECT_EQ(more, alone);
    for (std::size_t k = 0; k < kernels() && alone; ++k) {
      EXPECT_TRUE(more);
      std::vector<std::uint32_t> held(kernels(), 0);
      held[k] = most[k];
      on_all(held);
      EXPECT_FALSE(search_.in_turn());
      more = windows(BalanceSearchTwin::kOnAll);
    }
    EXPECT_FALSE(more);
    const std::size_t of = no_round ? 2 : 1;  // things that all SMs have held
    EXPECT_EQ(report.candidates.size(), tried_.size() + 1 + (no_round ? of : 0) + (alone ? of : 0));
    for (std::size_t from_last = 1; from_last <= of; ++from_last) {
      const bool in_turn = no_round && from_last == 1;
      EXPECT_EQ(seen(from_last).score, balance_score(seen(from_last).rates, scene_.wishes_));
      EXPECT_EQ(seen(from_last).ctas.empty(), in_turn);
      for (std::size_t k = 0; k < kernels(); ++k) {
        const std::vector<std::uint32_t> held = in_turn ? most : counts(base_);
        const double over = hashed(held, k, in_turn ? 7 : 0) * 16384.0 / (alone ? alone_on_all(k) : speed_alone(k));
        EXPECT_EQ(seen(from_last).rates[k], std::min(4.0, std::floor(over) / 16384));
      }
    }
    const bool turns = no_round && balance_turns(seen(2).score, seen(1).score);
    const double score = no_round ? better(seen(2).score, seen(1).score) : seen(1).score, least = std::ceil(keep * 16384) / 16384;
    const End end = alone && score < least ? End::InOrder : turns ? End::InTurn : End::Base;
    const auto last = static_cast<std::int32_t>(report.candidates.size()) - 1;
    EXPECT_EQ(report.kept, end == End::InOrder ? -1 : last - (no_round && !turns ? 1 : 0));
    // From outside: nothing that was seen is much better than what is kept.
    EXPECT_LE(std::max(seen(1).score, seen(of).score) * 64, (end == End::InOrder ? least : score) * 65);
    if (end == End::InTurn) base_ = JointCounts(most.begin(), most.end());
    return kept(end);
  }
  [[nodiscard]] bool promised() const {
    return std::ranges::any_of(scene_.wishes_, [](const BalanceWish& w) { return w.floor > 0; });
  }
  [[nodiscard]] std::size_t kernels() const { return scene_.kernels_.size(); }
  [[nodiscard]] std::uint32_t group() const { return scene_.sms_ < 8 ? 1 : 2; }
  static std::vector<std::uint32_t> counts(const JointCounts& of) {
    std::vector<std::uint32_t> plain;
    for (const CtaCount c : of) plain.push_back(c.value());
    return plain;
  }
  [[nodiscard]] std::vector<JointCounts> wanted() const {
    const std::size_t room = (scene_.sms_ - std::max(1U, scene_.sms_ * 3 / 8)) / group();
    return balance_round(base_, before_, tried_, scene_.demand_, scene_.capacity(),
                         std::min<std::size_t>(scene_.settings_.candidates, room));
  }
  bool round() { return windows(std::max(8U, static_cast<std::uint32_t>(kernels()))); }
  bool windows(std::uint32_t count) {
    bool over = false;
    for (std::uint32_t window = 0; window < count; ++window) {
      EXPECT_FALSE(over) << "after window " << window;
      for (std::uint32_t sm = 0; sm < scene_.sms_; ++sm) {
        EXPECT_TRUE(search_.in_turn() || scene_.fits_sm(search_, sm)) << "SM " << sm << " is given what does not fit";
        EXPECT_GT(search_.quota(sm, search_.owner(sm)), 0U);
        search_.take(sm, speed(sm, search_.owner(sm)));
      }
      over = search_.end_of_window();
    }
    EXPECT_TRUE(over);
    return search_.next(scene_.config_);
  }
  void compare(const std::vector<JointCounts>& list) {
    const auto& candidates = search_.report().candidates;
    ASSERT_GE(candidates.size(), list.size());
    rates_.clear();
    for (std::size_t c = 0; c < list.size(); ++c) {
      const BalanceCandidate& seen = candidates[candidates.size() - list.size() + c];
      EXPECT_EQ(seen.ctas, list[c]);
      EXPECT_EQ(seen.again, !tried_.empty());
      EXPECT_EQ(seen.score, balance_score(seen.rates, scene_.wishes_));
      EXPECT_GT(seen.score, 0) << "a kernel was never counted";
      rates_.push_back(seen.rates);
    }
    tried_.insert(tried_.end(), list.begin(), list.end());
  }
  bool step(const std::vector<JointCounts>& list) {
    const auto next = balance_climb(rates_, scene_.wishes_, before_rates_);
    const std::size_t at = next.value_or(1);
    EXPECT_EQ(search_.report().kept, static_cast<std::int32_t>(search_.report().candidates.size() - list.size() + at));
    const double misses = balance_shortfall(next ? rates_[at] : before_rates_, scene_.wishes_);
    EXPECT_EQ(search_.report().floors, misses == 0);
    // From outside: nothing of the round comes nearer to the floors, or as near and is much better than what it leads to.
    for (const auto& of : rates_) {
      if (!next) break;
      EXPECT_GE(balance_shortfall(of, scene_.wishes_), misses);
      double paid = 1;
      for (std::size_t k = 0; k < kernels(); ++k) paid *= of[k] / rates_[0][k];
      if (balance_shortfall(of, scene_.wishes_) == misses && paid >= 0.875) {
        EXPECT_LE(balance_score(of, scene_.wishes_) * 64, balance_score(rates_[at], scene_.wishes_) * 65);
      }
    }
    returned += !next;
    climbed += next && at != 0;
    base_at_ = at;  // also of the base before, which is the second in the list
    if (!next) {
      base_ = *before_;
      return false;
    }
    if (at == 0) return false;
    before_ = base_;
    before_rates_ = rates_[0];
    base_ = list[at];
    return true;
  }
  void finish(const std::vector<JointCounts>& list) {
    last_score_ = balance_score(rates_[base_at_], scene_.wishes_);
    ASSERT_LT(base_at_, list.size());
    EXPECT_EQ(list[base_at_], base_);
  }
  End kept(End end) {
    EXPECT_EQ(search_.kept() != nullptr, end != End::InOrder);
    EXPECT_EQ(search_.in_turn(), end == End::InTurn);
    if (search_.kept() != nullptr) {
      EXPECT_EQ(*search_.kept(), counts(base_));
    }
    return end;
  }
  [[nodiscard]] std::uint32_t hashed(const std::vector<std::uint32_t>& held, std::size_t k, std::uint64_t turns = 0) const {
    std::uint64_t hash = speeds_ + turns;
    for (const std::uint32_t count : held) hash = hash * 6364136223846793005ULL + count + k;
    return static_cast<std::uint32_t>(1000 + (hash >> 40U) % 19000);
  }
  [[nodiscard]] std::uint32_t speed(std::uint32_t sm, std::size_t k) const {  // of its CTAs there, by what else is there
    std::vector<std::uint32_t> held;
    for (std::size_t j = 0; j < kernels(); ++j) held.push_back(search_.quota(sm, j));
    if (search_.on_all()) {
      const bool alone = std::ranges::count(held, 0U) + 1 == std::ssize(held);
      return alone ? alone_on_all(k) : hashed(held, k, search_.in_turn() ? 7 : 0);
    }
    return hashed(held, k) * (6 - rounds_) / 6;  // less from round to round
  }
  /// A quarter more or less than on SMs of its own in the profile.
  [[nodiscard]] std::uint32_t alone_on_all(std::size_t k) const { return speed_alone(k) * (k % 2 == 0 ? 3 : 5) / 4; }
  [[nodiscard]] std::uint32_t speed_alone(std::size_t k) const {
    std::vector<std::uint32_t> held(kernels(), 0);
    held[k] = scene_.kernels_[k].fits;
    return hashed(held, k);
  }

  Scene& scene_;
  BalanceSearchTwin& search_;
  JointCounts base_;
  std::optional<JointCounts> before_;
  std::vector<double> before_rates_;
  std::vector<JointCounts> tried_;
  std::vector<std::vector<double>> rates_;  ///< of the round
  std::size_t base_at_ = 0;                 ///< in the round
  double last_score_ = 0;
  std::uint32_t rounds_ = 0;
  std::uint64_t speeds_;
};

TEST(Balance, TwinIsGoldenInRandomScenes) {
  using End = Rounds::End;
  std::map<End, std::uint32_t> ends;
  std::uint32_t climbed = 0, returned = 0;
  for (std::uint64_t seed = 1; seed <= 100000 && !HasFailure(); ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    Scene scene(seed);
    const std::vector<JointCounts> frontier = scene.golden_candidates();
    if (frontier.empty()) continue;  // Warped-Slicer finds no partition either
    JointCounts base = frontier[scene.between(0, static_cast<std::uint32_t>(frontier.size()) - 1)];
    if (scene.between(0, 3) == 0) base.front() = CtaCount(scene.between(1, base.front().value()));  // with room left
    BalanceSearchTwin search(scene.settings_, scene.sms_);
    Rounds rounds(scene, search, base);
    ++ends[rounds.run()];
    climbed += rounds.climbed;
    returned += rounds.returned;
  }
  for (const End end : {End::Base, End::InTurn, End::InOrder}) EXPECT_GT(ends[end], 300U);
  for (const std::uint32_t seen : {climbed, returned}) EXPECT_GT(seen, 300U);
}

/// What no SM has counted is never gone to: Warped-Slicer's partition stays.
TEST(Balance, APartitionThatNobodyMeasuredIsNotKept) {
  Scene scene(7);
  for (std::uint64_t seed = 8; scene.golden_candidates().empty() || scene.kernels_.size() != 2 || scene.sms_ < 8; ++seed)
    scene = Scene(seed);
  const JointCounts base = scene.golden_candidates().front();
  const std::vector<std::uint32_t> plain{base[0].value(), base[1].value()};
  for (const std::size_t counted : {std::size_t{0}, std::size_t{1}, scene.kernels_.size()}) {
    BalanceSearchTwin search(scene.settings_, scene.sms_);
    for (const std::size_t k : {0U, 1U}) search.alone(k, 1000);
    if (!search.begin(scene.config_, scene.kernels_, plain)) continue;
    do {
      for (std::uint32_t sm = 0; sm < scene.sms_; ++sm)
        if (search.owner(sm) == counted) search.take(sm, 1000 + sm);
    } while (!search.end_of_window());
    EXPECT_FALSE(search.next(scene.config_));
    ASSERT_NE(search.kept(), nullptr);
    EXPECT_EQ(*search.kept(), plain) << counted;
  }
}

}  // namespace
}  // namespace sluice
