// SPDX-License-Identifier: Apache-2.0
// Bench of balance_rounds: whole decisions on SMs that settle late or never. What SMs hold and count is seen from outside, by
// their quotas and the reads; where that leads is the golden rules' in the unit's number formats. SLUICE_FULL=1: 10^4 decisions.
#include <Vbalance_rounds.h>
#include <Vbalance_rounds_many.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "systemc/unit/rtl/verilated_model.h"
#include "tb/balance_search/scene.h"
#include "tb/common/coverage.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr unsigned kKIndexW = 3, kInstW = 18;
/// To a port of whatever width the configuration gives it.
template <class Port>
void assign(Port& port, std::uint32_t value) {
  port = static_cast<Port>(value);
}
struct Shape {
  std::uint32_t sms, kernels, ctas, schedulers;
  [[nodiscard]] std::uint32_t group() const { return sms < 8 ? 1 : 2; }
  [[nodiscard]] std::uint32_t base_sms() const { return std::max(1U, sms * 3 / 8); }
  [[nodiscard]] std::uint32_t room() const { return std::min(15U, (sms - base_sms()) / group()); }
};

template <class Top>
class Decision {
 public:
  Decision(const Scene& s, const Shape& shape, VerilatedModel<Top>& rtl, Random& random, Coverage& coverage)
      : s_(s), shape_(shape), rtl_(rtl), random_(random), coverage_(coverage), seed_(random.word()), base_(s.base) {}

  void run() {
    begin();
    bool more = list().size() > 1;
    const bool none = !more;
    while (more && !testing::Test::HasFailure()) {
      if (!round(list(), false, kKernels)) return spoiled();
      more = step();
    }
    if (testing::Test::HasFailure()) return;
    if (!none && !last_.measured) return end(true, false);
    all_sms(none, !none && balance_unit_shares(last_, s_.unit));
  }

 private:
  static constexpr std::size_t kKernels = 99;  ///< all take turns

  [[nodiscard]] std::size_t kernels() const { return s_.demand.size(); }
  [[nodiscard]] std::vector<JointCounts> list() const {
    return balance_round(base_, before_, tried_, s_.demand, s_.capacity, std::min(s_.room, shape_.room()));
  }
  /// The word of a sample: below 4,096 for the most instructions that there can be.
  [[nodiscard]] std::uint32_t word(std::uint32_t instructions) const {
    std::uint32_t shift = 0;
    while (shape_.schedulers * window_ >> shift >= 4096) ++shift;
    return std::min(4095U, shift == 0 ? instructions : (instructions + (1U << (shift - 1))) >> shift);
  }
  [[nodiscard]] std::uint32_t speed_of(const JointCounts& held, std::size_t k) const {
    return speed(held, k, seed_) % (shape_.schedulers * window_ / 2 + 1) + window_ / 8;
  }

  void cycle() {
    rtl_->clk_i = 0;
    rtl_.eval();
    rtl_->demand_i = amounts(s_.demand[std::min<std::size_t>(rtl_->demand_kernel_o, kernels() - 1)]);
    rtl_.low();
    rtl_.high();
    if (rtl_->scored_o == 0 || rtl_->scored_entry_o >= entries_.size()) return;
    const BalanceUnitEntry& want = entries_[rtl_->scored_entry_o];
    EXPECT_EQ(rtl_->measured_o, want.measured) << "entry " << rtl_->scored_entry_o + 0;
    if (want.measured) {
      EXPECT_EQ(rtl_->time_o, want.time) << "entry " << rtl_->scored_entry_o + 0;
    }
  }

