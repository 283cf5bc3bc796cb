// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "sw/core/machine.h"

namespace sluice {

/// Ready state of the warps of one scheduler, as bit masks (bit = warp slot of this scheduler, at most 64), and the choice
/// among them. A warp whose operands become ready at a known cycle waits in a timing wheel, so nothing is polled.
class WarpScheduler {
 public:
  static constexpr std::uint32_t kWheel = 64;  ///< cycles ahead the wheel reaches; later warps are put in again on the way

  WarpScheduler(WarpSchedulerKind kind, std::uint32_t slots, std::uint32_t active_limit)
      : kind_(kind), age_(slots), active_limit_(active_limit) {}

  /// The warp in `slot` can issue from `cycle` on. @pre cycle > now
  void wake_at(std::uint32_t slot, std::uint64_t cycle, std::uint64_t now) {
    const std::uint64_t ahead = cycle - now < kWheel ? cycle - now : kWheel - 1;
    const std::uint64_t spoke = (now + ahead) % kWheel;
    wheel_[spoke] |= bit(slot);
    occupied_ |= bit(static_cast<std::uint32_t>(spoke));
  }
  void make_ready(std::uint32_t slot) { ready_ |= bit(slot); }
  /// Warps whose wheel spoke is `now`; the caller decides whether each is ready or goes in again.
  std::uint64_t take_due(std::uint64_t now) {
    const std::uint64_t due = wheel_[now % kWheel];
    wheel_[now % kWheel] = 0;
    occupied_ &= ~bit(static_cast<std::uint32_t>(now % kWheel));
    return due;
  }
  /// Cycles from `now` to the next occupied spoke; 0 when the wheel is empty.
  [[nodiscard]] std::uint64_t next_due(std::uint64_t now) const {
    if (occupied_ == 0) return 0;
    const int shift = static_cast<int>((now + 1) % kWheel);
    return static_cast<std::uint64_t>(std::countr_zero(std::rotr(occupied_, shift))) + 1;
  }
  /// Oldest first is by `age`: smaller is older. Under the oldest CTA's policy the warps of a CTA have one age.
  void admit(std::uint32_t slot, std::uint64_t age) { age_[slot] = age; }
  void remove(std::uint32_t slot) {
    ready_ &= ~bit(slot);
    for (std::uint64_t rest = occupied_; rest != 0; rest &= rest - 1) wheel_[std::countr_zero(rest)] &= ~bit(slot);
    active_ &= ~bit(slot);
    if (last_ == slot) last_ = kNone;
  }
  void demote(std::uint32_t slot) { active_ &= ~bit(slot); }  ///< waits for memory, code or a barrier: leaves the active set
  void block(std::uint32_t slot) { ready_ &= ~bit(slot); }
  /// Does the next pick stay with the last one if it can?
  void stay(bool yes) { stays_ = yes; }

  [[nodiscard]] std::uint64_t ready() const { return ready_; }

  /// Which of `candidates` the scheduler looks at: all, or under the two-level policy those of the active set, which the oldest
  /// of them join while it has room.
  std::uint64_t selectable(std::uint64_t candidates) {
    if (kind_ != WarpSchedulerKind::TwoLevel) return candidates;
    std::uint64_t outside = candidates & ~active_;
    while (outside != 0 && static_cast<std::uint32_t>(std::popcount(active_)) < active_limit_) {
      const std::uint64_t joins = bit(oldest(outside));
      active_ |= joins;
      outside &= ~joins;
    }
    return candidates & active_;
  }

  /// Chooses among `candidates` (non-zero): GTO keeps to the last warp, else the oldest; LRR and two-level the next slot after
  /// the last; oldest CTA the next slot among those of the lowest age. stay() comes before all of them.
  std::uint32_t pick(std::uint64_t candidates) {
    if (stays_ && last_ != kNone && (candidates & bit(last_)) != 0) return last_;
    if (kind_ == WarpSchedulerKind::Gto) {
      if (last_ == kNone || (candidates & bit(last_)) == 0) last_ = oldest(candidates);
    } else {
      last_ = next_slot(kind_ == WarpSchedulerKind::OldestCta ? of_oldest_age(candidates) : candidates);
    }
    return last_;
  }

 private:
  [[nodiscard]] std::uint32_t next_slot(std::uint64_t candidates) const {
    const std::uint64_t after = last_ == kNone || last_ == 63 ? 0 : candidates & ~((bit(last_) << 1) - 1);
    return static_cast<std::uint32_t>(std::countr_zero(after != 0 ? after : candidates));
  }
  [[nodiscard]] std::uint64_t of_oldest_age(std::uint64_t candidates) const {
    std::uint64_t chosen = 0;
    std::uint64_t age = std::numeric_limits<std::uint64_t>::max();
    for (std::uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (age_[slot] < age) {
        age = age_[slot];
        chosen = 0;
      }
      if (age_[slot] == age) chosen |= bit(slot);
    }
    return chosen;
  }
  [[nodiscard]] std::uint32_t oldest(std::uint64_t candidates) const {
    std::uint32_t chosen = kNone;
    std::uint64_t age = std::numeric_limits<std::uint64_t>::max();
    for (std::uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (age_[slot] < age) {
        age = age_[slot];
        chosen = slot;
      }
    }
    return chosen;
  }

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << i; }

  WarpSchedulerKind kind_;
  std::uint64_t ready_ = 0, occupied_ = 0;
  std::uint64_t wheel_[kWheel] = {};
  std::vector<std::uint64_t> age_;
  std::uint32_t last_ = kNone;  ///< slot chosen last
  bool stays_ = false;
  std::uint32_t active_limit_;
  std::uint64_t active_ = 0;  ///< two-level policy
};

}  // namespace sluice
