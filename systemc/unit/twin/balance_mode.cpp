// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/balance_mode.h"

#include <algorithm>

namespace sluice {

bool BalanceModeTwin::starts(const SluiceConfig& config, const SequencerOut& sequenced) const {
  return config.mode == static_cast<std::uint8_t>(Mode::Balance) && sequenced.decision && !sequenced.no_fit &&
         !sequenced.no_profile;
}

void BalanceModeTwin::replace(SequencerOut& out, const SluiceConfig& config) const {
  using S = regs::SequencerState;
  if (starts(config, out)) {
    out.decision = out.monitoring = false;
    out.state = static_cast<std::uint8_t>(S::kAllocate);
  }
  if (!active()) return;
  const bool in_round = state_ >= State::Window && state_ <= State::End;
  out.quota_changed = changed_ || begun_;
  out.regions = free();
  out.round_robin = free() && turns_;
  out.in_order = free() && !turns_;
  out.profile_clear = state_ == State::Settle;
  out.profile_enable = state_ == State::Window;
  out.profiling = in_round || (state_ == State::Settle && window_ != 0);
  out.on_all = measures() && !search_.done() && busy_ == 0 && search_.phase() != Phase::SideBySide;
  out.drop = false;
  S state = S::kAllocate;
  if (state_ == State::WarmUp) state = S::kWarmUp;
  if (state_ == State::Settle) state = S::kDrain;
  if (state_ == State::Window) state = S::kProfile;
  if (state_ > State::Window && in_round) state = S::kScale;
  if (state_ == State::Held) state = S::kMonitor;
  out.state = static_cast<std::uint8_t>(state);
  out.decision = decision_;
  out.spatial = false;
  out.monitoring = state_ == State::Held;
  out.idle = state_ == State::Held && out.idle && !changed_;
  if (state_ != State::Held) return;
  for (std::uint32_t k = 0; k < parameters_.max_kernels; ++k) out.ctas[k] = static_cast<std::uint8_t>(kept_quota(k));
}

/// SMs of the groups lie between those of the base, and those of one group apart.
std::uint32_t BalanceModeTwin::entry_of(std::uint32_t sm) const {
  const std::uint32_t others = held_.empty() ? 0 : static_cast<std::uint32_t>(held_.size()) - 1, in_groups = others * group();
  const std::uint32_t at = in_groups * sm / parameters_.num_sm;
  return others == 0 || at == in_groups * (sm + 1) / parameters_.num_sm ? 0 : 1 + at % others;
}

std::size_t BalanceModeTwin::rank_of(std::uint32_t sm) const {
  return search_.phase() == Phase::Alone ? search_.only() : (sm + window_) % kernels();
}
std::uint32_t BalanceModeTwin::owner(std::uint32_t sm) const { return slots_[rank_of(sm)]; }

std::uint32_t BalanceModeTwin::quota(std::uint32_t sm, std::uint32_t slot) const {
  if (free()) return parameters_.max_ctas;
  const auto at = std::ranges::find(slots_, slot);
  if (at == slots_.end()) return 0;
  const auto rank = static_cast<std::size_t>(at - slots_.begin());
  if (alone_) return rank == *alone_ ? parameters_.max_ctas : 0;
  return held_[state_ == State::Held ? 0 : entry_of(sm)][rank];
}

bool BalanceModeTwin::takes(const SluiceConfig& config, const std::bitset<kMaxSms>& settled) const {
  return config.sm_enable[sm_] && (settled[sm_] || turns_ || alone_) && !(entry_of(sm_) == 0 && taken_ == kCounted);
}

std::optional<std::uint32_t> BalanceModeTwin::reads(const SluiceConfig& config, const std::bitset<kMaxSms>& settled) const {
  return state_ == State::Read && takes(config, settled) ? std::optional(sm_) : std::nullopt;
}

/// Shifted down so that the most that an SM can issue is below 4,096, and rounded.
std::uint32_t BalanceModeTwin::word(std::uint32_t insts, std::uint32_t window) const {
  std::uint32_t shift = 0;
  while (parameters_.num_sched * window >> shift >= 4096) ++shift;
  return std::min(4095U, shift == 0 ? insts : (insts + (1U << (shift - 1))) >> shift);
}

std::uint32_t BalanceModeTwin::windows() const {
  const std::uint32_t n = kernels();
  if (search_.phase() == Phase::Alone) return 4;
  return ((search_.phase() == Phase::SideBySide ? 8 : 4) + n - 1) / n * n;
}

void BalanceModeTwin::begin(const SluiceConfig& config, const SequencerOut& sequenced, const SequencerIn& in) {
  BalanceSearchUnit::Plan plan;
  plan.capacity = {config.capacity_slots, config.capacity_warps, config.capacity_registers, config.capacity_shared};
  slots_.clear();
  began_with_.clear();
  for (std::uint32_t i = 0; i < sequenced.core.num_kernels; ++i) {
    const std::uint32_t slot = sequenced.slots[i];
    slots_.push_back(slot);
    began_with_.push_back(in.core.ctas[i]);
    plan.demand.push_back({1, config.demand_warps[slot], config.demand_registers[slot], config.demand_shared[slot]});
    plan.settings.weights.push_back(regs::kSlotWishWeight.get(config.wish[slot]));
    plan.settings.floors.push_back(regs::kSlotWishFloor.get(config.wish[slot]));
  }
  plan.settings.keep = regs::kBalanceKeep.get(config.balance);
  plan.room = std::min(regs::kBalanceCandidates.get(config.balance), most());
  busy_ = search_.begin(std::move(plan), began_with_);
  since_ = 0;
  held_.assign(1, began_with_);
  alone_.reset();
  std::ranges::fill(scores_, 0);
  rounds_ = 0;
  shares_ = true;
  turns_ = false;
  state_ = State::List;
}

void BalanceModeTwin::end(bool ready) {
  if (!ready) return;
  if (spoiled_) {  // a kernel is about to end: the base stays
    held_.resize(1);
    alone_.reset();
    shares_ = changed_ = decision_ = true;
    turns_ = false;
    state_ = State::Held;
    return;
  }
  if (++window_ < windows()) {
    state_ = State::Settle;
    return;
  }
  busy_ = search_.end_of_round();
  since_ = 0;
  state_ = State::List;
}

/// A cycle in which no plan begins or ends.
void BalanceModeTwin::run(const SluiceConfig& config, const SequencerIn& in, std::uint32_t insts) {
  const bool ready = adding_ == 0;
  if (adding_ != 0) --adding_;
  const auto next_sm = [&] { state_ = ++sm_ == parameters_.num_sm ? State::End : State::Read; };
  switch (state_) {
    case State::List:
      for (const auto& score : search_.scored)
        if (score.at == since_)
          scores_[score.entry] = regs::kBalanceScoreTime.put(score.time) | regs::kBalanceScoreMeasured.put(score.measured);
      ++since_;
      if (busy_ != 0) {
        --busy_;
        break;
      }
      timer_ = config.warm_up >> 2U;
      window_ = 0;
      spoiled_ = false;
      changed_ = true;
      turns_ = search_.in_turn();
      alone_.reset();
      held_ = search_.list();
      if (search_.done()) {
        shares_ = search_.shares();
        held_.assign(1, search_.base());
        decision_ = true;
        state_ = State::Held;
        break;
      }
      if (search_.phase() == Phase::Alone) alone_ = search_.only();
      state_ = State::WarmUp;
      break;
    case State::WarmUp:
      if (timer_-- == 0) {
        timer_ = kWait;
        state_ = State::Settle;
      }
      break;
    case State::Settle: {
      bool all = true;
      for (std::uint32_t m = 0; m < parameters_.num_sm; ++m) all = all && (in.settled[m] || !config.sm_enable[m]);
      if (all || timer_-- == 0 || window_ != 0) {
        timer_ = config.window - 1;
        state_ = State::Window;
      }
      break;
    }
    case State::Window:
      for (const std::uint32_t slot : slots_) spoiled_ = spoiled_ || (in.spent >> slot & 1U) != 0;
      if (timer_-- == 0) state_ = State::Whole;
      break;
    case State::Whole:
      sm_ = taken_ = 0;
      state_ = State::Read;
      break;
    case State::Read:
      if (takes(config, in.settled)) {
        state_ = State::Hand;
      } else {
        next_sm();
      }
      break;
    case State::Hand:
      if (!ready) break;
      search_.take(entry_of(sm_), rank_of(sm_), word(insts, config.window));
      adding_ = 8;
      if (entry_of(sm_) == 0) ++taken_;
      next_sm();
      break;
    case State::End: end(ready); break;
    default: break;
  }
}

void BalanceModeTwin::clock(const SluiceConfig& config, const SequencerOut& sequenced, const SequencerIn& in, bool abort,
                            std::uint32_t insts) {
  const bool start = starts(config, sequenced);
  if (state_ == State::Idle && sequenced.core.sample_valid && sequenced.core.sample_final)
    search_.sample_alone(sequenced.core.sample_kernel, word(sequenced.drop ? 0 : insts, config.window));
  const bool counts = changed_ && measures();
  begun_ = start && !abort;
  changed_ = decision_ = false;
  if (counts) ++rounds_;
  if (start) {
    begin(config, sequenced, in);
  } else {
    run(config, in, insts);
  }
  if (abort) {
    state_ = State::Idle;
    changed_ = decision_ = false;
  }
}

std::uint32_t BalanceModeTwin::status() const {
  std::uint32_t word = regs::kBalanceStatusRounds.put(rounds_);
  if (state_ != State::Held) return word;
  const bool measured = regs::kBalanceScoreMeasured.get(scores_[0]) != 0;
  bool other = free();
  for (std::size_t r = 0; r < slots_.size(); ++r) other = other || quota(0, slots_[r]) != began_with_[r];
  return word |
         regs::kBalanceStatusKept.put(!free()  ? 1
                                      : turns_ ? 2
                                               : 3) |
         regs::kBalanceStatusFloors.put(measured && search_.floors() ? 1 : 0) | regs::kBalanceStatusChanged.put(other);
}

}  // namespace sluice
