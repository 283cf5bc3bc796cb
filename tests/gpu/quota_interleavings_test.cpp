// SPDX-License-Identifier: Apache-2.0
// The GPU's half of the quota runtime, from the text that the GPU gets, in every order that its CTAs' steps can have: all
// schedules with a bounded number of preemptions. What must hold is written from the events alone: who took which slot when,
// which quota was in force, which blocks ran.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "sw/gpu/jobs/job_shape.h"
#include "tests/gpu/quota_on_host.h"

// NOLINTBEGIN
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "sw/gpu/runtime/quota_runtime.cuh"
#pragma GCC diagnostic pop
// NOLINTEND

namespace sluice::gpu {
namespace {

using on_host::Turns;

/// All schedules with at most so many preemptions: a turn taken from an actor that could have gone on.
class Schedules {
 public:
  explicit Schedules(unsigned preemptions) : allowed_(preemptions) {}
  void begin() { at_ = used_ = 0; }
  /// @param yields  the last one gave its turn up, which is no preemption
  std::size_t choose(std::vector<std::size_t> able, std::size_t last, bool yields = false) {
    if (yields && able.size() > 1) std::erase(able, last);
    const bool goes_on = at_ > 0 && !yields && std::ranges::find(able, last) != able.end();
    if (goes_on) {
      std::erase(able, last);
      able.insert(able.begin(), last);
      if (used_ == allowed_) able.resize(1);
    }
    if (at_ == path_.size()) path_.push_back({0, able.size()});
    const std::size_t taken = path_[at_++].taken;
    if (goes_on && taken > 0) ++used_;
    return able[taken];
  }
  /// @return there is another schedule
  bool next() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct Step {
    std::size_t taken, options;
  };
  std::vector<Step> path_;
  std::size_t at_ = 0;
  unsigned allowed_, used_ = 0;
};

struct Stay {
  std::uint64_t took = 0, entered = 0, left = ~0ULL;
};
struct Order {
  unsigned quota;
};

/// What the joined kernel does at a block's end (sw/gpu/rewrite/block_loop.ptx).
void end_block(const SluiceJob& job, unsigned odd, bool waits) {
  SluiceState& s = sluice_rt_state;
  const unsigned quota = sluice_rt::load(&job.orders->quota[0]);
  sluice_rt::add(&job.control->done[0], 1);
  SluiceStage& next = s.stage[odd ^ 1];
  if (s.leader.left != 0) {
    next.block = {s.stage[odd].block.x + job.step_x, 0, 0};
    if (next.block.x >= job.grid_x) next.block.x -= job.grid_x;
    if (s.leader.place < quota)
      --s.leader.left;
    else
      next.block.x = SLUICE_LEAVE;
  } else if (waits) {
    sluice_rt_next_begun(job, (odd ^ 1) << 4, quota);
  } else {
    sluice_rt_next(job, (odd ^ 1) << 4, quota);
  }
}

/// Some CTAs of one job on one SM, and a host that gives orders one after the other.
class Scene {
 public:
  /// @param strangers  CTAs that are counted inside and hold no slot: what the runtime must call a violation
  /// @param fits  quotas are 32nds of so many CTAs; 32: CTAs
  Scene(std::size_t ctas, unsigned blocks, std::vector<Order> orders, bool waits = false, unsigned strangers = 0,
        unsigned fits = 32)
      : ctas_(ctas),
        fits_(fits),
        orders_(std::move(orders)),
        waits_(waits),
        strangers_(strangers),
        job_(job_shape({{blocks, 1, 1}, 2, waits ? 1U : 2U})) {
    job_.flags |= sluice_flags(fits, fits != 32);
    job_.control = control_.get();
    job_.orders = &control_->orders;
    states_.resize(ctas + 1);
    taken_by_.resize(ctas + 1);
    gave_by_.resize(ctas + 1);
    turns_.changes = [this](std::size_t from, std::size_t to) {
      states_[from] = sluice_rt_state;
      sluice_rt_state = states_[to];
    };
    for (std::size_t c = 0; c < ctas; ++c) actors_.emplace_back([this] { cta(); });
    actors_.emplace_back([this] {
      for (std::size_t o = 1; o < orders_.size(); ++o) give(orders_[o]);
    });
    sluice_rt::took = [this] { taken_by_[turns_.actor] = turns_.steps; };
    sluice_rt::gave = [this] { gave_by_[turns_.actor] = turns_.steps; };
  }
  ~Scene() { sluice_rt::took = sluice_rt::gave = nullptr; }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Runs all schedules, and says what was wrong in the first that was.
  std::optional<std::string> all(unsigned preemptions) {
    Schedules schedules(preemptions);
    do {
      schedules.begin();
      clear();
      turns_.run(actors_, [&](const std::vector<std::size_t>& able, std::size_t last) { return schedules.choose(able, last); });
      ++runs;
      if (std::optional<std::string> wrong = judge()) return "schedule " + std::to_string(runs) + ": " + *wrong;
    } while (schedules.next());
    return std::nullopt;
  }
  std::size_t runs = 0, entered = 0;

