// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/cta_dispatcher.h"

#include <algorithm>
#include <bit>

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

SmSet SmSet::without(const SmSet& other) const {
  SmSet rest;
  for (std::size_t w = 0; w < words_.size(); ++w) rest.words_[w] = words_[w] & ~other.words_[w];
  return rest;
}

CtaDispatcherTwin::CtaDispatcherTwin(const CtaDispatcherParams& params) : params_(params), sms_(params.num_sms) {
  dirty_.fill(params.num_sms);
  flush_.tags.fill(15);  // the first kernel of a slot has 0
  if (params.sm_ready) unready_.fill(params.num_sms);
}

CtaDispatcherTwin::Units CtaDispatcherTwin::units(std::uint32_t capacity) const {
  Units result;
  while (capacity > params_.region_units << result.shift) ++result.shift;
  result.total = capacity >> result.shift;
  return result;
}

bool CtaDispatcherTwin::fits_empty(const CtaDispatcherIn& in, std::uint32_t k) const {
  if (in.demand_warps[k] == 0 || in.grid[k] == 0 || in.capacity_slots == 0) return false;
  if (in.demand_warps[k] > in.capacity_warps || in.demand_registers[k] > in.capacity_registers ||
      in.demand_shared_bytes[k] > in.capacity_shared_bytes)
    return false;
  if (params_.region_units == 0) return true;
  const Units registers = units(in.capacity_registers), shared = units(in.capacity_shared_bytes);
  return registers.of(in.demand_registers[k]) <= registers.total && shared.of(in.demand_shared_bytes[k]) <= shared.total;
}

bool CtaDispatcherTwin::may_take(std::uint32_t k) const {
  const Kernel& kernel = kernels_[k];
  return kernel.state == SlotState::kRunning && !kernel.finished && !kernel.held;
}

SmSet CtaDispatcherTwin::eligible(const CtaDispatcherIn& in, std::uint32_t k) const {
  SmSet set = room_[k].without(busy_).without(unready_);
  for (std::uint32_t sm = 0; params_.sm_enable && sm < params_.num_sms; ++sm) {
    if (!in.sm_enable[sm]) set.erase(sm);
  }
  for (std::uint32_t sm = 0; in.waits[k].any() && sm < params_.num_sms; ++sm) {
    if (in.waits[k][sm]) set.erase(sm);
  }
  if (guard_.reserved && guard_.claim && guard_.claim != k) set.erase(*guard_.reserved);
  return set;
}

SmSet CtaDispatcherTwin::unready(const CtaDispatcherIn& in) const {
  SmSet set;
  for (std::uint32_t sm = 0; params_.sm_ready && sm < params_.num_sms; ++sm)
    set.put(sm, !in.sm_ready[sm] || (out_.dispatch_valid && out_.dispatch_sm == sm));
  return set;
}

bool CtaDispatcherTwin::ready_changes(const CtaDispatcherIn& in) const { return params_.sm_ready && unready(in) != unready_; }

/// Who goes first of two kernels that could.
bool CtaDispatcherTwin::goes_before(const CtaDispatcherIn& in, std::uint32_t a, std::uint32_t b) const {
  if (kernels_[a].priority != kernels_[b].priority) return kernels_[a].priority > kernels_[b].priority;
  if (!in.round_robin || in.in_order) return kernels_[a].launched_at < kernels_[b].launched_at;
  if (params_.priority) return served_at_[a] != served_at_[b] ? served_at_[a] < served_at_[b] : a < b;
  return (a + params_.kernels - next_kernel_) % params_.kernels < (b + params_.kernels - next_kernel_) % params_.kernels;
}

std::optional<CtaDispatcherTwin::Pick> CtaDispatcherTwin::pick(const CtaDispatcherIn& in) const {
  std::optional<std::uint32_t> best;  // in order it may be one that has no room
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (!may_take(k) || (eligible(in, k).empty() && !in.in_order)) continue;
    if (guard_.claim == k && !eligible(in, k).empty()) return Pick{k, *eligible(in, k).next(next_sm_)};
    if (!best || goes_before(in, k, *best)) best = k;
  }
  if (!best || eligible(in, *best).empty()) return std::nullopt;
  return Pick{*best, *eligible(in, *best).next(next_sm_)};
}

bool CtaDispatcherTwin::room(const CtaDispatcherIn& in, const Row& row, std::uint32_t k) const {
  const Amounts& demand = kernels_[k].demand;
  return kernels_[k].state != SlotState::kFree && row.used.warps + demand.warps <= in.capacity_warps &&
         row.used.registers + demand.registers <= in.capacity_registers &&
         row.used.shared_bytes + demand.shared_bytes <= in.capacity_shared_bytes && row.ctas < in.capacity_slots &&
         row.resident[k] < row.quota[k];
}

bool CtaDispatcherTwin::full(const Row& row) const {
  return std::equal(row.resident.begin(), row.resident.begin() + params_.kernels, row.quota.begin());
}

