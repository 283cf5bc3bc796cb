// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/dispatch_model.h"

#include <algorithm>

namespace sluice {

RegionUnits region_units(std::uint32_t capacity, std::uint32_t max_units) {
  RegionUnits units;
  while (capacity > std::uint64_t{max_units} * units.unit) units.unit *= 2;
  units.total = capacity / units.unit;
  return units;
}

DispatchModel::DispatchModel(std::uint32_t num_sms, const SmResources& capacity, std::size_t kernel_slots,
                             std::uint32_t max_region_units, bool tail)
    : num_sms_(num_sms),
      max_region_units_(max_region_units),
      with_regions_(max_region_units != 0),
      tail_(tail),
      kernels_(kernel_slots) {
  set_capacity(capacity);
}

void DispatchModel::set_capacity(const SmResources& capacity) {
  capacity_ = capacity;
  if (with_regions_) {
    register_units_ = region_units(capacity.registers, max_region_units_);
    shared_units_ = region_units(capacity.shared_memory_bytes, max_region_units_);
  }
  const Sm empty{capacity,
                 std::vector<CtaCount>(kernels_.size()),
                 std::vector<std::optional<Cta>>(capacity.cta_slots),
                 RegionAllocator(register_units_.total),
                 RegionAllocator(shared_units_.total),
                 true};
  sms_.assign(num_sms_, empty);
}

bool DispatchModel::fits_empty(const SmResources& demand) const {
  if (!fits(demand, capacity_)) return false;
  return !with_regions_ || (register_units_.of(demand.registers) <= register_units_.total &&
                            shared_units_.of(demand.shared_memory_bytes) <= shared_units_.total);
}

DispatchModel::Verdict DispatchModel::launch(std::size_t kernel, const Launch& launch) {
  Kernel& k = kernels_[kernel];
  if (k.state != State::Free) return Verdict::SlotBusy;
  if (launch.grid == 0 || launch.demand.threads == 0 || !fits_empty(launch.demand)) return Verdict::CannotFit;
  k = Kernel{};
  k.state = State::Running;
  k.launch = launch;
  k.order = ++launches_;
  return Verdict::Taken;
}

DispatchModel::Verdict DispatchModel::stop(std::size_t kernel) {
  Kernel& k = kernels_[kernel];
  if (k.state == State::Free) return Verdict::BadKernel;
  k.state = State::Draining;
  return Verdict::Taken;
}

DispatchModel::Verdict DispatchModel::evict(std::size_t kernel, std::uint32_t count) {
  Kernel& k = kernels_[kernel];
  if (k.state == State::Free) return Verdict::BadKernel;
  k.held = k.evicting = true;
  k.to_evict = count;
  return Verdict::Taken;
}

void DispatchModel::resume(std::size_t kernel) { kernels_[kernel].held = kernels_[kernel].evicting = false; }

bool DispatchModel::in_turn(std::size_t kernel) const {
  return in_turn_of_its_priority(kernel) && std::ranges::none_of(kernels_, [&](const Kernel& other) {
           return may_issue(other) && other.launch.priority > kernels_[kernel].launch.priority;
         });
}

bool DispatchModel::in_turn_of_its_priority(std::size_t kernel) const {
  const Kernel& k = kernels_[kernel];
  return std::ranges::none_of(kernels_, [&](const Kernel& other) {
    return may_issue(other) && other.launch.priority == k.launch.priority && other.order < k.order;
  });
}

bool DispatchModel::has_room(std::size_t kernel, std::uint32_t sm, CtaCount quota, bool regions) const {
  const Kernel& k = kernels_[kernel];
  const Sm& s = sms_[sm];
  if (!may_issue(k)) return false;
  if (s.resident[kernel].value() >= quota.value() || !fits(k.launch.demand, s.free)) return false;
  if (!regions || !with_regions_) return true;
  // Where the SM placed a CTA itself nobody knows: no region beside it.
  if (std::ranges::any_of(s.slots, [](const std::optional<Cta>& cta) { return cta && !cta->placed; })) return false;
  return register_units_.of(k.launch.demand.registers) <= s.registers.largest_gap() &&
         shared_units_.of(k.launch.demand.shared_memory_bytes) <= s.shared.largest_gap();
}

std::uint32_t DispatchModel::admit(std::size_t kernel, std::uint32_t sm, bool repeat, bool in_order) {
  Kernel& k = kernels_[kernel];
  Sm& s = sms_[sm];
  s.free = take(s.free, k.launch.demand);
  s.resident[kernel] += CtaCount(1);
  ++k.resident;
  ++k.dispatched;
  const std::uint32_t cta = k.next;
  k.next = (k.next + 1) % k.launch.grid;
  if (k.next == 0 && !repeat) k.finished = true;
  if (k.finished && tail_) k.state = State::Draining;
  if (k.next == 0 && repeat && in_order) k.order = ++launches_;
  return cta;
}

std::uint32_t DispatchModel::seat(std::size_t kernel, std::uint32_t sm) {
  auto& slots = sms_[sm].slots;
  const auto slot = std::ranges::find_if(slots, [](const std::optional<Cta>& cta) { return !cta; });
  *slot = Cta{kernel, false, false, 0, 0};
  return static_cast<std::uint32_t>(slot - slots.begin());
}

std::optional<DispatchModel::Bases> DispatchModel::place(std::uint32_t sm, std::uint32_t slot) {
  Sm& s = sms_[sm];
  Cta& cta = *s.slots[slot];
  const SmResources& demand = kernels_[cta.kernel].launch.demand;
  const std::uint32_t registers = register_units_.of(demand.registers), shared = shared_units_.of(demand.shared_memory_bytes);
  const auto register_base = s.registers.allocate(registers);
  if (!register_base) return std::nullopt;
  const auto shared_base = s.shared.allocate(shared);
  if (!shared_base) {
    s.registers.release(*register_base);
    return std::nullopt;
  }
  cta = {cta.kernel, true, false, *register_base, *shared_base};
  return Bases{registers == 0 ? 0 : *register_base * register_units_.unit, shared == 0 ? 0 : *shared_base * shared_units_.unit};
}

std::optional<std::size_t> DispatchModel::done(std::uint32_t sm, std::uint32_t slot) {
  if (sm >= sms_.size() || slot >= capacity_.cta_slots || !holds(sm, slot)) return std::nullopt;
  Sm& s = sms_[sm];
  Cta& cta = *s.slots[slot];
  cta.ended = true;
  const SmResources& demand = kernels_[cta.kernel].launch.demand;
  s.free = {s.free.threads + demand.threads, s.free.registers + demand.registers,
            s.free.shared_memory_bytes + demand.shared_memory_bytes, s.free.cta_slots + demand.cta_slots};
  s.resident[cta.kernel] -= CtaCount(1);
  return cta.kernel;
}

void DispatchModel::leave(std::uint32_t sm, std::uint32_t slot) {
  Sm& s = sms_[sm];
  const Cta cta = *s.slots[slot];
  s.slots[slot].reset();
  if (!cta.placed) return;
  s.registers.release(cta.register_base);
  s.shared.release(cta.shared_base);
}

void DispatchModel::count_end(std::size_t kernel) {
  Kernel& k = kernels_[kernel];
  --k.resident;
  if (k.to_evict > 0) --k.to_evict;
}

bool DispatchModel::occupied(std::uint32_t sm) const {
  return std::ranges::any_of(sms_[sm].slots, [](const std::optional<Cta>& cta) { return cta.has_value(); });
}

bool DispatchModel::ending(std::size_t kernel) const {
  const Kernel& k = kernels_[kernel];
  return k.resident == 0 && (k.state == State::Draining || (k.state == State::Running && k.finished));
}

void DispatchModel::end(std::size_t kernel) {
  Kernel& k = kernels_[kernel];
  k.state = State::Free;
  k.held = k.evicting = false;
}

bool DispatchModel::evicted(std::size_t kernel) const {
  const Kernel& k = kernels_[kernel];
  return k.evicting && (k.to_evict == 0 || k.resident == 0);
}

void DispatchModel::report_eviction(std::size_t kernel) { kernels_[kernel].evicting = false; }

std::vector<std::size_t> DispatchModel::present() const {
  std::vector<std::size_t> running;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    if (kernels_[k].state == State::Running) running.push_back(k);
  }
  std::ranges::sort(running, {}, [this](std::size_t k) { return kernels_[k].order; });
  return running;
}

}  // namespace sluice