 private:
  void clear() {
    std::memset(static_cast<void*>(control_.get()), 0, offsetof(SluiceControl, unfinished));
    for (auto& slot : control_->unfinished) slot[0] = {0, 0};
    control_->orders.quota[0] = orders_[0].quota;
    std::ranges::fill(control_->orders.wanted, allowed_by(orders_[0].quota));
    control_->resident[0] = strangers_;
    in_force_ = {{0, allowed_by(orders_[0].quota)}};
    stays_.clear();
    stayed_ = false;
    ran_.assign(job_.blocks, 0);
    turns_.steps = 0;
  }
  void give(const Order& order) {
    turns_.step();
    ++control_->orders.epoch;
    turns_.step();
    std::ranges::fill(control_->orders.wanted, allowed_by(order.quota));
    turns_.step();
    control_->orders.quota[0] = order.quota;
    in_force_.push_back({turns_.steps, allowed_by(order.quota)});
  }
  void cta() {
    SluiceState& s = sluice_rt_state;
    sluice_rt_enter(job_, 0x10000);
    std::size_t stay = ~std::size_t{0};
    if (s.leader.slot != sluice_rt::kNoSlot) {
      stay = stays_.size();
      stays_.push_back({taken_by_[turns_.actor], turns_.steps});
    }
    std::uint64_t before = 0;  // when its last block began
    for (unsigned odd = 0, blocks = 0; s.stage[odd].block.x != SLUICE_LEAVE; odd ^= 1) {
      if (blocks++ != 0 && s.leader.slot >= most_allowed(before)) stayed_ = true;
      before = turns_.steps;
      ++ran_[s.stage[odd].block.x];
      end_block(job_, odd, waits_);
    }
    sluice_rt_leave(job_);
    if (stay != ~std::size_t{0}) stays_[stay].left = gave_by_[turns_.actor];
  }
  std::optional<std::string> judge() {
    const SluiceControl& c = *control_;
    if (turns_.steps > Turns::kMostSteps) return "a CTA asks for a slot again and again";
    if (c.violations != 0 && strangers_ == 0) return "the runtime counts a violation";
    if (c.violations == 0 && strangers_ != 0) return "the runtime does not see who came without a slot";
    if (c.slots[0] != 0 || c.resident[0] != strangers_ || c.resident_total != 0) return "a slot is held after the end";
    if (stayed_) return "a CTA beyond the quota began another block";
    if (c.arrived != ctas_) return "not all CTAs have arrived";
    // A CTA that took its slot found a quota that allows it, between then and its first block.
    for (const Stay& stay : stays_) {
      ++entered;
      unsigned allowed = 0, held = 0;
      for (std::size_t o = 0; o < in_force_.size(); ++o) {
        const bool before = in_force_[o].at <= stay.entered,
                   after = o + 1 == in_force_.size() || in_force_[o + 1].at >= stay.took;
        if (before && after) allowed = std::max(allowed, in_force_[o].quota);
      }
      for (const Stay& other : stays_) held += other.took <= stay.took && stay.took < other.left ? 1 : 0;
      if (held > allowed) return "a CTA took a slot beyond the quota";
    }
    // Each block ran once, lies in an unfinished range, or belongs to a ticket that nobody drew.
    std::vector<unsigned> seen = ran_;
    unsigned filled = 0;
    for (const auto& slot : c.unfinished) {
      for (std::uint64_t t = slot[0].first; t < slot[0].last; t += std::uint64_t{1} << job_.width_bits) ++seen[t];
      filled += slot[0].first != slot[0].last ? 1 : 0;
    }
    if (filled != c.returned) return "ranges that were left are counted wrongly";
    for (std::uint64_t ticket = c.next; ticket < job_.tickets; ++ticket) {
      unsigned long long task = 0, last = 0;
      const unsigned tasks = sluice_rt::range_of(job_, ticket, task, last);
      for (unsigned i = 0; i < tasks; ++i) ++seen[task + (std::uint64_t{i} << job_.width_bits)];
    }
    if (std::ranges::any_of(seen, [](unsigned n) { return n != 1; })) return "a block is lost, or ran twice";
    if (waits_ && c.returned != 0) return "a block that was claimed has not begun";
    return std::nullopt;
  }

