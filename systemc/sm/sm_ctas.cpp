// SPDX-License-Identifier: Apache-2.0
// CTAs that come to an SM, and those that are killed.
#include <algorithm>
#include <bit>

#include "systemc/sim/main_stack.h"
#include "systemc/sm/streaming_multiprocessor.h"

namespace sluice {

void StreamingMultiprocessor::launch_cta(KernelId kernel, std::uint32_t cta_index, std::uint32_t slot, std::uint64_t earliest) {
  now_ = clock_.now();
  account_to(now_);
  const KernelDescriptor& descriptor = kernels_[kernel.value()].descriptor;
  const bool goes_on = apart(descriptor);
  const std::uint32_t at = free_cta(slot, goes_on);
  Cta& cta = ctas_[at];
  RunningKernel& running = kernels_[kernel.value()];
  std::uint32_t handle = 0;
  restore_main_stack_bounds();
  try {
    handle = running.source->begin_cta(cta_index);
  } catch (const std::exception&) {
    running.error = std::current_exception();  // out of SystemC's sight: it would wrap the message
    sc_core::sc_stop();
    return;
  }
  const bool one_age = config_.scheduler == WarpSchedulerKind::OldestCta;
  const std::uint32_t warps = descriptor.warps_per_cta();
  // A CTA that stays has its slot for the whole run, and takes block after block there.
  const std::uint64_t age =
      config_.kernels_stay ? (std::uint64_t{kernel.value()} << 32) + std::uint64_t{slot} * warps_.size() : next_age_;
  next_age_ += one_age ? 1 : warps;
  cta = {kernel.value(), warps, 0, 0, handle, true, cta_index, slot, 0, age};
  const std::uint64_t set_up = std::max({now_, earliest, next_set_up_});
  next_set_up_ = set_up + config_.cta_launch_interval;
  Worker& worker = workers_[slot];
  if (goes_on) {
    worker.cta = at;
    worker.asks = false;
  }
  const std::uint64_t begins = set_up + (goes_on ? config_.cta_launch_latency_apart : config_.cta_launch_latency);
  begin_warps(at, goes_on ? warps - std::min(warps, worker.warps) : warps, begins);
  if (cta.used && cta.begun < warps && (!goes_on || worker.warps == 0)) waiting_.push_back(at);
  if (!in_tick_) wake_.notify(clock_.cycles(1));
}

std::uint32_t StreamingMultiprocessor::free_cta(std::uint32_t slot, bool apart) {
  if (!apart && !ctas_[slot].used) return slot;
  for (std::uint32_t i = config_.capacity.cta_slots; i < ctas_.size(); ++i)
    if (!ctas_[i].used) return i;
  ctas_.emplace_back();
  return static_cast<std::uint32_t>(ctas_.size()) - 1;
}

void StreamingMultiprocessor::begin_warps(std::uint32_t at, std::uint32_t most, std::uint64_t cycle) {
  Cta& cta = ctas_[at];
  const RunningKernel& running = kernels_[cta.kernel];
  const std::uint32_t all = running.descriptor.warps_per_cta();
  std::uint64_t begun = 0;
  for (std::uint32_t w = 0; w < warps_.size() && cta.begun < all && most > 0; ++w) {
    Warp& warp = warps_[w];
    if (warp.state != Warp::State::Free) continue;
    --most;
    begun |= bit(w);
    warp.cursor = {cta.index, cta.begun, 0, cta.handle, 0, 0};
    warp.kernel = cta.kernel;
    warp.cta_slot = at;
    warp.outstanding = 0;
    warp.barriers.clear();
    warp.copies.clear();
    fetch_.flush(w);
    warp.stall_end = 0;
    warp.state = Warp::State::Running;
    stall_breakdown_.warp_begins(warp.kernel, scheduler_index(w), lane_of(w));
    scoreboard_.clear(w);
    scheduler_of(w).admit(lane_of(w), cta.age + (config_.scheduler == WarpSchedulerKind::OldestCta ? 0 : cta.begun));
    ++cta.begun;
    if (apart(running.descriptor)) ++workers_[cta.slot].warps;
  }
  cta.warps |= begun;
  // All are there before the first one ends, which one without an instruction does at once.
  for (std::uint64_t rest = begun; rest != 0; rest &= rest - 1)
    advance(static_cast<std::uint32_t>(std::countr_zero(rest)), cycle);
}

void StreamingMultiprocessor::next_piece(Worker& worker, std::uint32_t slot) {
  --worker.warps;
  const Cta& last = ctas_[worker.cta];
  if (last.used && last.slot == slot && last.begun < kernels_[last.kernel].descriptor.warps_per_cta()) {
    begin_warps(worker.cta, 1, now_ + config_.cta_launch_latency_apart);
  } else if (!worker.asks) {
    worker.asks = true;
    listener_.cta_completed(id_, KernelId(last.kernel), slot);
  }
}

void StreamingMultiprocessor::kill(KernelId kernel) {
  account_to(clock_.now());
  std::erase_if(waiting_, [&](std::uint32_t at) { return ctas_[at].kernel == kernel.value(); });
  for (Cta& cta : ctas_) {
    if (!cta.used || cta.kernel != kernel.value()) continue;
    for (std::uint64_t rest = cta.warps; rest != 0; rest &= rest - 1) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
      Warp& warp = warps_[slot];
      if (warp.state == Warp::State::WaitsForLoad || warp.state == Warp::State::Draining)
        stall_breakdown_.wait_ends(warp.kernel, StallBreakdown::Wait::Load);
      fetch_waiters_ &= ~bit(slot);
      if (warp.state == Warp::State::AtBarrier) stall_breakdown_.wait_ends(warp.kernel, StallBreakdown::Wait::Barrier);
      warp.state = Warp::State::Free;
      ++warp.generation;
      stall_breakdown_.warp_ends(warp.kernel, scheduler_index(slot), lane_of(slot));
      scheduler_of(slot).remove(lane_of(slot));
    }
    if (apart(kernels_[cta.kernel].descriptor)) {
      Worker& worker = workers_[cta.slot];
      worker.warps -= static_cast<std::uint32_t>(std::popcount(cta.warps));
      if (&ctas_[worker.cta] == &cta) worker.asks = true;
    }
    cta.used = false;
    kernels_[cta.kernel].source->end_cta(cta.handle);
  }
  if (!in_tick_) wake_.notify(clock_.cycles(1));
}

}  // namespace sluice
