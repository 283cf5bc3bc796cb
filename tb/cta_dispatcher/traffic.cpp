// SPDX-License-Identifier: Apache-2.0
#include "tb/cta_dispatcher/traffic.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice {
namespace {
constexpr std::uint32_t kMany = 8;  ///< CTA slots; with fewer, any traffic takes all of them
}  // namespace

DispatchTraffic::DispatchTraffic(std::uint64_t seed, const CtaDispatcherParams& params) : random_(seed), params_(params) {}

const DispatchCycle& DispatchTraffic::reset() {
  cycle_ = {};
  started_.clear();
  late_.clear();
  described_ = 0;
  CtaDispatcherIn& c = cycle_.in;
  c.rst_n = false;
  const bool tiny = chance(0.3);  // capacities that are no multiple of a unit, and demands that are no multiple of anything
  c.capacity_warps = tiny ? in(1, 64) : chance(0.5) ? 48 : 64;
  const auto any = [this](std::uint32_t most) { return std::max(1U, in(1, most) >> (chance(0.5) ? in(0, 15) : 0)); };
  c.capacity_registers = tiny ? any(65536) : chance(0.5) ? 32768 : 65536;
  c.capacity_shared_bytes = tiny ? any(233472) : chance(0.5) ? 49152 : 233472;
  c.capacity_slots = chance(0.7) ? params_.ctas : in(1, params_.ctas);
  cycle_.quota.assign(params_.num_sms, {});
  for (std::uint32_t k = 0; k < params_.kernels; ++k) new_descriptor(k);
  new_character();
  new_quotas();
  return cycle_;
}

void DispatchTraffic::new_character() {
  left_ = in(20, 400);
  ends_ = chance(0.3) ? 1.0 : chance(0.3) ? 0.05 : 0.6;
  ready_ = chance(0.5) ? 1.0 : chance(0.5) ? 0.5 : 0.1;
  commands_ = chance(0.5) ? 0.01 : 0.2;
  quota_changes_ = chance(0.4) ? 0.0 : chance(0.8) ? 0.02 : 0.4;
  errors_ = chance(0.5) ? 0.0 : 0.1;
  quota_style_ = in(0, 2);
  size_style_ = in(0, 4);
  sm_ready_ = !params_.sm_ready || chance(0.4) ? 1.0 : chance(0.5) ? 0.5 : 0.05;
  cycle_.in.round_robin = chance(0.5);
  cycle_.in.in_order = chance(0.3);
  cycle_.in.regions = chance(0.5);
  crowd_ = params_.ctas >= kMany && chance(0.5);
  if (crowd_) crowd();
}

/// Kernels of small CTAs come and stay; CTAs seldom end before every slot is taken, and often then.
void DispatchTraffic::crowd() {
  left_ = in(500, 3000);
  ends_ = chance(0.5) ? 0.1 : 0.9;
  ready_ = 1.0;
  commands_ = 0.05;
  quota_changes_ = 0.001;
  quota_style_ = chance(0.7) ? 0 : 2;
  size_style_ = chance(0.3) ? 0 : 5;
  sm_ready_ = !params_.sm_ready || chance(0.7) ? 1.0 : 0.5;
  cycle_.in.regions = chance(0.8);
}

/// SMs come and go; most of the time all are enabled.
void DispatchTraffic::new_availability() {
  CtaDispatcherIn& c = cycle_.in;
  if (params_.sm_enable && chance(0.02)) {
    const double on = chance(0.5) ? 1.0 : chance(0.5) ? 0.8 : 0.4;
    for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) c.sm_enable[sm] = chance(on);
  }
  for (std::uint32_t sm = 0; params_.sm_ready && sm < params_.num_sms; ++sm) c.sm_ready[sm] = chance(sm_ready_);
}

void DispatchTraffic::new_quotas() {
  for (auto& sm : cycle_.quota) {
    for (std::uint32_t k = 0; k < params_.kernels; ++k) {
      const std::uint32_t quota = quota_style_ == 0 ? params_.ctas : quota_style_ == 1 ? in(0, 2) : in(0, params_.ctas);
      sm[k] = static_cast<std::uint8_t>(quota);
    }
  }
}