void CtaDispatcherTwin::launch(const CtaDispatcherIn& in, std::uint32_t k) {
  Kernel kernel;
  kernel.state = SlotState::kRunning;
  kernel.demand = {in.demand_warps[k], in.demand_registers[k], in.demand_shared_bytes[k]};
  if (params_.region_units != 0) {
    kernel.register_units = units(in.capacity_registers).of(in.demand_registers[k]);
    kernel.shared_units = units(in.capacity_shared_bytes).of(in.demand_shared_bytes[k]);
  }
  kernel.grid = in.grid[k];
  kernel.launched_at = ++launches_;
  if (params_.priority) kernel.priority = in.priority[k];
  kernels_[k] = kernel;
  out_.dispatched[k] = 0;
  out_.change = true;
  room_[k].clear();
  if (charged_ && charged_->regions) charged_->regions_fit[k] = false;  // it was looked at for the kernel before
  dirty_.fill(params_.num_sms);
}

void CtaDispatcherTwin::clock_kernels(const CtaDispatcherIn& in, std::optional<std::uint32_t> taken,
                                      std::optional<std::uint32_t> counted, std::optional<std::uint32_t> given) {
  if (taken && in.in_order && kernels_[*taken].next + 1 == kernels_[*taken].grid && (in.repeat >> *taken & 1U) != 0)
    kernels_[*taken].launched_at = ++launches_;      // stands in line again, before this cycle's launches
  std::optional<std::uint32_t> busy, unfit, absent;  // lowest slots that an error is about
  const std::uint32_t just_ended = out_.kernel_done;
  out_.evict_done = out_.kernel_done = 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    Kernel& kernel = kernels_[k];
    const std::uint32_t bit = 1U << k;
    const bool free = kernel.state == SlotState::kFree, none_resident = out_.resident[k] == 0 && counted != k;
    if ((in.launch & bit) != 0 && !free && !busy) busy = k;
    if ((((in.stop & ~just_ended) | in.evict) & bit) != 0 && free && !absent) absent = k;
    if (free) {
      if ((in.launch & bit) == 0) continue;
      if (fits_empty(in, k))
        launch(in, k);
      else if (!unfit)
        unfit = k;
      continue;
    }
    const bool ends = kernel.state == SlotState::kDraining ? none_resident : kernel.finished && none_resident;
    if (counted == k) ++out_.resident[k];
    if (taken == k) {
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
      out_.change |= kernel.state == SlotState::kRunning;
      out_.kernel_done = static_cast<std::uint8_t>(out_.kernel_done | bit);
      kernel.state = SlotState::kFree;
      kernel.held = kernel.evicting = false;
    } else if (kernel.state == SlotState::kRunning && ((in.stop & bit) != 0 || (params_.tail && kernel.finished))) {
      kernel.state = SlotState::kDraining;
      out_.change = true;
    }
  }
  out_.cannot_fit = unfit.has_value();
  out_.slot_busy = busy.has_value();
  out_.bad_kernel = absent.has_value();
  const auto blamed = unfit ? unfit : busy ? busy : absent;
  out_.error_kernel = static_cast<std::uint8_t>(out_.bad_done ? 0 : blamed.value_or(0));
}

void CtaDispatcherTwin::step(const CtaDispatcherIn& in, bool flushing) {
  // By the registers as they stand.
  const std::uint32_t claim = guard_.claim.value_or(params_.kernels);
  const bool port_free = !out_.dispatch_valid || in.dispatch_ready;
  std::optional<Pick> picked;
  if (port_free && !in.quota_changed && !flushing) picked = pick(in);
  const auto counted = fresh_ ? std::optional<std::uint32_t>(out_.dispatch_kernel) : std::nullopt;
  const auto wanted = dirty_.without(busy_).next(next_dirty_);
  const auto to_credit = left_;
  const bool runs = ended_ && !ended_->waits && ended_->sm < params_.num_sms && ended_->slot < params_.ctas &&
                    sms_[ended_->sm].slots[ended_->slot].used;
  const SmSet unready_next = unready(in);
  const bool reads = wanted || unanswered_ || in.quota_changed, answer_stays = answer_ && !busy_.contains(*answer_);
  std::optional<Row> row;
  Gaps gaps;
  if (reads && eval_) {
    const Sm& sm = sms_[*eval_];
    row = sm.row;
    if (params_.region_units != 0)
      gaps = {sm.registers.empty() && sm.shared.empty(),
              std::ranges::any_of(sm.slots, [](const Slot& slot) { return slot.used && !slot.region; }),
              largest_gap(sm.registers, units(in.capacity_registers).total),
              largest_gap(sm.shared, units(in.capacity_shared_bytes).total)};
    std::copy_n(in.quota.begin(), params_.kernels, row->quota.begin());
  }
  if (charging_) {
    for (std::uint32_t k = 0; k < params_.kernels; ++k)
      charging_->regions_fit[k] = !charging_->regions || region_room(in, sms_[charging_->sm], k);
  }

  const bool sweep = clock_guard(in, picked ? std::optional(picked->kernel) : std::nullopt, reads);

  answer(in);
  compare(in);
  if (credited_) {
    Amounts& used = sms_[credited_->sm].row.used;
    const Amounts& demand = kernels_[credited_->kernel].demand;
    used.warps -= demand.warps;
    used.registers -= demand.registers;
    used.shared_bytes -= demand.shared_bytes;
  }
  charge(in);
  seat(in);
  const auto given = end(in, runs);

  if (last_picked_) next_sm_ = *last_picked_ + 1;
  if (port_free) {
    out_.dispatch_valid = picked.has_value();
    last_picked_ = picked ? std::optional(picked->sm) : std::nullopt;
  }
  fresh_ = picked.has_value();
  if (picked) {
    busy_.insert(picked->sm);
    served_at_[picked->kernel] = ++picks_;
    if (in.round_robin && !in.in_order && picked->kernel != claim) next_kernel_ = (picked->kernel + 1) % params_.kernels;
    with_regions_ = in.regions && params_.region_units != 0;
    out_.dispatch_sm = static_cast<std::uint8_t>(picked->sm);
    out_.dispatch_kernel = static_cast<std::uint8_t>(picked->kernel);
    out_.dispatch_cta = kernels_[picked->kernel].next;
  }
  if (in.quota_changed) {
    for (SmSet& set : room_) set.clear();
    out_.settled.reset();
    dirty_.fill(params_.num_sms);
  }
  if (sweep) dirty_.fill(params_.num_sms);

  out_.change = false;
  clock_kernels(in, picked ? std::optional(picked->kernel) : std::nullopt, counted, given);

  if (reads) {
    answer_ = eval_;
    if (row) {
      answer_row_ = *row;
      answer_gaps_ = gaps;
    }
  } else if (!answer_stays) {
    answer_.reset();
  }
  read_next(in, wanted);
  unready_ = unready_next;
  if (to_credit) dirty_.insert(to_credit->sm);  // a read in the next cycle comes too early for it
  refresh_outputs(in);
}

