// SPDX-License-Identifier: Apache-2.0
// Bench of balance_search: whole searches with random machines, kernels and samples, against the golden lists, the golden rules
// in the unit's number formats, exactly, and those in double precision; and in as many cycles as its twin.
// SLUICE_FULL=1: 10^5 searches.
#include <Vbalance_search.h>
#include <Vbalance_search_large.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "systemc/unit/rtl/verilated_model.h"
#include "tb/balance_search/scene.h"
#include "tb/common/coverage.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

template <class Top>
class Search {
 public:
  Search(const Scene& s, VerilatedModel<Top>& rtl, Random& random, Coverage& coverage, std::uint32_t most, std::uint32_t ctas)
      : s_(s), rtl_(rtl), random_(random), coverage_(coverage), most_(most), ctas_(ctas), base_(s.base), seed_(random.word()) {}

  void run() {
    begin();
    const bool none = golden_list().size() == 1;  // of rounds
    bool more = !none;
    wait();
    while (more && !testing::Test::HasFailure()) {
      ASSERT_EQ(rtl_->round_o, 1U) << "no round " << rounds_;
      ASSERT_LT(rounds_, 3U) << "it does not end";
      round();
      more = step();
    }
    if (testing::Test::HasFailure()) return;
    if (!none && !last_.measured) {
      coverage_.hit("nothing measured");
      end(true, false);
      return;
    }
    const bool worth = !none && balance_unit_shares(last_, s_.unit);
    on_all(none, worth);
  }