void DispatchTraffic::new_descriptor(std::uint32_t k) {
  CtaDispatcherIn& c = cycle_.in;
  const auto some = [this](std::uint32_t capacity) {
    if (size_style_ == 4) {  // so many fill an SM to the last; one more byte and they don't fit; all but a crumb
      const std::uint32_t parts = in(1, 8);
      return parts == 8 ? capacity - in(0, capacity / 32) : std::min(capacity, capacity / parts + in(0, 1));
    }
    if (size_style_ == 5) return std::min(capacity, in(0, std::max(1U, capacity / (params_.ctas / 2))));
    const std::uint32_t share = size_style_ == 0 ? 32 : size_style_ == 1 ? 8 : 2;
    return std::min(capacity, in(0, std::max(1U, capacity / share)));
  };
  c.demand_warps[k] = std::max(1U, some(c.capacity_warps));
  c.demand_registers[k] = some(c.capacity_registers);
  c.demand_shared_bytes[k] = chance(0.3) ? 0 : some(c.capacity_shared_bytes);
  c.grid[k] = crowd_ && chance(0.8) ? in(300, 5000) : chance(0.6) ? in(1, 40) : chance(0.9) ? in(1, 2000) : in(1, ~0U);
  if (params_.priority) c.priority[k] = static_cast<std::uint8_t>(chance(0.5) ? in(0, 1) : in(0, 7));
  if (!chance(0.05)) return;
  switch (in(0, 5)) {  // does not fit
    case 0: c.demand_warps[k] = 0; break;
    case 1: c.grid[k] = 0; break;
    case 2: c.demand_warps[k] = c.capacity_warps + 1; break;
    case 3: c.demand_registers[k] = c.capacity_registers + 1; break;
    case 4: c.demand_shared_bytes[k] = c.capacity_shared_bytes + 1; break;
    default: c.demand_registers[k] = c.capacity_registers; break;  // fits exactly, unless units are lost
  }
}

void DispatchTraffic::started(const CtaDispatcherOut& out) {
  if (out.dispatch_valid && cycle_.in.dispatch_ready)
    started_.push_back({out.dispatch_sm, out.dispatch_slot, out.dispatch_kernel, out.dispatch_tag});
  give_up(out);
}

/// What the unit gives up, the SMs give up; some report it nevertheless.
void DispatchTraffic::give_up(const CtaDispatcherOut& out) {
  if (!out.flush_valid) return;
  const auto mine = [&out](const Cta& cta) { return cta.kernel == out.flush_kernel && cta.tag == out.flush_tag; };
  for (const Cta& cta : started_) {
    if (mine(cta) && chance(0.5)) late_.push_back(cta);
  }
  std::erase_if(started_, mine);
  if (late_.size() > 64) late_.erase(late_.begin(), late_.end() - 64);  // or their tags come round again
}