  struct InForce {
    std::uint64_t at;
    unsigned quota;
  };
  /// The largest number of CTAs that was allowed at any time from then until now.
  [[nodiscard]] unsigned most_allowed(std::uint64_t since) const {
    unsigned most = 0;
    for (std::size_t o = 0; o < in_force_.size(); ++o)
      if (o + 1 == in_force_.size() || in_force_[o + 1].at >= since) most = std::max(most, in_force_[o].quota);
    return most;
  }
  [[nodiscard]] unsigned allowed_by(unsigned quota) const {
    unsigned ctas = 0;
    while (32 * (ctas + 1) <= quota * fits_) ++ctas;
    return std::max(ctas, std::min(quota, 1U));
  }
  std::size_t ctas_;
  unsigned fits_;
  std::vector<Order> orders_;
  bool waits_;
  unsigned strangers_;
  std::unique_ptr<SluiceControl> control_ = std::make_unique<SluiceControl>();
  SluiceJob job_;
  Turns turns_;
  std::vector<std::function<void()>> actors_;
  std::vector<SluiceState> states_;
  std::vector<std::uint64_t> taken_by_, gave_by_;
  std::vector<Stay> stays_;
  bool stayed_ = false;
  std::vector<InForce> in_force_;
  std::vector<unsigned> ran_;
};

void holds(Scene&& scene, unsigned preemptions = 2) {
  if (std::getenv("SLUICE_FULL") != nullptr) ++preemptions;
  const std::optional<std::string> wrong = scene.all(preemptions);
  EXPECT_FALSE(wrong) << *wrong;
  EXPECT_GT(scene.runs, 1000U);
  EXPECT_GT(scene.entered, scene.runs / 2) << "CTAs come in";
}

TEST(QuotaInterleavings, AQuotaThatShrinksIsNeverExceededByThoseThatReadTheOldOne) { holds({2, 4, {{2}, {1}}}); }
TEST(QuotaInterleavings, AQuotaThatGrowsIsNoViolation) { holds({2, 4, {{1}, {2}}}); }
TEST(QuotaInterleavings, AQuotaThatGrowsBeforeAnEvictionIsNoViolation) { holds({2, 2, {{1}, {2}, {0}}}, 3); }
TEST(QuotaInterleavings, CtasThatNoQuotaAllowsAreCounted) { holds({2, 4, {{2}}, false, 2}); }
TEST(QuotaInterleavings, ThreeCtasAndAnEvictionAmongThem) { holds({3, 4, {{2}, {0}}}, 1); }
TEST(QuotaInterleavings, AnEvictedJobComesBack) { holds({2, 4, {{1}, {0}, {2}}}); }
TEST(QuotaInterleavings, BlocksThatWaitForOthersAreBegunWhenClaimed) { holds({2, 4, {{2}, {1}}, true}); }
TEST(QuotaInterleavings, QuotasArePartsOfWhatFits) {
  holds({2, 4, {{32}, {17}}, false, 0, 2});  // 2 CTAs, then 1
  holds({2, 4, {{11}, {0}, {22}}, false, 0, 3});
}
TEST(QuotaInterleavings, OneOfWhichTheQuotaIsLessThanACtaRuns) { holds({2, 4, {{3}, {0}, {3}}, false, 0, 2}); }

/// A held grid on one SM, CTAs of later grids, and a host that hears of both by one word.
class HeldGrid {
 public:
  HeldGrid(unsigned ctas, unsigned blocks) : ctas_(ctas), job_(job_shape({{blocks, 1, 1}, ctas, 1})) {
    job_.control = control.get();
    job_.orders = &control->orders;
  }
  void cta(unsigned flags) {
    SluiceJob mine = job_;
    mine.flags |= flags;
    sluice_rt_enter(mine, 0x10000);
    SluiceState& s = sluice_rt_state;
    for (unsigned odd = 0; s.stage[odd].block.x != SLUICE_LEAVE; odd ^= 1) {
      ++ran;
      end_block(mine, odd, false);
    }
    sluice_rt_leave(mine);
  }
  void quota(unsigned ctas) {
    control->orders.quota[0] = ctas;
    std::ranges::fill(control->orders.wanted, ctas);
  }
  [[nodiscard]] unsigned naps() const { return static_cast<unsigned>(word_ >> 32); }
  [[nodiscard]] bool ended() const { return static_cast<unsigned>(word_) == 1; }
  void wait_for(unsigned naps, bool ended) {
    while (this->naps() != naps || this->ended() != ended) turns_.yield();
  }
  void yield() { turns_.yield(); }