  /// A search that is not carried to its end, and what must not come of it.
  void drop() {
    begin();
    const std::uint32_t after = random_.in(1, 2000);
    for (std::uint32_t i = 0; i < after && rtl_->round_o == 0; ++i) cycle();
    if (random_.chance(0.5)) return;  // the next start drops it
    rtl_->abort_i = 1;
    cycle();
    rtl_->abort_i = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) {
      ASSERT_EQ(rtl_->done_o | rtl_->round_o, 0);
      cycle();
    }
  }

  /// What follows the rounds, by the rule of the policy's twin (systemc/unit/twin/balance_search.cpp).
  void on_all(bool none, bool worth) {
    const bool promised = std::ranges::any_of(s_.unit.floors, [](std::uint32_t f) { return f > 0; });
    BalanceUnitEntry base = held(false), in_turn;
    if (promised || !base.measured) {
      coverage_.hit(promised ? "floors" : "nothing measured on all SMs");
      last_ = base;
      end(true, false);
      return;
    }
    if (none) in_turn = held(true);
    bool turns = none && balance_unit_turns(base, in_turn);
    last_ = turns ? in_turn : base;
    if (worth || balance_unit_shares(last_, s_.unit)) {
      coverage_.hit(turns ? "CTAs in turn" : balance_unit_shares(last_, s_.unit) ? "worth it" : "worth it by the last round");
      end(true, turns);
      return;
    }
    for (std::size_t k = 0; k < kernels(); ++k) alone(k, none ? 3 : random_.in(0, 2));
    base = balance_unit_entry(base.means, alone_, s_.unit);
    std::map<std::uint32_t, BalanceUnitEntry> scores{{0, base}};
    if (none) scores[1] = in_turn = balance_unit_entry(in_turn.means, alone_, s_.unit);
    turns = none && balance_unit_turns(base, in_turn);
    last_ = turns ? in_turn : base;
    const bool shares = last_.measured && balance_unit_shares(last_, s_.unit);
    const char* shared = turns ? "CTAs in turn, by rates alone on all SMs" : "worth it by rates alone on all SMs";
    coverage_.hit(shares ? shared : "in order");
    wait();
    told(scores);
    end(shares, shares && turns);
  }
  /// What all SMs hold, the base or CTAs in turn.
  BalanceUnitEntry held(bool in_turn) {
    EXPECT_EQ(rtl_->round_o & rtl_->on_all_o, 1);
    EXPECT_EQ(rtl_->turns_o, in_turn);
    EXPECT_EQ(rtl_->alone_o, 0);
    for (const std::uint32_t e : {0U, random_.in(0, 15)}) EXPECT_EQ(counts(e), base_);
    std::vector<std::uint32_t> means;
    JointCounts counts = base_;
    if (in_turn) counts.emplace_back(1U);  // does other than the base
    const std::uint32_t number = random_.chance(0.05) ? 0 : random_.in(1, 6);
    for (std::size_t k = 0; k < kernels(); ++k) means.push_back(samples(random_.in(0, 15), k, counts, number).first);
    hand_over();
    const BalanceUnitEntry entry = balance_unit_entry(means, alone_, s_.unit);
    wait();
    told({{in_turn ? 1 : 0, entry}});
    return entry;
  }

  std::uint64_t decisions = 0, other = 0, most_cycles = 0;  ///< other than in double precision; between rounds
  double regret = 0;                                        ///< most of a score

 private:
  [[nodiscard]] std::size_t kernels() const { return s_.demand.size(); }
  [[nodiscard]] std::vector<JointCounts> golden_list() const {
    return balance_round(base_, before_, tried_, s_.demand, s_.capacity, s_.room);
  }

  void cycle() {
    rtl_->clk_i = 0;
    rtl_.eval();
    rtl_->demand_i = amounts(s_.demand[std::min<std::size_t>(rtl_->demand_kernel_o, kernels() - 1)]);
    rtl_.low();
    rtl_.high();
    if (rtl_->scored_o != 0) scored_[rtl_->scored_entry_o] = {{}, rtl_->measured_o != 0, 0, rtl_->time_o};
  }
  [[nodiscard]] CData row_of(std::uint32_t entry) {
    return static_cast<CData>(get(rtl_->list_rows_o, (entry < rtl_->entries_o ? entry : 0) * kRowW, kRowW));
  }
  [[nodiscard]] JointCounts counts(std::uint32_t entry) { return at_row(row_of(entry)); }
  [[nodiscard]] JointCounts at_row(CData row) {
    rtl_->query_row_i = rtl_->port_row_i = row;
    rtl_.eval();
    const JointCounts found = counts_of(rtl_->counts_o, kernels());
    EXPECT_EQ(counts_of(rtl_->port_counts_o, kernels()), found);
    rtl_->port_row_i = row_of(random_.in(0, 15));  // of another
    return found;
  }

  void begin() {
    rtl_->capacity_i = amounts(s_.capacity);
    rtl_->capacity_slots_i = static_cast<CData>(s_.capacity.cta_slots);
    rtl_->num_kernels_i = static_cast<CData>(kernels());
    rtl_->room_i = static_cast<CData>(s_.room);
    rtl_->keep_i = s_.unit.keep;
    for (unsigned k = 0; k < most_; ++k) {
      const bool is = k < kernels();
      put(rtl_->weight_i, k * kWeightW, kWeightW, is ? s_.unit.weights[k] : 1);
      put(rtl_->floor_i, k * kRateW, kRateW, is ? s_.unit.floors[k] : 0);
      put(rtl_->base_i, k * kCtaW, kCtaW, is ? s_.base[k].value() : 0);
    }
    for (unsigned k = 0; k < kernels(); ++k) {
      const std::uint32_t counted = random_.chance(0.01) ? 0 : speed({CtaCount(100)}, k, seed_);
      alone_exactly_.push_back(counted);
      alone_.push_back((counted + kScale / 2) / kScale * 8);
      twin_.sample_alone(k, alone_.back() / 8);
      rtl_->alone_valid_i = 1;
      rtl_->sample_kernel_i = static_cast<CData>(k);
      rtl_->sample_i = static_cast<SData>(alone_.back() / 8);
      cycle();
    }
    rtl_->alone_valid_i = 0;
    takes_ = tb::begin(twin_, s_);
    rtl_->start_i = 1;
    cycle();
    rtl_->start_i = 0;
  }

  /// Until it asks for a round or is done. Whatever an SM may be given meanwhile fits it.
  void wait() {
    std::uint64_t cycles = 0;
    const CData row = row_of(random_.in(0, 15));
    const JointCounts before = at_row(row);
    for (; rtl_->round_o == 0 && rtl_->done_o == 0; ++cycles) {
      ASSERT_LT(cycles, 2000000U) << "it does not come to an end";
      ASSERT_TRUE(cycles % 16 != 0 || at_row(row) == before) << "what SMs hold changes between rounds";
      cycle();
    }
    EXPECT_EQ(cycles, takes_) << "cycles";
    most_cycles = std::max(most_cycles, cycles);
    if (rtl_->round_o != 0) cycle();
  }

  /// @return the golden mean of what an entry's SMs issue, and exactly that
  std::pair<std::uint32_t, double> samples(std::uint32_t entry, std::size_t k, const JointCounts& held, std::uint32_t number) {
    std::uint32_t sum = 0;
    double exactly = 0;
    const std::uint32_t each = speed(held, k, seed_) * (4 - std::min(rounds_, 3U)) / 4;  // less from round to round
    for (std::uint32_t i = 0; i < number; ++i) {
      const std::uint32_t counted = random_.chance(0.01) ? random_.in(0, 4095 * kScale) : each + random_.in(0, each / 64);
      const std::uint32_t sample = std::min(4095U, (counted + kScale / 2) / kScale);
      queue_.push_back({entry, static_cast<std::uint32_t>(k), sample});
      sum += sample;
      exactly += counted;
    }
    return {balance_unit_mean(sum, number), number == 0 ? 0 : exactly / number};
  }
  void hand_over() {
    std::shuffle(queue_.begin(), queue_.end(), std::mt19937(random_.word()));
    for (const auto& [entry, kernel, sample] : queue_) {
      rtl_->sample_valid_i = 1;
      rtl_->sample_entry_i = static_cast<CData>(entry);
      rtl_->sample_kernel_i = static_cast<CData>(kernel);
      rtl_->sample_i = static_cast<SData>(sample);
      twin_.take(entry, kernel, sample);
      while (rtl_->sample_ready_o == 0) cycle();
      cycle();
      rtl_->sample_valid_i = 0;
    }
    queue_.clear();
    while (rtl_->sample_ready_o == 0) cycle();
    scored_.clear();
    takes_ = twin_.end_of_round();
    rtl_->round_end_i = 1;
    cycle();
    rtl_->round_end_i = 0;
  }

  void round() {
    list_ = golden_list();
    ASSERT_EQ(rtl_->entries_o, list_.size());
    ASSERT_EQ(rtl_->alone_o | rtl_->on_all_o | rtl_->turns_o, 0);
    entries_.clear();
    exactly_.clear();
    for (std::uint32_t e = 0; e < list_.size(); ++e) {
      ASSERT_EQ(counts(e), list_[e]) << "entry " << e << " of round " << rounds_;
      ASSERT_TRUE(s_.fit(list_[e]));
      const std::uint32_t number = random_.chance(0.02) ? 0 : random_.chance(0.02) ? 63 : random_.in(1, 6);
      if (number == 0) coverage_.hit("an entry without samples");
      if (number == 63) coverage_.hit("as many samples as there can be");
      std::vector<std::uint32_t> means;
      std::vector<double> rates;
      for (std::size_t k = 0; k < kernels(); ++k) {
        const auto [mean, exactly] = samples(e, k, list_[e], number);
        means.push_back(mean);
        rates.push_back(alone_exactly_[k] == 0 ? 0 : exactly / alone_exactly_[k]);
      }
      entries_.push_back(balance_unit_entry(means, alone_, s_.unit));
      exactly_.push_back(rates);
    }
    for (std::uint32_t e = static_cast<std::uint32_t>(list_.size()); e < 16; ++e) ASSERT_EQ(counts(e), base_);
    tried_.insert(tried_.end(), list_.begin(), list_.end());
    hand_over();
  }

  /// @return there is another round
  bool step() {
    const std::optional<std::size_t> next = balance_unit_climb(entries_, before_entry_);
    compare(next);
    wait();
    const std::size_t at = next.value_or(1);
    std::map<std::uint32_t, BalanceUnitEntry> scores;
    for (std::uint32_t e = 0; e < entries_.size(); ++e)
      if (e == 0 || (e == 1 && !next) || (next && entries_[0].measured)) scores[e] = entries_[e];
    told(scores);
    last_ = entries_[at];
    ++rounds_;
    coverage_.hit(!next ? "back to the one before" : at == 0 ? "the base stays" : "a step");
    if (!next) base_ = *before_;
    if (!next || at == 0) return false;
    before_ = base_;
    before_entry_ = entries_[0];
    before_exactly_ = exactly_[0];
    base_ = list_[at];
    if (rounds_ == 3) coverage_.hit("as many rounds as there can be");
    return rounds_ < 3;
  }
  /// With the decision in double precision, where no rate is at the unit's limit of 4.
  void compare(const std::optional<std::size_t>& next) {
    for (const std::vector<double>& rates : exactly_)
      if (std::ranges::any_of(rates, [](double rate) { return rate >= 4; })) return;
    ++decisions;
    const auto exact = balance_climb(exactly_, s_.wishes, before_exactly_);
    if (exact == next) return;
    ++other;
    const auto& best = exact ? exactly_[*exact] : before_exactly_;
    const auto& found = next ? exactly_[*next] : before_exactly_;
    if (balance_shortfall(best, s_.wishes) == 0 && balance_shortfall(found, s_.wishes) == 0)
      regret = std::max(regret, 1 - balance_score(found, s_.wishes) / balance_score(best, s_.wishes));
  }

  /// @param slower  quarters of the speed in the profile
  void alone(std::size_t k, std::uint32_t slower) {
    if (k != 0) wait();
    ASSERT_EQ(rtl_->alone_o & rtl_->on_all_o & ~rtl_->turns_o, 1) << k;
    ASSERT_EQ(rtl_->alone_kernel_o, k);
    for (const std::uint32_t e : {0U, random_.in(0, 15)}) {
      const JointCounts held = counts(e);
      for (std::size_t j = 0; j < kernels(); ++j) ASSERT_EQ(held[j].value(), j == k ? ctas_ : 0U);
    }
    const std::uint32_t number = random_.chance(0.05) ? 0 : random_.in(1, 6);
    rounds_ = slower;
    const auto [mean, exactly] = samples(random_.in(0, 15), k, {CtaCount(random_.in(98, 100))}, number);
    if (number != 0) alone_[k] = mean;
    hand_over();
  }

  void end(bool shares, bool turns) {
    ASSERT_EQ(rtl_->done_o, 1);
    EXPECT_EQ(rtl_->shares_o, shares);
    EXPECT_EQ(rtl_->turns_o, turns);
    EXPECT_TRUE(!last_.measured || rtl_->floors_o == (last_.shortfall == 0));
    cycle();
    EXPECT_EQ(rtl_->done_o, 0) << "done is a pulse";
    EXPECT_EQ(counts(0), base_) << "what is kept";
  }
  /// What it told of entries since the samples.
  void told(const std::map<std::uint32_t, BalanceUnitEntry>& wanted) {
    ASSERT_EQ(scored_.size(), wanted.size());
    for (const auto& [entry, want] : wanted) {
      ASSERT_TRUE(scored_.contains(entry)) << entry;
      EXPECT_EQ(scored_.at(entry).measured, want.measured) << entry;
      EXPECT_TRUE(!want.measured || scored_.at(entry).time == want.time) << entry;
    }
  }

  const Scene& s_;
  VerilatedModel<Top>& rtl_;
  Random& random_;
  Coverage& coverage_;
  std::uint32_t most_, ctas_;  ///< kernels, and CTAs of one, of the design
  JointCounts base_;
  std::uint64_t seed_;
  std::optional<JointCounts> before_;
  std::optional<BalanceUnitEntry> before_entry_;
  std::vector<double> before_exactly_;
  std::vector<JointCounts> tried_, list_;
  std::vector<BalanceUnitEntry> entries_;     ///< of the round,
  std::vector<std::vector<double>> exactly_;  ///< and their rates
  std::vector<std::uint32_t> alone_;
  std::vector<double> alone_exactly_;
  BalanceUnitEntry last_;  ///< the base of the last round, or what is kept
  std::map<std::uint32_t, BalanceUnitEntry> scored_;
  std::vector<std::array<std::uint32_t, 3>> queue_;
  std::uint32_t rounds_ = 0;
  BalanceSearchUnit twin_;
  std::uint64_t takes_ = 0;  ///< cycles until it asks for a round or is done
};

