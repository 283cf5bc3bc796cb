// SPDX-License-Identifier: Apache-2.0
// The part of the dispatcher's twin that keeps what SMs have left, and their regions: rtl/dispatch/sm_resource_table.sv,
// rtl/regions.
#include <algorithm>

#include "systemc/unit/twin/cta_dispatcher.h"

namespace sluice {

std::optional<std::uint32_t> CtaDispatcherTwin::first_fit(const Regions& regions, std::uint32_t length, std::uint32_t total) {
  std::uint32_t base = 0;
  if (length == 0) return base;
  for (const Region& region : regions) {
    if (region.base - base >= length) return base;
    base = region.base + region.length;
  }
  if (total < base + length) return std::nullopt;
  return base;
}

bool CtaDispatcherTwin::region_room(const CtaDispatcherIn& in, const Sm& sm, std::uint32_t k) const {
  if (params_.region_units == 0) return true;
  return first_fit(sm.registers, kernels_[k].register_units, units(in.capacity_registers).total).has_value() &&
         first_fit(sm.shared, kernels_[k].shared_units, units(in.capacity_shared_bytes).total).has_value();
}

std::uint32_t CtaDispatcherTwin::largest_gap(const Regions& regions, std::uint32_t total) {
  std::uint32_t end = 0, largest = 0;
  for (const Region& region : regions) {
    largest = std::max(largest, region.base - end);
    end = region.base + region.length;
  }
  return std::max(largest, total - end);
}

std::uint32_t CtaDispatcherTwin::place(Regions& regions, std::uint32_t length, std::uint32_t total, std::uint32_t slot) {
  const std::uint32_t base = first_fit(regions, length, total).value();
  if (length == 0) return base;
  const auto behind = std::ranges::find_if(regions, [base](const Region& region) { return region.base > base; });
  regions.insert(behind, {base, length, slot});
  return base;
}

void CtaDispatcherTwin::release(Regions& regions, std::uint32_t slot) {
  std::erase_if(regions, [slot](const Region& region) { return region.slot == slot; });
}

std::uint32_t CtaDispatcherTwin::lowest_free_slot(const Sm& sm) {
  return static_cast<std::uint32_t>(std::ranges::find_if(sm.slots, [](const Slot& s) { return !s.used; }) - sm.slots.begin());
}

/// The answer about the SM that was read last.
void CtaDispatcherTwin::answer(const CtaDispatcherIn& in) {
  if (!answer_) return;
  if (busy_.contains(*answer_)) {
    dirty_.insert(*answer_);
    return;
  }
  if (answer_new_ && !in.profiling && full(answer_row_)) out_.settled.set(*answer_);
  const bool regions = in.regions && params_.region_units != 0;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    const bool gap = !answer_gaps_.unknown && (answer_gaps_.none_held || (kernels_[k].register_units <= answer_gaps_.registers &&
                                                                          kernels_[k].shared_units <= answer_gaps_.shared));
    room_[k].put(*answer_, (!regions || gap) && room(in, answer_row_, k));
  }
}

/// What more fits where a CTA was charged in the cycle before.
void CtaDispatcherTwin::compare(const CtaDispatcherIn& in) {
  if (!charged_) return;
  for (std::uint32_t k = 0; k < params_.kernels; ++k)
    room_[k].put(charged_->sm, !charged_->stale && charged_->regions_fit[k] && room(in, charged_->row, k));
  if (!charged_->stale && !in.profiling && full(charged_->row)) out_.settled.set(charged_->sm);
  busy_.erase(charged_->sm);
}

/// The CTA that was in its first cycle at the port before.
void CtaDispatcherTwin::charge(const CtaDispatcherIn& in) {
  charged_ = charging_;
  charging_.reset();
  if (!charged_) return;
  Sm& sm = sms_[charged_->sm];
  const Amounts& demand = kernels_[charged_->kernel].demand;
  sm.row.used.warps += demand.warps;
  sm.row.used.registers += demand.registers;
  sm.row.used.shared_bytes += demand.shared_bytes;
  ++out_.dispatched[charged_->kernel];
  charged_->stale |= in.quota_changed;
}

/// The CTA in its first cycle at the port takes its slot and its regions; the search does not see this cycle's release. Its row
/// is read with what is credited in this cycle, and the quotas of its SM.
void CtaDispatcherTwin::seat(const CtaDispatcherIn& in) {
  if (!fresh_) return;
  Sm& sm = sms_[out_.dispatch_sm];
  const std::uint32_t kernel = out_.dispatch_kernel;
  const Amounts& demand = kernels_[kernel].demand;
  Charge charge{kernel, out_.dispatch_sm, sm.row, in.quota_changed, with_regions_, {}};
  charge.row.used.warps += demand.warps;
  charge.row.used.registers += demand.registers;
  charge.row.used.shared_bytes += demand.shared_bytes;
  ++charge.row.ctas;
  ++charge.row.resident[kernel];
  std::copy_n(in.port_quota.begin(), params_.kernels, charge.row.quota.begin());
  charging_ = charge;
  sm.slots[out_.dispatch_slot] = {true, kernel, with_regions_};
  ++sm.row.ctas;
  ++sm.row.resident[kernel];
  if (!with_regions_) return;
  place(sm.registers, kernels_[kernel].register_units, units(in.capacity_registers).total, out_.dispatch_slot);
  place(sm.shared, kernels_[kernel].shared_units, units(in.capacity_shared_bytes).total, out_.dispatch_slot);
}

/// Ends on their way: in the cycle after it came a slot is left, in the next its kernel knows, in the last the resources are
/// credited.
/// @param runs there is a CTA in the slot of the one that came @return the kernel that knows
std::optional<std::uint32_t> CtaDispatcherTwin::end(const CtaDispatcherIn& in, bool runs) {
  std::optional<std::uint32_t> given;
  if (left_) given = left_->kernel;
  credited_ = left_;
  left_.reset();
  out_.bad_done = false;
  out_.error_sm = out_.error_slot = 0;
  if (ended_) {
    if (runs) {
      Sm& sm = sms_[ended_->sm];
      ended_->kernel = sm.slots[ended_->slot].kernel;
      sm.slots[ended_->slot].used = false;
      --sm.row.ctas;
      --sm.row.resident[ended_->kernel];
      release(sm.registers, ended_->slot);
      release(sm.shared, ended_->slot);
      left_ = ended_;
    } else {
      out_.bad_done = true;
      out_.error_sm = static_cast<std::uint8_t>(ended_->sm);
      out_.error_slot = static_cast<std::uint8_t>(ended_->slot);
    }
  }
  ended_.reset();
  if (in.done_valid) {
    const bool waits = out_.dispatch_valid && out_.dispatch_sm == in.done_sm && out_.dispatch_slot == in.done_slot;
    ended_ = End{in.done_sm, in.done_slot, 0, waits};
  }
  return given;
}

/// Lane B's next cycle: a dirty SM is read; when there is none, the one behind the last, once.
void CtaDispatcherTwin::read_next(const CtaDispatcherIn& in, std::optional<std::uint32_t> wanted) {
  const auto read = eval_;
  const bool reads = wanted || unanswered_ || in.quota_changed;
  if (read) next_dirty_ = *read + 1;
  if (wanted)
    eval_ = wanted;
  else if (reads && read)
    eval_ = (*read + 1) % params_.num_sms;
  if (wanted) dirty_.erase(*wanted);
  unanswered_ = wanted.has_value();
  answer_new_ = reads;
}

}  // namespace sluice
