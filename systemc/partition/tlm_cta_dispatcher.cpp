#include "systemc/partition/tlm_cta_dispatcher.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace sluice {

void SmSet::fill(std::uint32_t num_sms) {
  for (std::uint32_t sm = 0; sm < num_sms; ++sm) insert(sm);
}

bool SmSet::empty() const {
  return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
}

std::optional<std::uint32_t> SmSet::first_from(std::uint32_t from) const {
  for (std::uint32_t w = from / 64; w < words_.size(); ++w) {
    std::uint64_t word = words_[w];
    if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
    if (word != 0) return w * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
  }
  return std::nullopt;
}

std::optional<std::uint32_t> SmSet::next(std::uint32_t from) const {
  const auto found = first_from(from);
  return found ? found : first_from(0);
}

SmSet SmSet::operator&(const SmSet& other) const {
  SmSet both;
  for (std::size_t w = 0; w < words_.size(); ++w) both.words_[w] = words_[w] & other.words_[w];
  return both;
}

TlmCtaDispatcher::TlmCtaDispatcher(const CtaDispatcherParams& params) : params_(params), sms_(params.num_sms) {}

TlmCtaDispatcher::Units TlmCtaDispatcher::units(std::uint32_t capacity) const {
  Units result;
  while (capacity > params_.region_units << result.shift) ++result.shift;
  result.total = capacity >> result.shift;
  return result;
}

bool TlmCtaDispatcher::fits_empty(const CtaDispatcherIn& in, std::uint32_t k) const {
  if (in.demand_warps[k] == 0 || in.grid[k] == 0 || in.capacity_slots == 0) return false;
  if (in.demand_warps[k] > in.capacity_warps || in.demand_registers[k] > in.capacity_registers ||
      in.demand_shared_bytes[k] > in.capacity_shared_bytes)
    return false;
  if (params_.region_units == 0) return true;
  const Units registers = units(in.capacity_registers), shared = units(in.capacity_shared_bytes);
  return registers.of(in.demand_registers[k]) <= registers.total && shared.of(in.demand_shared_bytes[k]) <= shared.total;
}

bool TlmCtaDispatcher::may_take(std::uint32_t k) const {
  const Kernel& kernel = kernels_[k];
  return kernel.state == SlotState::Running && !kernel.finished && !kernel.held;
}

SmSet TlmCtaDispatcher::eligible(std::uint32_t k) const { return regions_ ? room_[k] & region_room_[k] : room_[k]; }

std::optional<TlmCtaDispatcher::Pick> TlmCtaDispatcher::pick(const CtaDispatcherIn& in) const {
  std::optional<std::uint32_t> best;
  const auto comes_before = [&](std::uint32_t a, std::uint32_t b) {
    if (!in.round_robin) return kernels_[a].launched_at < kernels_[b].launched_at;
    return (a + params_.kernels - next_kernel_) % params_.kernels < (b + params_.kernels - next_kernel_) % params_.kernels;
  };
  std::uint64_t head = std::numeric_limits<std::uint64_t>::max();  // in order: only the oldest kernel with CTAs left
  for (std::uint32_t k = 0; k < params_.kernels && in.in_order; ++k) {
    if (may_take(k)) head = std::min<std::uint64_t>(head, kernels_[k].launched_at);
  }
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (!may_take(k) || eligible(k).empty() || kernels_[k].launched_at > head) continue;
    if (!best || comes_before(k, *best)) best = k;
  }
  if (!best) return std::nullopt;
  return Pick{*best, *eligible(*best).next(next_sm_)};
}

bool TlmCtaDispatcher::room(const CtaDispatcherIn& in, const Sm& sm, std::uint32_t k) const {
  const Amounts& demand = kernels_[k].demand;
  return kernels_[k].state != SlotState::Free && sm.used.warps + demand.warps <= in.capacity_warps &&
         sm.used.registers + demand.registers <= in.capacity_registers &&
         sm.used.shared_bytes + demand.shared_bytes <= in.capacity_shared_bytes && sm.ctas < in.capacity_slots &&
         sm.resident[k] < sm.quota[k];
}