template <class Top>
void searches(const std::string& name, std::uint32_t kernels, std::uint32_t ctas, std::uint32_t room, std::uint64_t number) {
  Random random(seed());
  Coverage coverage(name);
  coverage.declare("an entry without samples", "it is never gone to");
  coverage.declare("as many samples as there can be", "63");
  coverage.declare("the base stays", "nothing is 1 / 64 better");
  coverage.declare("a step", "to another base");
  coverage.declare("back to the one before", "it did 1 / 64 better");
  coverage.declare("as many rounds as there can be", "three steps");
  coverage.declare("floors", "a kernel is promised a rate");
  coverage.declare("nothing measured", "a rate of the base is not known");
  coverage.declare("nothing measured on all SMs", "nor there");
  coverage.declare("worth it", "the score on all SMs reaches keep");
  coverage.declare("worth it by the last round", "only its score there does");
  coverage.declare("CTAs in turn", "they score 1 / 64 more than a base without neighbours");
  coverage.declare("CTAs in turn, by rates alone on all SMs", "they do then, and reach keep");
  coverage.declare("worth it by rates alone on all SMs", "it does then");
  coverage.declare("in order", "it never does");
  coverage.declare("dropped", "a start or an abort in the midst of a search");
  VerilatedModel<Top> rtl(waveform(name));
  rtl->abort_i = rtl->start_i = rtl->alone_valid_i = rtl->sample_valid_i = rtl->round_end_i = 0;
  rtl->rst_ni = 0;
  rtl.low();
  rtl.high();
  rtl->rst_ni = 1;
  std::uint64_t searched = 0, decisions = 0, other = 0, cycles = 0;
  double regret = 0;
  for (std::uint64_t i = 0; i < number && !testing::Test::HasFailure(); ++i) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "search " + std::to_string(i));
    const auto s = scene(random, kernels, ctas, room);
    if (!s) continue;
    Search<Top> search(*s, rtl, random, coverage, kernels, ctas);
    if (random.chance(0.02)) {
      coverage.hit("dropped");
      search.drop();
      continue;
    }
    search.run();
    ++searched;
    decisions += search.decisions;
    other += search.other;
    regret = std::max(regret, search.regret);
    cycles = std::max(cycles, search.most_cycles);
  }
  std::printf(
      "%s: %lu searches; %lu decisions, %lu other than in double precision, at most %.4f of a score; %lu cycles between rounds\n",
      name.c_str(), searched, decisions, other, regret, cycles);
  EXPECT_LT(other * 100, decisions);
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

TEST(BalanceSearch, IsTheGoldenSearch) { searches<Vbalance_search>("balance_search", 4, 8, 5, campaign(3000, 100000)); }

TEST(BalanceSearch, IsTheGoldenSearchOfEightKernels) {
  searches<Vbalance_search_large>("balance_search_large", 8, 32, 15, campaign(500, 5000));
}

}  // namespace
}  // namespace sluice::tb