  /// Runs all schedules of the grid's CTAs and the host. @param right  at the end of each
  std::optional<std::string> all(unsigned quota_at_first, const std::function<void()>& host, const std::function<bool()>& right,
                                 unsigned preemptions) {
    std::vector<std::function<void()>> actors(ctas_, [this] { cta(SLUICE_HELD); });
    actors.push_back(host);
    std::vector<SluiceState> states(actors.size());
    turns_.changes = [&](std::size_t from, std::size_t to) {
      states[from] = sluice_rt_state;
      sluice_rt_state = states[to];
    };
    sluice_rt::naps_yield = true;
    sluice_rt::grid_of_ctas = ctas_;
    Schedules schedules(preemptions);
    std::optional<std::string> wrong;
    std::size_t runs = 0;
    do {
      schedules.begin();
      std::memset(static_cast<void*>(control.get()), 0, sizeof *control);
      control->told = &word_;
      word_ = ran = 0;
      quota(quota_at_first);
      turns_.steps = 0;
      turns_.run(actors, [&](const std::vector<std::size_t>& able, std::size_t last) {
        return schedules.choose(able, last, std::exchange(turns_.yields, false));
      });
      ++runs;
      if (!right()) wrong = "schedule " + std::to_string(runs);
    } while (!wrong && schedules.next());
    sluice_rt::naps_yield = false;
    sluice_rt::grid_of_ctas = 0;
    EXPECT_TRUE(wrong || runs > 100) << runs;
    return wrong;
  }

  std::unique_ptr<SluiceControl> control = std::make_unique<SluiceControl>();
  unsigned ran = 0;

 private:
  unsigned ctas_;
  SluiceJob job_;
  unsigned long long word_ = 0;
  Turns turns_;
};

/// A held grid of one CTA whose job was evicted before it began. A CTA of a later grid comes under that order, and goes; another
/// one comes when there is a quota. Each time that nobody is inside any more the host must hear of it.
TEST(QuotaInterleavings, WhoComesAndGoesWhileTheLastCtaNapsIsTold) {
  HeldGrid grid(1, 2);
  bool heard = false;
  const auto host = [&] {
    heard = false;
    grid.wait_for(1, false);
    grid.cta(SLUICE_LATER);
    grid.wait_for(2, false);
    grid.quota(1);
    grid.cta(SLUICE_LATER);
    grid.wait_for(2, true);
    heard = true;
  };
  const auto wrong = grid.all(
      0, host, [&] { return heard && grid.ran == 2; }, std::getenv("SLUICE_FULL") != nullptr ? 4 : 3);
  EXPECT_FALSE(wrong) << *wrong << ": the host waits for ever";
}

/// Both CTAs of a held grid may be sent away with a block that they have claimed and not begun. The launch has not ended before a
/// later CTA has run it, nor may the next launch's CTAs come: they would wait for the launch in the place of that CTA.
TEST(QuotaInterleavings, AHeldGridEndsWhenAllBlocksOfItHaveRun) {
  HeldGrid grid(2, 4);
  unsigned ran = 0, ran_at_next = 0;
  sluice_rt::next_placed = [&] { ran_at_next = grid.ran; };
  const auto host = [&] {
    grid.quota(0);
    for (unsigned naps = 0; !grid.ended(); grid.yield())
      if (grid.naps() != naps) {
        naps = grid.naps();
        grid.quota(2);
        grid.cta(SLUICE_LATER);
      }
    ran = grid.ran;
  };
  const auto wrong = grid.all(
      2, host, [&] { return ran == 4 && std::exchange(ran_at_next, 0) == 4 && grid.control->returned == 0; },
      std::getenv("SLUICE_FULL") != nullptr ? 3 : 2);
  sluice_rt::next_placed = nullptr;
  EXPECT_FALSE(wrong) << *wrong << ": " << ran << " blocks have run, " << ran_at_next << " when the next grid's CTAs came";
}

}  // namespace
}  // namespace sluice::gpu