std::optional<std::uint32_t> TlmCtaDispatcher::first_fit(const Regions& regions, std::uint32_t length, std::uint32_t total) {
  std::uint32_t base = 0;
  if (length == 0) return base;
  for (const Region& region : regions) {
    if (region.base - base >= length) return base;
    base = region.base + region.length;
  }
  if (total < base + length) return std::nullopt;
  return base;
}

bool TlmCtaDispatcher::region_room(const CtaDispatcherIn& in, const Sm& sm, std::uint32_t k) const {
  if (params_.region_units == 0) return true;
  return first_fit(sm.registers, kernels_[k].register_units, units(in.capacity_registers).total).has_value() &&
         first_fit(sm.shared, kernels_[k].shared_units, units(in.capacity_shared_bytes).total).has_value();
}

std::uint32_t TlmCtaDispatcher::place(Regions& regions, std::uint32_t length, std::uint32_t total, std::uint32_t slot) {
  const std::uint32_t base = first_fit(regions, length, total).value();
  if (length == 0) return base;
  const auto behind = std::ranges::find_if(regions, [base](const Region& region) { return region.base > base; });
  regions.insert(behind, {base, length, slot});
  return base;
}

void TlmCtaDispatcher::release(Regions& regions, std::uint32_t slot) {
  std::erase_if(regions, [slot](const Region& region) { return region.slot == slot; });
}

void TlmCtaDispatcher::launch(const CtaDispatcherIn& in, std::uint32_t k) {
  Kernel kernel;
  kernel.state = SlotState::Running;
  kernel.demand = {in.demand_warps[k], in.demand_registers[k], in.demand_shared_bytes[k]};
  if (params_.region_units != 0) {
    kernel.register_units = units(in.capacity_registers).of(in.demand_registers[k]);
    kernel.shared_units = units(in.capacity_shared_bytes).of(in.demand_shared_bytes[k]);
  }
  kernel.grid = in.grid[k];
  kernel.launched_at = ++launches_;
  kernels_[k] = kernel;
  out_.dispatched[k] = 0;
  out_.change = true;
  room_[k].clear();
  region_room_[k].clear();
  dirty_.fill(params_.num_sms);
}

void TlmCtaDispatcher::clock_kernels(const CtaDispatcherIn& in, std::optional<std::uint32_t> taken,
                                     std::optional<std::uint32_t> given) {
  std::optional<std::uint32_t> busy, unfit, absent;  // lowest slots that an error is about
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    Kernel& kernel = kernels_[k];
    const std::uint32_t bit = 1U << k;
    const bool free = kernel.state == SlotState::Free, none_resident = out_.resident[k] == 0;
    if ((in.launch & bit) != 0 && !free && !busy) busy = k;
    if (((in.stop | in.evict) & bit) != 0 && free && !absent) absent = k;
    if (free) {
      if ((in.launch & bit) == 0) continue;
      if (fits_empty(in, k))
        launch(in, k);
      else if (!unfit)
        unfit = k;
      continue;
    }
    const bool ends = kernel.state == SlotState::Draining ? none_resident : kernel.finished && none_resident;
    if (taken == k) {
      ++out_.resident[k];
      ++out_.dispatched[k];
      if (++kernel.next == kernel.grid) {
        kernel.next = 0;
        kernel.finished = (in.repeat & bit) == 0;
      }
    }
    bool evicted = kernel.evicting && (kernel.evict_left == 0 || none_resident);
    if (given == k) {
      --out_.resident[k];
      if (kernel.evict_left > 0) --kernel.evict_left;
    }
    if (evicted) kernel.evicting = false;
    if ((in.resume & bit) != 0) kernel.held = kernel.evicting = evicted = false;
    if ((in.evict & bit) != 0) {
      kernel.held = kernel.evicting = true;
      kernel.evict_left = in.evict_count;
      evicted = false;
    }
    if (ends) evicted |= kernel.evicting;
    if (evicted) out_.evict_done = static_cast<std::uint8_t>(out_.evict_done | bit);
    if (ends) {
      out_.change |= kernel.state == SlotState::Running;
      out_.kernel_done = static_cast<std::uint8_t>(out_.kernel_done | bit);
      kernel.state = SlotState::Free;
      kernel.held = kernel.evicting = false;
    } else if ((in.stop & bit) != 0 && kernel.state == SlotState::Running) {
      kernel.state = SlotState::Draining;
      out_.change = true;
    }
  }
  out_.cannot_fit = unfit.has_value();
  out_.slot_busy = busy.has_value();
  out_.bad_kernel = absent.has_value();
  const auto blamed = unfit ? unfit : busy ? busy : absent;
  out_.error_kernel = static_cast<std::uint8_t>(out_.bad_done ? 0 : blamed.value_or(0));
}