  void begin() {
    window_ = random_.chance(0.1) ? random_.in(1024, 9000) : random_.in(40, 300);
    if (random_.chance(0.04)) window_ = 8191;  // of which the most rounds to 4,096
    std::vector<std::uint32_t> slots(shape_.kernels);
    for (std::uint32_t k = 0; k < shape_.kernels; ++k) slots[k] = k;
    std::shuffle(slots.begin(), slots.end(), std::mt19937(random_.word()));
    slots_ = slots;
    rtl_->capacity_i = amounts(s_.capacity);
    rtl_->capacity_slots_i = static_cast<CData>(s_.capacity.cta_slots);
    rtl_->num_kernels_i = static_cast<CData>(kernels());
    rtl_->candidates_i = static_cast<CData>(s_.room);
    rtl_->keep_i = s_.unit.keep;
    rtl_->window_i = static_cast<SData>(window_);
    warm_up_ = random_.chance(0.05) ? random_.word() >> random_.in(12, 20) : random_.in(0, 200);
    rtl_->warm_up_i = warm_up_;
    rtl_->spent_i = 0;
    slower_ = random_.in(0, 2);
    enabled_ = random_.chance(0.8) ? (1U << shape_.sms) - 1 : (random_.word() & ((1U << shape_.sms) - 1)) | 1U;
    assign(rtl_->sm_enable_i, enabled_);
    for (unsigned r = 0; r < shape_.kernels; ++r) {
      const bool is = r < kernels();
      put(rtl_->weight_i, r * kWeightW, kWeightW, is ? s_.unit.weights[r] : 1);
      put(rtl_->floor_i, r * kRateW, kRateW, is ? s_.unit.floors[r] : 0);
      put(rtl_->base_i, r * kCtaW, kCtaW, is ? s_.base[r].value() : 0);
      put(rtl_->slots_i, r * kKIndexW, kKIndexW, slots[r]);
    }
    for (unsigned r = 0; r < kernels(); ++r)  // of the profile: levels of which the last counts
      for (const bool last : {false, true}) {
        const std::uint32_t counted = speed_of({CtaCount(last ? 100 : 1)}, r);
        rtl_->sample_valid_i = 1;
        assign(rtl_->sample_i, (last ? 1U : 0U) << 10U | 1U << 4U | r);
        rtl_->sample_insts_i = counted;
        if (last) alone_.push_back(word(counted) * 8);
        cycle();
      }
    rtl_->sample_valid_i = 0;
    rtl_->start_i = 1;
    cycle();
    rtl_->start_i = 0;
    EXPECT_EQ(rtl_->active_o, 1);
  }

  JointCounts held(std::uint32_t sm) {
    put(rtl_->query_sm_i, 0, shape_.sms, 1U << sm);
    put(rtl_->port_sm_i, 0, shape_.sms, 1U << sm);
    rtl_.eval();
    JointCounts counts;
    for (unsigned r = 0; r < kernels(); ++r) {
      counts.emplace_back(get(rtl_->query_quota_o, slots_[r] * kCtaW, kCtaW));
      EXPECT_EQ(counts.back().value(), get(rtl_->port_quota_o, slots_[r] * kCtaW, kCtaW));
    }
    for (unsigned r = static_cast<unsigned>(kernels()); rtl_->free_o == 0 && r < shape_.kernels; ++r)
      EXPECT_EQ(get(rtl_->query_quota_o, slots_[r] * kCtaW, kCtaW), 0U) << "a kernel that is not of the plan";
    return counts;
  }

