// SPDX-License-Identifier: Apache-2.0
// What DispatchScoreboard expects of the host's commands: launches, stops, evictions and flushes.
#include <fmt/format.h>

#include <optional>

#include "tb/cta_dispatcher/scoreboard.h"

namespace sluice {

namespace {

DispatchModel::Launch launch_of(const CtaDispatcherIn& in, std::size_t k, bool priorities) {
  return {{in.demand_warps[k] * kWarpSize, in.demand_registers[k], in.demand_shared_bytes[k], 1},
          in.grid[k],
          priorities ? in.priority[k] : 0U};
}

bool bit(std::uint32_t mask, std::size_t k) { return ((mask >> k) & 1U) != 0; }

}  // namespace

/// What the unit tells about flushes in this cycle, and that they come to an end.
std::string DispatchScoreboard::flush(const CtaDispatcherOut& out, const DispatchCycle& before) {
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (model_.state(k) != DispatchModel::State::Free) continue;
    flushed_ &= ~(1U << k);
    told_ &= ~(1U << k);
  }
  if (out.flush_valid) {
    const std::uint32_t k = out.flush_kernel;
    if (!bit(flushed_, k)) return fmt::format("kernel {} is given up though nobody flushed it", k);
    if (out.dispatch_valid && out.dispatch_kernel == k) return fmt::format("kernel {} is given up with a CTA at the port", k);
    if (out.flush_tag != tags_[k])
      return fmt::format("kernel {} is given up with tag {}, expected {}", k, out.flush_tag, tags_[k]);
    told_ |= 1U << k;
  }
  if (out.giving_up) {
    const bool holds = model_.holds(out.giving_sm, out.giving_slot);
    // A report of a CTA that nobody sent can end one that is about to be given up: that is then a BAD_DONE. A report right behind
    // it puts the giving up off, but not what the unit sees.
    const auto here = [&](const std::optional<End>& end) {
      return end && end->sm == out.giving_sm && end->slot == out.giving_slot;
    };
    const bool taken = (wrong_report_ && here(ended_)) || (wrong_before_ && here(left_));
    if (!taken && !(holds && bit(told_, model_.kernel(out.giving_sm, out.giving_slot))))
      return fmt::format("SM {} slot {} is given up: its kernel was not flushed", out.giving_sm, out.giving_slot);
  }
  if (out.dispatch_valid && out.dispatch_tag != tags_[out.dispatch_kernel])
    return fmt::format("dispatch_tag_o = {}, expected {}", out.dispatch_tag, tags_[out.dispatch_kernel]);
  const bool waits = out.dispatch_valid && bit(flushed_, out.dispatch_kernel);
  // Nothing is picked meanwhile, so each CTA of the others ends once at most; a report that ends none is nobody's.
  const bool bounded = params_.flush > 1;  // or the flush waits for the port as long as it takes
  waits_flushed_ = waits ? waits_flushed_ + 1 : 0;
  const bool nearer = (!waits || bounded) && (ended_ || !before.in.done_valid);
  flush_age_ = flushed_ == 0 ? 0 : flush_age_ + (nearer ? 1 : 0);
  const unsigned walks = params_.kernels * (params_.num_sms * (params_.ctas + 1) + 20 + (bounded ? 1U << params_.flush : 0));
  if (flush_age_ > walks + params_.num_sms * params_.ctas) return "a flush does not come to its end";
  return {};
}

void DispatchScoreboard::command(const DispatchCycle& before) {
  const CtaDispatcherIn& in = before.in;
  std::optional<std::size_t> unfit, busy, absent;
  for (std::size_t k = 0; k < params_.kernels; ++k) {
    const bool free = model_.state(k) == DispatchModel::State::Free;
    const bool flushes = params_.flush && bit(in.flush, k);
    const bool ended = bit(last_.kernel_done, k);
    if (free && (((bit(in.stop, k) || flushes) && !ended) || bit(in.evict, k)) && !absent) absent = k;
    if (bit(in.launch, k)) {
      const auto verdict = model_.launch(k, launch_of(in, k, params_.priority));
      if (verdict == DispatchModel::Verdict::CannotFit && !unfit) unfit = k;
      if (verdict == DispatchModel::Verdict::SlotBusy && !busy) busy = k;
    }
    if (free) continue;
    if (bit(in.resume, k)) model_.resume(k);
    if (bit(in.evict, k)) {
      if (bit(in.resume, k)) hit("evict and resume at once");
      if (model_.evicting(k)) hit("evict during an eviction");
      if (in.evict_count == 0) hit("evict none");
      model_.evict(k, in.evict_count);
    }
    if (flushes) {
      flushed_ |= 1U << k;
      flush_age_ = 0;
      model_.stop(k);
    }
    if (bit(in.stop, k)) {
      hit(model_.resident(k) == 0 ? "stop of an idle kernel" : "stop of a busy kernel");
      model_.stop(k);
    }
  }
  expected_.cannot_fit = unfit.has_value();
  expected_.slot_busy = busy.has_value();
  expected_.bad_kernel = absent.has_value();
  if (unfit) hit("cannot fit");
  if (busy) hit("slot busy");
  if (absent) hit("bad kernel");
  const auto blamed = unfit ? unfit : busy ? busy : absent;
  expected_.error_kernel = static_cast<std::uint8_t>(expected_.bad_done ? 0 : blamed.value_or(0));
  if (!expected_.port_stuck || expected_.bad_done || blamed) return;
  expected_.error_kernel = last_.dispatch_kernel;
  expected_.error_sm = last_.dispatch_sm;
}

}  // namespace sluice