void TlmCtaDispatcher::clock(const CtaDispatcherIn& in) {
  if (!in.rst_n) {
    *this = TlmCtaDispatcher(params_);
    return;
  }
  const bool regions = in.regions && params_.region_units != 0;
  const bool port_free = !out_.dispatch_valid || in.dispatch_ready;
  const auto picked = port_free && !in.quota_changed ? pick(in) : std::nullopt;
  const auto evaluated = dirty_.next(next_dirty_);

  // What the two lanes see: lane B and the region check the state before this cycle's events, lane A the row as it is charged.
  std::array<bool, kMaxKernelSlots> room_b{}, region_b{}, region_check{};
  if (evaluated) {
    Sm& sm = sms_[*evaluated];
    for (std::uint32_t k = 0; k < params_.kernels; ++k) sm.quota[k] = in.quota[k];
    for (std::uint32_t k = 0; k < params_.kernels; ++k) {
      room_b[k] = room(in, sm, k);
      region_b[k] = region_room(in, sm, k);
    }
    next_dirty_ = *evaluated + 1;
    dirty_.erase(*evaluated);
  }
  if (check_sm_) {
    for (std::uint32_t k = 0; k < params_.kernels; ++k) region_check[k] = region_room(in, sms_[*check_sm_], k);
  }

  // Lane D looks at the slots as they stand.
  std::optional<std::uint32_t> given;
  if (in.done_valid) {
    const bool exists = in.done_sm < params_.num_sms && in.done_slot < params_.ctas;
    const bool waits = out_.dispatch_valid && out_.dispatch_sm == in.done_sm && out_.dispatch_slot == in.done_slot;
    if (exists && !waits && sms_[in.done_sm].slots[in.done_slot].used) given = sms_[in.done_sm].slots[in.done_slot].kernel;
  }

  if (in.quota_changed) {
    for (SmSet& set : room_) set.clear();
    dirty_.fill(params_.num_sms);
    if (evaluated) dirty_.erase(*evaluated);
  }
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (evaluated) {
      room_[k].put(*evaluated, room_b[k]);
      region_room_[k].put(*evaluated, region_b[k]);
    }
    if (check_sm_) region_room_[k].put(*check_sm_, region_check[k]);
  }

  // The CTA at the port takes its regions in its first cycle there; the search does not see this cycle's release.
  std::optional<std::uint32_t> allocated;
  if (fresh_ && with_regions_) allocated = out_.dispatch_sm;
  check_sm_ = allocated;
  if (allocated) {
    const Kernel& kernel = kernels_[out_.dispatch_kernel];
    place(sms_[*allocated].registers, kernel.register_units, units(in.capacity_registers).total, out_.dispatch_slot);
    place(sms_[*allocated].shared, kernel.shared_units, units(in.capacity_shared_bytes).total, out_.dispatch_slot);
  }

  if (port_free) out_.dispatch_valid = false;
  fresh_ = picked.has_value();
  if (picked) {
    Sm& sm = sms_[picked->sm];
    const Kernel& kernel = kernels_[picked->kernel];
    const auto slot =
        static_cast<std::uint32_t>(std::ranges::find_if(sm.slots, [](const Slot& s) { return !s.used; }) - sm.slots.begin());
    sm.slots[slot] = {true, picked->kernel};
    sm.used.warps += kernel.demand.warps;
    sm.used.registers += kernel.demand.registers;
    sm.used.shared_bytes += kernel.demand.shared_bytes;
    ++sm.ctas;
    ++sm.resident[picked->kernel];
    for (std::uint32_t k = 0; k < params_.kernels; ++k) room_[k].put(picked->sm, room(in, sm, k));
    dirty_.erase(picked->sm);
    next_sm_ = picked->sm + 1;
    if (in.round_robin) next_kernel_ = (picked->kernel + 1) % params_.kernels;
    with_regions_ = regions;
    out_.dispatch_valid = true;
    out_.dispatch_sm = static_cast<std::uint8_t>(picked->sm);
    out_.dispatch_kernel = static_cast<std::uint8_t>(picked->kernel);
    out_.dispatch_slot = static_cast<std::uint8_t>(slot);
    out_.dispatch_cta = kernel.next;
  }
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (picked && regions) region_room_[k].erase(picked->sm);
    if (allocated) region_room_[k].erase(*allocated);
  }

  if (given) {
    Sm& sm = sms_[in.done_sm];
    const Amounts& demand = kernels_[*given].demand;
    sm.slots[in.done_slot].used = false;
    sm.used.warps -= demand.warps;
    sm.used.registers -= demand.registers;
    sm.used.shared_bytes -= demand.shared_bytes;
    --sm.ctas;
    --sm.resident[*given];
    release(sm.registers, in.done_slot);
    release(sm.shared, in.done_slot);
    dirty_.insert(in.done_sm);
  }

  regions_ = regions;
  out_.bad_done = in.done_valid && !given;
  out_.error_sm = out_.bad_done ? in.done_sm : std::uint8_t{0};
  out_.change = false;
  out_.evict_done = out_.kernel_done = 0;
  clock_kernels(in, picked ? std::optional(picked->kernel) : std::nullopt, given);
  refresh_outputs(in);
}