  /// One round of the partitions of `list`; in turn, without quotas; or of one kernel alone.
  /// @return false: a kernel was spent, and the base is kept
  bool round(const std::vector<JointCounts>& list, bool in_turn, std::size_t only) {
    entries_.clear();
    for (std::uint64_t waited = 0; rtl_->quota_changed_o == 0; ++waited) {
      if (waited > 200000) {
        ADD_FAILURE() << "no round";
        return true;
      }
      cycle();
    }
    if (rtl_->decision_o != 0) {
      ADD_FAILURE() << "a decision instead of round " << rounds_;
      return true;
    }
    const bool all = in_turn || only != kKernels || list.size() == 1;
    // What SMs hold: entries of the list, each on as many as it may have, and the rest the base.
    std::vector<std::uint32_t> entry_of(shape_.sms, 0), sms(list.size(), 0);
    for (std::uint32_t sm = 0; sm < shape_.sms; ++sm) {
      const JointCounts counts = held(sm);
      if (in_turn || only != kKernels) {
        for (std::size_t k = 0; k < kernels(); ++k) EXPECT_EQ(counts[k].value(), in_turn || k == only ? shape_.ctas : 0U) << sm;
        continue;
      }
      const auto at = std::ranges::find(list, counts);
      if (at == list.end()) {
        ADD_FAILURE() << "SM " << sm << " holds what is not in the list of round " << rounds_;
        return true;
      }
      entry_of[sm] = static_cast<std::uint32_t>(at - list.begin());
      ++sms[entry_of[sm]];
    }
    for (std::size_t e = 1; !in_turn && only == kKernels && e < list.size(); ++e) EXPECT_EQ(sms[e], shape_.group());
    if (!all) {
      EXPECT_GE(sms[0], shape_.base_sms());
    }
    EXPECT_EQ(rtl_->free_o, in_turn);
    EXPECT_EQ(rtl_->turns_o, in_turn);
    cycle();
    std::uint32_t settled = random_.chance(0.93) ? enabled_ : random_.word() & enabled_;
    if (random_.chance(0.01)) settled = 0;
    const std::uint32_t late = random_.in(0, 500);
    const bool waits = (settled | ~enabled_) << (32 - shape_.sms) != ~0U << (32 - shape_.sms);
    const bool spends = random_.chance(0.04);
    rtl_->settled_i = 0;
    std::vector<std::vector<std::uint32_t>> sums(list.size(), std::vector<std::uint32_t>(kernels(), 0)), numbers = sums;
    const auto n = static_cast<std::uint32_t>(kernels());
    const std::uint32_t windows = only != kKernels ? 4 : (all ? 4 + n - 1 : 8 + n - 1) / n * n;
    for (std::uint32_t window = 0; window < windows; ++window) {
      std::uint32_t cycles = 0, ran = 0;
      for (; rtl_->profile_enable_o == 0; ++cycles) {
        if (cycles == late) assign(rtl_->settled_i, settled);
        if (cycles > 70000 + warm_up_ / 4) {
          ADD_FAILURE() << "no window " << window;
          return true;
        }
        if (rtl_->profile_clear_o != 0) {
          EXPECT_EQ(rtl_->on_all_o, all);
        }
        cycle();
      }
      if (window == 0) {
        if (waits) coverage_.hit("a round that CTAs keep waiting");
        EXPECT_EQ(cycles, waits ? warm_up_ / 4 + 65536 : std::max(warm_up_ / 4, late) + 1);
      } else {
        EXPECT_EQ(cycles, 1U) << "the next window begins at once";
      }
      for (; rtl_->profile_enable_o != 0; ++ran) {
        EXPECT_EQ(rtl_->profiling_o, 1);
        rtl_->spent_i = static_cast<CData>(spends && window == 1 && ran == 3 ? 1U << slots_[0] : 0);
        cycle();
      }
      EXPECT_EQ(ran, window_);
      rtl_->spent_i = 0;
      read(list, in_turn, only, entry_of, settled, window, sums, numbers);
      if (spends && window == 1) {
        coverage_.hit("a kernel is spent");
        return false;
      }
    }
    for (std::size_t e = 0; e < list.size(); ++e) {
      std::vector<std::uint32_t> means;
      for (std::size_t k = 0; k < kernels(); ++k) {
        EXPECT_EQ(numbers[e][k], only == kKernels ? numbers[e][0] : k == only ? numbers[e][k] : 0);
        EXPECT_LE(numbers[e][k], 63U);
        means.push_back(balance_unit_mean(sums[e][k], numbers[e][k]));
      }
      if (numbers[e] == std::vector<std::uint32_t>(kernels(), 0)) coverage_.hit("an entry that nobody counts");
      if (only != kKernels && numbers[e][only] != 0) alone_[only] = means[only];
      entries_.push_back(balance_unit_entry(means, alone_, s_.unit));
    }
    return true;
  }
  /// All reads of a window.
  void read(const std::vector<JointCounts>& list, bool in_turn, std::size_t only, const std::vector<std::uint32_t>& entry_of,
            std::uint32_t settled, std::uint32_t window, std::vector<std::vector<std::uint32_t>>& sums,
            std::vector<std::vector<std::uint32_t>>& numbers) {
    std::set<std::uint32_t> seen;
    std::uint32_t of_base = 0;
    while (rtl_->profiling_o != 0 && rtl_->profile_clear_o == 0) {
      rtl_->clk_i = 0;
      rtl_.eval();
      const bool reads = rtl_->sample_read_o != 0;
      const std::uint32_t sm = rtl_->sample_sm_o;
      if (reads) {
        const std::uint32_t owner = get(rtl_->owner_o, sm * kKIndexW, kKIndexW);
        const auto k = static_cast<std::size_t>(std::ranges::find(slots_, owner) - slots_.begin());
        EXPECT_EQ(k, only != kKernels ? only : (sm + window) % kernels()) << "SM " << sm << " counts it";
        EXPECT_TRUE(seen.insert(sm).second) << "SM " << sm << " is read twice";
        EXPECT_TRUE((enabled_ >> sm & 1U) != 0 && (in_turn || only != kKernels || (settled >> sm & 1U) != 0)) << "SM " << sm;
        JointCounts counts = list[entry_of[sm]];
        if (in_turn) counts.emplace_back(1U);
        if (only != kKernels) counts = {CtaCount(99)};
        const std::uint32_t counted =
            random_.chance(0.02) ? shape_.schedulers * window_ : speed_of(counts, k) >> (only != kKernels ? slower_ : 0);
        sums[entry_of[sm]][k] += word(counted);
        ++numbers[entry_of[sm]][k];
        of_base += entry_of[sm] == 0 ? 1 : 0;
        cycle();
        rtl_->sample_insts_i = counted;
      } else {
        cycle();
      }
    }
    std::uint32_t could = 0;
    for (std::uint32_t sm = 0; sm < shape_.sms; ++sm) {
      const bool can = (enabled_ >> sm & 1U) != 0 && (in_turn || only != kKernels || (settled >> sm & 1U) != 0);
      could += can && entry_of[sm] == 0 ? 1 : 0;
      EXPECT_TRUE(!can || entry_of[sm] == 0 || seen.contains(sm)) << "SM " << sm << " is not read";
    }
    EXPECT_EQ(of_base, std::min(15U, could));
    if (could > 15) coverage_.hit("more SMs than the base needs");
  }

