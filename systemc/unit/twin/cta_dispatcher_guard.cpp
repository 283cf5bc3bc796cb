// SPDX-License-Identifier: Apache-2.0
// The part of the dispatcher's twin that sees to it that no kernel waits for ever: rtl/dispatch/wait_guard.sv.
#include <bit>

#include "systemc/unit/twin/cta_dispatcher.h"

namespace sluice {

/// Kernels that may dispatch and hold no CTA. In order the oldest waits for nobody; with priorities, for kernels above it, and
/// the others of its priority for it.
std::uint32_t CtaDispatcherTwin::waiting(const CtaDispatcherIn& in) const {
  std::uint32_t mask = 0;
  if (params_.patience == 0 || (in.in_order && !params_.priority)) return mask;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    const bool there = out_.resident[k] != 0 || (fresh_ && out_.dispatch_kernel == k);
    bool stands_behind = false;
    for (std::uint32_t other = 0; in.in_order && other < params_.kernels; ++other)
      stands_behind |= may_take(other) && kernels_[other].priority == kernels_[k].priority &&
                       kernels_[other].launched_at < kernels_[k].launched_at;
    if (may_take(k) && !there && !stands_behind) mask |= 1U << k;
  }
  return mask;
}

bool CtaDispatcherTwin::shows_life(const CtaDispatcherIn& in, std::uint32_t sm) const {
  if (!params_.sm_ready || (left_ && left_->sm == sm)) return true;
  return !unready_.contains(sm) && (!params_.sm_enable || in.sm_enable[sm]);
}

/// @param taken the kernel that is picked in this cycle; @param reads an SM's quotas are read
/// @return every SM is to be read
bool CtaDispatcherTwin::clock_guard(const CtaDispatcherIn& in, std::optional<std::uint32_t> taken, bool reads) {
  if (params_.patience == 0) return false;
  const std::uint32_t waits = waiting(in), still = taken ? waits & ~(1U << *taken) : waits;
  const bool tick = guard_.timer + 1 == 1U << params_.patience;
  Guard next = guard_;
  next.timer = waits == 0 || tick ? 0 : guard_.timer + 1;
  next.mark = tick ? still : guard_.mark & still;
  next.urgent = (guard_.urgent | (tick ? guard_.mark : 0)) & still;
  bool sweep = false;
  if (!guard_.claim) {
    const std::uint32_t asks = guard_.urgent & waits, first = asks >> guard_.next << guard_.next;
    if (asks != 0) {
      const auto chosen = static_cast<std::uint32_t>(std::countr_zero(first != 0 ? first : asks));
      if ((still >> chosen & 1U) != 0) next.claim = chosen;
      next.next = (chosen + 1) % params_.kernels;
      sweep = true;
    }
  } else if ((still >> *guard_.claim & 1U) == 0 || (tick && guard_.tired && !guard_.reserved)) {
    next.claim.reset();
  }
  const auto enabled = [&](std::uint32_t sm) { return !params_.sm_enable || in.sm_enable[sm]; };
  const auto fit = [&](std::uint32_t sm) { return enabled(sm) && !guard_.hung.contains(sm); };
  next.found.reset();
  if (guard_.claim) {
    const std::uint32_t k = *guard_.claim;
    if (out_.dispatch_valid && in.port_quota[k] != 0 && fit(out_.dispatch_sm)) next.found = out_.dispatch_sm;
    if (reads && eval_ && in.quota[k] != 0 && fit(*eval_)) next.found = eval_;
    if (!guard_.reserved && guard_.found && fit(*guard_.found)) next.reserved = guard_.found;
  }
  const bool dead = guard_.reserved && !shows_life(in, *guard_.reserved), gives_up = tick && guard_.tired && dead;
  const bool lost = guard_.reserved && (gives_up || !enabled(*guard_.reserved));
  if (lost) next.reserved.reset();
  if (in.quota_changed || !next.claim) next.reserved.reset();
  const bool goes_on = guard_.reserved ? dead && !lost : !next.reserved;
  next.tired = (guard_.tired || tick) && guard_.claim && !in.quota_changed && goes_on;
  if (gives_up) next.hung.insert(*guard_.reserved);
  for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
    if (shows_life(in, sm)) next.hung.erase(sm);
  }
  sweep = sweep || lost;
  guard_ = next;
  return sweep;
}

}  // namespace sluice
