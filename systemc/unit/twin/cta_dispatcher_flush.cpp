// SPDX-License-Identifier: Apache-2.0
// The twin's flush: what flush_unit does of the dispatcher.
#include <bit>

#include "systemc/unit/twin/cta_dispatcher.h"

namespace sluice {

constexpr std::uint8_t kTags = 16;

void CtaDispatcherTwin::next_tag(std::uint32_t kernel) {
  flush_.tags[kernel] = static_cast<std::uint8_t>((flush_.tags[kernel] + 1) % kTags);
}

bool CtaDispatcherTwin::late(const CtaDispatcherIn& in) const {
  if (in.done_kernel >= params_.kernels) return in.done_tag != 0;
  return in.done_tag != flush_.tags[in.done_kernel] || (flush_.fresh >> in.done_kernel & 1U) != 0;
}

/// By the outputs of this cycle, which follow from the registers.
void CtaDispatcherTwin::clock_flush(const CtaDispatcherIn& in) {
  using State = Flush::State;
  std::uint32_t free = 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) free |= kernels_[k].state == SlotState::kFree ? 1U << k : 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k)
    if ((flush_.fresh & ~free) >> k & 1U) next_tag(k);
  flush_.fresh &= free;
  const std::uint32_t asked = (flush_.asked | in.flush) & ~free;
  const bool over = flush_.state != State::kRest && (free >> flush_.kernel & 1U) != 0;
  flush_.asked = asked;
  switch (flush_.state) {
    case State::kRest:
      if (asked == 0) break;
      flush_.kernel = static_cast<std::uint32_t>(std::countr_zero(asked));
      flush_.asked &= ~(1U << flush_.kernel);
      flush_.state = State::kClose;
      flush_.waited = 0;
      break;
    case State::kClose:
      ++flush_.waited;
      if (!out_.flush_valid) break;
      next_tag(flush_.kernel);
      flush_.state = State::kSettle;
      break;
    case State::kSettle:
      flush_.sm = 0;
      flush_.ended = {};
      flush_.next.reset();
      flush_.state = State::kWalk;
      break;
    case State::kWalk:
      if (flush_.next && !in.done_valid) flush_.ended[*flush_.next] = true;
      flush_.next.reset();
      for (std::uint32_t s = 0; s < params_.ctas && !flush_.next; ++s) {
        const Slot& slot = sms_[flush_.sm].slots[s];
        if (slot.used && slot.kernel == flush_.kernel && !flush_.ended[s]) flush_.next = s;
      }
      if (flush_.next) break;
      flush_.ended = {};
      if (++flush_.sm == params_.num_sms) flush_.state = State::kRest;
      break;
  }
  if (over) flush_.state = State::kRest;
}

void CtaDispatcherTwin::refresh_flush() {
  using State = Flush::State;
  const std::uint32_t kernel = flush_.kernel;
  const bool there = kernels_[kernel].state != SlotState::kFree;
  out_.dispatch_tag = flush_.tags[out_.dispatch_kernel];
  out_.flush_valid = flush_.state == State::kClose && there && !(out_.dispatch_valid && out_.dispatch_kernel == kernel);
  out_.flush_kernel = out_.flush_valid ? static_cast<std::uint8_t>(kernel) : std::uint8_t{0};
  out_.flush_tag = out_.flush_valid ? flush_.tags[kernel] : std::uint8_t{0};
  out_.giving_up = false;
  out_.giving_sm = out_.giving_slot = 0;
  if (flush_.state != State::kWalk || !there || !flush_.next) return;
  out_.giving_up = true;
  out_.giving_sm = static_cast<std::uint8_t>(flush_.sm);
  out_.giving_slot = static_cast<std::uint8_t>(*flush_.next);
}

bool CtaDispatcherTwin::takes_back() const {
  return params_.flush > 1 && flush_.state == Flush::State::kClose && out_.dispatch_valid &&
         out_.dispatch_kernel == flush_.kernel && flush_.waited + 1 == 1U << params_.flush;
}

void CtaDispatcherTwin::clock(const CtaDispatcherIn& in) {
  if (!in.rst_n) {
    const auto tags = flush_.tags;
    *this = CtaDispatcherTwin(params_);
    if (in.keep_tags) flush_.tags = tags;
    return;
  }
  if (params_.flush == 0) {
    step(in, false);
    return;
  }
  CtaDispatcherIn seen = in;
  seen.stop |= in.flush;
  if (in.done_valid) {
    seen.done_valid = !late(in);
  } else if (out_.giving_up) {
    seen.done_valid = true;
    seen.done_sm = out_.giving_sm;
    seen.done_slot = out_.giving_slot;
  }
  const bool stuck = takes_back() && !in.dispatch_ready;
  const std::uint8_t sm = out_.dispatch_sm, kernel = out_.dispatch_kernel;
  seen.dispatch_ready |= stuck;
  const bool flushing = flush_.state != Flush::State::kRest || flush_.asked != 0;
  clock_flush(in);
  step(seen, flushing);
  refresh_flush();
  out_.port_stuck = stuck;
  if (!stuck || out_.bad_done || out_.cannot_fit || out_.slot_busy || out_.bad_kernel) return;
  out_.error_kernel = kernel;
  out_.error_sm = sm;
}

}  // namespace sluice