void DispatchTraffic::end_one(const CtaDispatcherOut& out) {
  CtaDispatcherIn& c = cycle_.in;
  c.done_valid = false;
  if (chance(errors_)) {  // a CTA that does not run: the one at the port, or any that is not in the list
    c.done_sm = static_cast<std::uint8_t>(in(0, chance(0.1) ? 255 : std::min(255U, params_.num_sms + 1)));
    c.done_slot = static_cast<std::uint8_t>(in(0, 31));
    if (out.dispatch_valid && chance(0.5)) {
      c.done_sm = out.dispatch_sm;
      c.done_slot = out.dispatch_slot;
    }
    c.done_kernel = static_cast<std::uint8_t>(in(0, params_.kernels - 1));
    c.done_tag = static_cast<std::uint8_t>(in(0, 15));
    c.done_valid =
        std::ranges::none_of(started_, [&c](const Cta& cta) { return cta.sm == c.done_sm && cta.slot == c.done_slot; });
  } else if (!late_.empty() && chance(0.2)) {
    c.done_valid = true;
    std::tie(c.done_sm, c.done_slot, c.done_kernel, c.done_tag) =
        std::tuple(late_.front().sm, late_.front().slot, late_.front().kernel, late_.front().tag);
    late_.erase(late_.begin());
  } else if (!started_.empty() && chance(ends_)) {
    // Often where something has just been granted: the collisions are there.
    std::size_t i = in(0, static_cast<std::uint32_t>(started_.size() - 1));
    if (out.dispatch_valid && chance(0.3)) {
      const auto same = std::ranges::find_if(started_, [&](const Cta& cta) { return cta.sm == out.dispatch_sm; });
      if (same != started_.end()) i = static_cast<std::size_t>(same - started_.begin());
    }
    c.done_valid = true;
    std::tie(c.done_sm, c.done_slot, c.done_kernel, c.done_tag) =
        std::tuple(started_[i].sm, started_[i].slot, started_[i].kernel, started_[i].tag);
    started_[i] = started_.back();
    started_.pop_back();
  }
}

const DispatchCycle& DispatchTraffic::next(const CtaDispatcherOut& out) {
  CtaDispatcherIn& c = cycle_.in;
  const bool was_reset = !c.rst_n;
  c.rst_n = true;
  const bool regions_before = c.regions;
  if (left_-- == 0) new_character();
  c.quota_changed = was_reset || c.regions != regions_before || chance(quota_changes_);
  if (c.quota_changed) new_quotas();
  c.quota = cycle_.quota[out.query_sm];
  c.port_quota = cycle_.quota[out.dispatch_sm];
  // A descriptor is there a cycle before its launch, and stays.
  const auto launches = std::exchange(described_, std::uint8_t{0});
  c.launch = launches;
  c.stop = c.evict = c.resume = c.flush = 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    const auto bit = static_cast<std::uint8_t>(1U << k);
    if (!chance(commands_)) continue;
    switch (crowd_ ? in(0, 400) : in(0, 9)) {
      case 0: c.stop |= bit; break;
      case 1: c.evict |= bit; break;
      case 2: c.resume |= bit; break;
      case 3: c.repeat ^= bit; break;
      case 4:
        (chance(0.5) ? c.evict : c.stop) |= bit;
        c.resume |= bit;
        break;
      default:
        if (out.state[k] == SlotState::kFree && (launches & bit) == 0) {
          new_descriptor(k);
          described_ |= bit;
        } else if (out.state[k] != SlotState::kFree && chance(0.2)) {
          c.launch |= bit;
        }
        if (chance(crowd_ ? 0.002 : 0.02)) c.stop |= bit;
        if (params_.flush && chance(crowd_ ? 0.002 : 0.1)) c.flush |= bit;
    }
  }
  c.evict_count = static_cast<std::uint16_t>(chance(0.2) ? 0 : chance(0.95) ? in(1, 12) : in(13, 65535));
  c.dispatch_ready = chance(ready_);
  new_availability();
  end_one(out);
  started(out);
  return cycle_;
}

const DispatchCycle& DispatchTraffic::drain(const CtaDispatcherOut& out) {
  CtaDispatcherIn& c = cycle_.in;
  c.rst_n = true;
  c.quota_changed = false;
  c.quota = cycle_.quota[out.query_sm];
  c.port_quota = cycle_.quota[out.dispatch_sm];
  c.launch = c.stop = c.evict = c.resume = c.flush = 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (out.state[k] == SlotState::kRunning) c.stop = static_cast<std::uint8_t>(c.stop | (1U << k));
  }
  c.dispatch_ready = true;
  ends_ = 1;
  errors_ = 0;
  end_one(out);
  started(out);
  return cycle_;
}

bool DispatchTraffic::idle(const CtaDispatcherOut& out) const {
  return started_.empty() && !out.dispatch_valid &&
         std::ranges::all_of(out.state, [](SlotState state) { return state == SlotState::kFree; });
}

}  // namespace sluice