  /// @return there is another round
  bool step() {
    const std::vector<JointCounts> now = list();
    tried_.insert(tried_.end(), now.begin(), now.end());
    const std::optional<std::size_t> next = balance_unit_climb(entries_, before_entry_);
    const std::size_t at = next.value_or(1);
    last_ = entries_[at];
    coverage_.hit(!next ? "back to the one before" : at == 0 ? "the base stays" : "a step");
    if (!next) base_ = *before_;
    if (!next || at == 0) return false;
    before_ = base_;
    before_entry_ = entries_[0];
    base_ = now[at];
    return ++rounds_ < 3;
  }

  void all_sms(bool none, bool worth) {
    const bool promised = std::ranges::any_of(s_.unit.floors, [](std::uint32_t f) { return f > 0; });
    if (!round({base_}, false, kKernels)) return spoiled();
    BalanceUnitEntry base = entries_[0], in_turn;
    if (promised || !base.measured) return end(true, false);
    if (none && !round({base_}, true, kKernels)) return spoiled();
    if (none) in_turn = entries_[0];
    bool turns = none && balance_unit_turns(base, in_turn);
    if (worth || balance_unit_shares(turns ? in_turn : base, s_.unit)) {
      coverage_.hit(turns ? "CTAs in turn" : "worth it");
      return end(true, turns);
    }
    for (std::size_t k = 0; k < kernels(); ++k)
      if (!round({base_}, false, k)) return spoiled();
    base = balance_unit_entry(base.means, alone_, s_.unit);
    if (none) in_turn = balance_unit_entry(in_turn.means, alone_, s_.unit);
    turns = none && balance_unit_turns(base, in_turn);
    entries_ = {base, in_turn};  // are rated anew
    const BalanceUnitEntry& best = turns ? in_turn : base;
    const bool shares = best.measured && balance_unit_shares(best, s_.unit);
    coverage_.hit(shares ? "worth it by rates alone on all SMs" : "in order");
    end(shares, shares && turns);
  }