void TlmCtaDispatcher::refresh_outputs(const CtaDispatcherIn& in) {
  std::vector<std::uint32_t> running;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    out_.state[k] = kernels_[k].state;
    if (kernels_[k].state == SlotState::Running) running.push_back(k);
  }
  std::ranges::sort(running, {}, [this](std::uint32_t k) { return kernels_[k].launched_at; });
  out_.num_present = static_cast<std::uint8_t>(running.size());
  out_.age = {};
  for (std::size_t i = 0; i < running.size(); ++i) out_.age[i] = static_cast<std::uint8_t>(running[i]);
  out_.query_sm = static_cast<std::uint8_t>(dirty_.next(next_dirty_).value_or(0));
  if (fresh_) {
    out_.dispatch_register_base = out_.dispatch_shared_base = 0;
    if (with_regions_) {
      const Units registers = units(in.capacity_registers), shared = units(in.capacity_shared_bytes);
      const Kernel& kernel = kernels_[out_.dispatch_kernel];
      const Sm& sm = sms_[out_.dispatch_sm];
      out_.dispatch_register_base = first_fit(sm.registers, kernel.register_units, registers.total).value() << registers.shift;
      out_.dispatch_shared_base = first_fit(sm.shared, kernel.shared_units, shared.total).value() << shared.shift;
    }
  }
}

bool TlmCtaDispatcher::quiet(const CtaDispatcherIn& in) const {
  if (out_.dispatch_valid || fresh_ || check_sm_ || !dirty_.empty()) return false;
  if (out_.change || out_.evict_done != 0 || out_.kernel_done != 0) return false;
  if (out_.bad_done || out_.cannot_fit || out_.slot_busy || out_.bad_kernel) return false;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    const Kernel& kernel = kernels_[k];
    const bool none_resident = out_.resident[k] == 0;
    if (kernel.state == SlotState::Draining && none_resident) return false;
    if (kernel.state == SlotState::Running && kernel.finished && none_resident) return false;
    if (kernel.evicting && (kernel.evict_left == 0 || none_resident)) return false;
  }
  return !pick(in);
}

}  // namespace sluice
