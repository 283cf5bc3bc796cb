// SPDX-License-Identifier: Apache-2.0
// Mode Balance: the twin's search against the golden candidates and choice over random scenes, and what it promises on any.
#include "sw/partition/balance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/unit/twin/balance_search.h"
#include "systemc/unit/twin/cta_spacing.h"
#include "tests/systemc/scripted_kernel.h"

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
  Rounds(Scene& scene, BalanceSearchTwin& search, JointCounts base)
      : scene_(scene), search_(search), base_(std::move(base)), speeds_(scene.between(1, ~0U)) {
    for (std::size_t k = 0; k < kernels(); ++k) search_.alone(k, speed_alone(k));
  }

  /// @return whether they share by a partition in the end
  bool run() {
    bool more = search_.begin(scene_.config_, scene_.kernels_, counts(base_));
    EXPECT_EQ(more, wanted().size() > 1);
    if (!more) return true;
    for (bool climbs = true; climbs; ++rounds_) {
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
    // Where no score reaches `keep` each kernel is measured alone on every SM, and the base's last rates count anew.
    const bool promised = std::ranges::any_of(scene_.wishes_, [](const BalanceWish& w) { return w.floor > 0; });
    const BalanceReport& report = search_.report();
    EXPECT_EQ(more, !promised && last_score_ < scene_.settings_.keep) << last_score_;
    if (!more) return kept(true);
    for (std::size_t k = 0; k < kernels(); ++k) {
      for (std::uint32_t sm = 0; sm < scene_.sms_; ++sm)
        for (std::size_t j = 0; j < kernels(); ++j) EXPECT_EQ(search_.quota(sm, j), j == k ? scene_.kernels_[k].fits : 0);
      EXPECT_EQ(round(), k + 1 < kernels());
    }
    EXPECT_EQ(report.candidates.size(), tried_.size() + 1);
    const bool shares = report.candidates.back().score >= std::ceil(scene_.settings_.keep * 16384) / 16384;
    EXPECT_EQ(report.kept < 0, !shares);
    return kept(shares);
  }

  std::uint32_t climbed = 0, returned = 0;

 private:
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
  bool round() {
    bool over = false;
    for (std::uint32_t window = 0; window < std::max(8U, static_cast<std::uint32_t>(kernels())); ++window) {
      EXPECT_FALSE(over) << "after window " << window;
      for (std::uint32_t sm = 0; sm < scene_.sms_; ++sm) {
        EXPECT_TRUE(scene_.fits_sm(search_, sm)) << "SM " << sm << " is given what does not fit";
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
  bool kept(bool shares) {
    EXPECT_EQ(search_.kept() != nullptr, shares);
    if (shares) {
      EXPECT_EQ(*search_.kept(), counts(base_));
    }
    return shares;
  }
  [[nodiscard]] std::uint32_t hashed(const std::vector<std::uint32_t>& held, std::size_t k) const {
    std::uint64_t hash = speeds_;
    for (const std::uint32_t count : held) hash = hash * 6364136223846793005ULL + count + k;
    return static_cast<std::uint32_t>(1000 + (hash >> 40U) % 19000);
  }
  [[nodiscard]] std::uint32_t speed(std::uint32_t sm, std::size_t k) const {  // of its CTAs there, by what else is there
    std::vector<std::uint32_t> held;
    for (std::size_t j = 0; j < kernels(); ++j) held.push_back(search_.quota(sm, j));
    return hashed(held, k) * (6 - rounds_) / 6;  // less from round to round
  }
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
  std::uint32_t shared = 0, in_order = 0, climbed = 0, returned = 0;
  for (std::uint64_t seed = 1; seed <= 100000 && !HasFailure(); ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    Scene scene(seed);
    const std::vector<JointCounts> frontier = scene.golden_candidates();
    if (frontier.empty()) continue;  // Warped-Slicer finds no partition either
    JointCounts base = frontier[scene.between(0, static_cast<std::uint32_t>(frontier.size()) - 1)];
    if (scene.between(0, 3) == 0) base.front() = CtaCount(scene.between(1, base.front().value()));  // with room left
    BalanceSearchTwin search(scene.settings_, scene.sms_);
    Rounds rounds(scene, search, base);
    ++(rounds.run() ? shared : in_order);
    climbed += rounds.climbed;
    returned += rounds.returned;
  }
  for (const std::uint32_t seen : {shared, in_order, climbed, returned}) EXPECT_GT(seen, 300U);
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

RunSpec mix_of(const std::string& names, std::uint64_t window, MachineConfig machine) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const Workload workload = read_workload(root / "configs/workloads/table2.toml");
  const Mix mix = parse_mixes(workload, machine, names).front();
  RunSpec spec = mix_spec(machine, mix.kernels, policy_plans("balance", machine, mix.kernels).front(),
                          std::vector<std::uint64_t>(mix.kernels.size(), 0), PartitionerKind::Twin, 1);
  spec.window = Cycles(window);
  return spec;
}
MachineConfig fermi() { return read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml"); }

/// CTAs of each kernel on each SM at a time, from the timeline of CTAs.
std::vector<std::vector<std::uint32_t>> resident(const nlohmann::json& timeline, const RunSpec& spec, std::uint64_t at) {
  std::vector<std::vector<std::uint32_t>> found(spec.machine.num_sms, std::vector<std::uint32_t>(spec.launches.size()));
  for (const nlohmann::json& event : timeline) {
    if (event["ph"] != "X" || event["ts"] > at || event["ts"].get<std::uint64_t>() + event["dur"].get<std::uint64_t>() <= at)
      continue;
    for (std::size_t k = 0; k < spec.launches.size(); ++k)
      found[event["pid"].get<std::size_t>()][k] += event["name"] == spec.launches[k].kernel.name ? 1 : 0;
  }
  return found;
}

/// What is on the SMs, seen from the CTAs: the first round's partitions, and then what was kept.
TEST(Balance, SmsHoldTheCandidatesAndThenWhatIsKept) {
  RunSpec spec = mix_of("DXT_HOT", 500000, fermi());
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_timeline_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  ASSERT_EQ(result.decisions.size(), 1U);
  const Decision& decision = result.decisions.front();
  ASSERT_EQ(decision.reason, DecisionReason::Measured);
  const auto& candidates = decision.balance.candidates;
  std::vector<JointCounts> first;
  for (const BalanceCandidate& c : candidates) {
    if (!c.again) first.push_back(c.ctas);
  }
  ASSERT_GT(first.size(), 2U);
  const JointCounts& kept = candidates.at(static_cast<std::size_t>(decision.balance.kept)).ctas;
  const auto seen_at = [&](std::uint64_t at) {
    std::map<JointCounts, std::uint32_t> sms;
    for (const auto& held : resident(timeline, spec, at)) ++sms[{CtaCount(held[0]), CtaCount(held[1])}];
    return sms;
  };
  const auto in_round = seen_at(90000), in_the_end = seen_at(decision.decided_at.value() + 150000);
  for (const JointCounts& c : first)
    EXPECT_GE(in_round.contains(c) ? in_round.at(c) : 0, 1U) << c[0].value() << " " << c[1].value();
  EXPECT_GE(in_the_end.contains(kept) ? in_the_end.at(kept) : 0, 13U) << "of 16: some are being replaced";
}

/// CTAs that follow one of their kernel into an SM within 100 cycles, once a partition is kept.
std::uint32_t close_entries(std::uint32_t spacing) {
  MachineConfig machine = fermi();
  machine.partitioner.balance.spacing = spacing;
  RunSpec spec = mix_of("DXT_HOT", 500000, machine);
  spec.timeline_file = std::filesystem::temp_directory_path() / ("balance_spacing_" + std::to_string(::getpid()) + ".json");
  const RunResult result = scripted::run({spec}).front();
  const nlohmann::json timeline = nlohmann::json::parse(std::ifstream(spec.timeline_file));
  std::filesystem::remove(spec.timeline_file);
  std::map<std::pair<std::uint64_t, std::string>, std::set<std::uint64_t>> entries;  // by SM and kernel
  for (const nlohmann::json& event : timeline)
    if (event["ph"] == "X" && event["ts"] > result.decisions.at(0).decided_at.value())
      entries[{event["pid"], event["name"]}].insert(event["ts"].get<std::uint64_t>());
  std::uint32_t close = 0;
  for (const auto& [where, at] : entries)
    for (auto next = at.begin(); next != at.end(); ++next) close += next != at.begin() && *next - *std::prev(next) < 100;
  return close;
}

TEST(Balance, CtasOfWhatIsKeptEnterOneByOne) {
  const std::uint32_t without = close_entries(0), with = close_entries(2048);
  EXPECT_GT(without, 20U);
  EXPECT_LT(with * 4, without);
}

/// As far apart as a 64th of the time until the next end; a kernel that is new does not know the one before, and without spacing
/// none waits.
TEST(Balance, CtasOfAKernelEnterAnSmApart) {
  const CtaDispatcherParams params;
  constexpr std::uint32_t kMost = 2048;
  for (const std::uint32_t life : {400U, 8000U, 400000U}) {
    CtaSpacing spacing(params, kMost);
    CtaDispatcherOut out;
    CtaDispatcherIn in;
    out.state[1] = SlotState::kRunning;
    const auto after_a_cta = [&](bool on) {
      out.dispatch_valid = true;
      out.dispatch_kernel = 1;
      out.dispatch_sm = 3;
      spacing.clock(on, out, in);
      out.dispatch_valid = false;
      std::uint64_t waited = 0;
      for (; spacing.waits(1)[3]; ++waited) {
        EXPECT_EQ(spacing.waits(1).count(), 1U);
        EXPECT_FALSE(spacing.waits(0).any());
        spacing.clock(on, out, in);
      }
      EXPECT_FALSE(spacing.any());
      return waited;
    };
    EXPECT_EQ(after_a_cta(false), 0U);
    EXPECT_EQ(after_a_cta(true), kMost);
    if (life > kMost) spacing.skip(life - kMost);
    in.done_valid = true;
    in.done_sm = 3;
    in.done_slot = out.dispatch_slot;
    spacing.clock(true, out, in);
    in.done_valid = false;
    EXPECT_EQ(after_a_cta(true), std::min<std::uint64_t>(kMost, (std::max(life, kMost) + 1) / (8 * params.ctas)));
    out.state[1] = SlotState::kFree;
    spacing.clock(true, out, in);
    out.state[1] = SlotState::kRunning;
    EXPECT_EQ(after_a_cta(true), kMost);
  }
}

TEST(Balance, IsRefusedWhereNothingCarriesItOut) {
  for (const PartitionerKind kind : {PartitionerKind::Rtl, PartitionerKind::Both})
    EXPECT_THROW(check_unit_has(Mode::Balance, kind), InputError);
  EXPECT_NO_THROW(check_unit_has(Mode::Balance, PartitionerKind::Twin));
}

}  // namespace
}  // namespace sluice