  /// The base of the round stays.
  void spoiled() { end(true, false); }
  void end(bool shares, bool turns) {
    if (testing::Test::HasFailure()) return;
    for (std::uint64_t waited = 0; rtl_->decision_o == 0; ++waited) {
      ASSERT_LT(waited, 200000U) << "no decision";
      cycle();
    }
    EXPECT_EQ(rtl_->held_o, 1);
    EXPECT_EQ(rtl_->quota_changed_o, 1);
    EXPECT_EQ(rtl_->free_o, !shares || turns);
    EXPECT_EQ(rtl_->turns_o, turns);
    const JointCounts none(kernels(), CtaCount(shape_.ctas));
    for (std::uint32_t sm = 0; sm < shape_.sms; ++sm) EXPECT_EQ(held(sm), shares && !turns ? base_ : none) << "SM " << sm;
    for (std::uint32_t i = random_.in(1, 50); i > 0; --i) {
      cycle();
      EXPECT_EQ(rtl_->held_o, 1);
      EXPECT_EQ(rtl_->quota_changed_o | rtl_->decision_o | rtl_->profiling_o, 0);
    }
    rtl_->abort_i = 1;
    cycle();
    rtl_->abort_i = 0;
    EXPECT_EQ(rtl_->active_o, 0);
  }

  const Scene& s_;
  const Shape& shape_;
  VerilatedModel<Top>& rtl_;
  Random& random_;
  Coverage& coverage_;
  std::uint64_t seed_;
  JointCounts base_;
  std::optional<JointCounts> before_;
  std::optional<BalanceUnitEntry> before_entry_;
  std::vector<JointCounts> tried_;
  std::vector<BalanceUnitEntry> entries_;  ///< of the round
  BalanceUnitEntry last_;                  ///< the base of the last round
  std::vector<std::uint32_t> alone_, slots_;
  std::uint32_t window_ = 0, warm_up_ = 0, enabled_ = 0, rounds_ = 0;
  std::uint32_t slower_ = 0;  ///< halvings of what kernels do alone on all SMs
};

template <class Top>
void decisions(const std::string& name, const Shape& shape, std::uint64_t number) {
  Random random(seed());
  Coverage coverage(name);
  coverage.declare("a round that CTAs keep waiting", "65,536 cycles");
  coverage.declare("an entry that nobody counts", "no SM of it settles");
  coverage.declare("a kernel is spent", "the base stays");
  coverage.declare("the base stays", "nothing is 1 / 64 better");
  coverage.declare("a step", "to another base");
  coverage.declare("back to the one before", "it did 1 / 64 better");
  coverage.declare("worth it", "the score reaches keep");
  coverage.declare("CTAs in turn", "they score 1 / 64 more than a base without neighbours");
  coverage.declare("worth it by rates alone on all SMs", "it does then");
  coverage.declare("in order", "it never does");
  if (shape.sms > 15) coverage.declare("more SMs than the base needs", "15 are read");
  VerilatedModel<Top> rtl(waveform(name));
  rtl->abort_i = rtl->start_i = rtl->sample_valid_i = 0;
  rtl->settled_i = 0;
  rtl->rst_ni = 0;
  rtl.low();
  rtl.high();
  rtl->rst_ni = 1;
  for (std::uint64_t i = 0; i < number && !testing::Test::HasFailure(); ++i) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "decision " + std::to_string(i));
    const auto s = scene(random, shape.kernels, shape.ctas, 15);
    if (s) Decision<Top>(*s, shape, rtl, random, coverage).run();
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

TEST(BalanceRounds, LeadWhereTheGoldenRulesDo) {
  decisions<Vbalance_rounds>("balance_rounds", {16, 4, 8, 2}, campaign(300, 10000));
}

TEST(BalanceRounds, LeadWhereTheGoldenRulesDoOnFiveSms) {
  decisions<Vbalance_rounds_many>("balance_rounds_many", {5, 8, 32, 4}, campaign(200, 2000));
}

}  // namespace
}  // namespace sluice::tb