void CtaDispatcherTwin::refresh_outputs(const CtaDispatcherIn& in) {
  std::vector<std::uint32_t> running;
  out_.spent = 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    out_.state[k] = kernels_[k].state;
    if (kernels_[k].state != SlotState::kRunning) continue;
    running.push_back(k);
    if (!may_take(k)) out_.spent = static_cast<std::uint8_t>(out_.spent | 1U << k);
  }
  std::ranges::sort(running, {}, [this](std::uint32_t k) { return kernels_[k].launched_at; });
  out_.num_present = static_cast<std::uint8_t>(running.size());
  out_.age = {};
  for (std::size_t i = 0; i < running.size(); ++i) out_.age[i] = static_cast<std::uint8_t>(running[i]);
  out_.query_sm = static_cast<std::uint8_t>(eval_.value_or(0));
  for (std::uint32_t sm = 0; params_.sm_enable && sm < params_.num_sms; ++sm)
    out_.sm_busy[sm] = std::ranges::any_of(sms_[sm].slots, &Slot::used) || (out_.dispatch_valid && out_.dispatch_sm == sm);
  if (fresh_) {
    out_.dispatch_slot = static_cast<std::uint8_t>(lowest_free_slot(sms_[out_.dispatch_sm]));
    out_.dispatch_register_base = out_.dispatch_shared_base = 0;
    out_.dispatch_region_valid = with_regions_;
    if (with_regions_) {
      const Units registers = units(in.capacity_registers), shared = units(in.capacity_shared_bytes);
      const Kernel& kernel = kernels_[out_.dispatch_kernel];
      const Sm& sm = sms_[out_.dispatch_sm];
      out_.dispatch_register_base = first_fit(sm.registers, kernel.register_units, registers.total).value() << registers.shift;
      out_.dispatch_shared_base = first_fit(sm.shared, kernel.shared_units, shared.total).value() << shared.shift;
    }
  }
}

bool CtaDispatcherTwin::quiet(const CtaDispatcherIn& in) const {
  if (out_.dispatch_valid || !busy_.empty() || !dirty_.empty() || unanswered_ || answer_new_) return false;
  if (ended_ || left_ || credited_) return false;
  if (flush_.state != Flush::State::kRest || flush_.asked != 0) return false;
  if (waiting(in) != 0 || guard_.timer != 0 || (guard_.mark | guard_.urgent) != 0 || guard_.claim) return false;
  for (std::uint32_t sm = 0; !guard_.hung.empty() && sm < params_.num_sms; ++sm)
    if (guard_.hung.contains(sm) && shows_life(in, sm)) return false;
  if (out_.change || out_.evict_done != 0 || out_.kernel_done != 0) return false;
  if (out_.bad_done || out_.cannot_fit || out_.slot_busy || out_.bad_kernel) return false;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    const Kernel& kernel = kernels_[k];
    const bool none_resident = out_.resident[k] == 0;
    if (kernel.state == SlotState::kDraining && none_resident) return false;
    if (kernel.state == SlotState::kRunning && kernel.finished && none_resident) return false;
    if (kernel.evicting && (kernel.evict_left == 0 || none_resident)) return false;
  }
  return !pick(in);
}

}  // namespace sluice
