#include "systemc/partition/cta_dispatcher.h"

#include <algorithm>
#include <limits>

namespace sluice {

namespace {

constexpr CtaCount kUnlimited{std::numeric_limits<std::uint32_t>::max()};

}  // namespace

CtaDispatcher::CtaDispatcher(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock, DispatchMode mode,
                             const std::vector<RunningKernel>& kernels, std::vector<KernelCounters>& counters,
                             std::size_t num_kernels)
    : sc_module(name),
      machine_(machine),
      clock_(clock),
      mode_(mode),
      contiguous_(mode == DispatchMode::LeftOver || mode == DispatchMode::Fcfs),
      kernels_(kernels),
      counters_(counters),
      per_kernel_(num_kernels),
      unfinished_(static_cast<std::uint32_t>(num_kernels)) {
  const SmResources& capacity = machine.sm.capacity;
  for (std::uint32_t sm = 0; sm < machine.num_sms; ++sm) {
    per_sm_.push_back({capacity, std::vector<CtaCount>(num_kernels),
                       std::vector<CtaCount>(num_kernels, contiguous_ ? kUnlimited : CtaCount(0)),
                       std::vector<ResidentCta>(capacity.cta_slots), RegionAllocator(capacity.registers),
                       RegionAllocator(capacity.shared_memory_bytes)});
  }
  SC_METHOD(dispatch);
  sensitive << wake_;
  dont_initialize();
  SC_METHOD(end_kernels);
  sensitive << end_;
  dont_initialize();
}

void CtaDispatcher::arrive(KernelId kernel) {
  per_kernel_[kernel.value()].arrived = true;
  announce_change();
}

void CtaDispatcher::announce_change() {
  ++changes_;
  kernels_changed.notify(sc_core::SC_ZERO_TIME);
  wake();
}

void CtaDispatcher::set_quota(SmId sm, KernelId kernel, CtaCount quota) {
  per_sm_[sm.value()].quota[kernel.value()] = quota;
  wake();
}

void CtaDispatcher::lift_quotas(KernelId kernel) {
  for (PerSm& sm : per_sm_) sm.quota[kernel.value()] = kUnlimited;
  wake();
}

std::vector<KernelId> CtaDispatcher::present() const {
  std::vector<KernelId> kernels;
  for (std::uint32_t k = 0; k < per_kernel_.size(); ++k) {
    if (per_kernel_[k].arrived && !per_kernel_[k].over) kernels.emplace_back(k);
  }
  return kernels;
}

std::vector<KernelId> CtaDispatcher::service_order() const {
  std::vector<KernelId> order = present();
  // First come, first served: the CTAs of kernels that arrive together queue up interleaved, so the next in line belongs to
  // the kernel that got the fewest so far. In every other mode the kernels come in launch order.
  if (mode_ == DispatchMode::Fcfs) {
    std::ranges::stable_sort(order, {}, [this](KernelId k) { return per_kernel_[k.value()].next_cta; });
  }
  return order;
}

void CtaDispatcher::dispatch() {
  if (dispatch_one()) wake();
}

bool CtaDispatcher::dispatch_one() {
  for (const KernelId kernel : service_order()) {
    for (std::uint32_t i = 0; i < machine_.num_sms; ++i) {
      const std::uint32_t sm = (next_sm_ + i) % machine_.num_sms;
      if (!try_launch(SmId(sm), kernel)) continue;
      next_sm_ = (sm + 1) % machine_.num_sms;
      return true;
    }
  }
  return false;
}

bool CtaDispatcher::try_launch(SmId id, KernelId kernel) {
  PerSm& sm = per_sm_[id.value()];
  const std::uint32_t k = kernel.value();
  if (sm.resident[k] >= sm.quota[k]) return false;
  if (kernels_[k].grid != 0 && per_kernel_[k].next_cta == kernels_[k].grid) return false;
  const SmResources demand = kernels_[k].descriptor.demand();
  if (!fits(demand, sm.free)) return false;
  ResidentCta cta{true, k, per_kernel_[k].next_cta, clock_.now(), 0, 0};
  if (contiguous_) {
    const auto registers = sm.registers.allocate(demand.registers);
    if (!registers) return false;
    const auto shared = sm.shared.allocate(demand.shared_memory_bytes);
    if (!shared) {
      sm.registers.release(*registers);
      return false;
    }
    cta.register_base = *registers;
    cta.shared_base = *shared;
  }
  settle(clock_.now());
  const std::uint32_t slot = sms_[id.value()]->free_slot();
  sm.slots[slot] = cta;
  sm.free = take(sm.free, demand);
  sm.resident[k] += CtaCount(1);
  in_use_total_.threads += demand.threads;
  in_use_total_.registers += demand.registers;
  in_use_total_.shared_memory_bytes += demand.shared_memory_bytes;
  ++per_kernel_[k].next_cta;
  ++counters_[k].ctas_dispatched;
  sms_[id.value()]->launch_cta(kernel, cta.cta, slot);
  return true;
}

void CtaDispatcher::release(PerSm& sm, std::uint32_t slot, SmId id) {
  settle(clock_.now());
  ResidentCta& cta = sm.slots[slot];
  const SmResources demand = kernels_[cta.kernel].descriptor.demand();
  if (contiguous_) {
    sm.registers.release(cta.register_base);
    sm.shared.release(cta.shared_base);
  }
  sm.free = {sm.free.threads + demand.threads, sm.free.registers + demand.registers,
             sm.free.shared_memory_bytes + demand.shared_memory_bytes, sm.free.cta_slots + 1};
  sm.resident[cta.kernel] -= CtaCount(1);
  in_use_total_.threads -= demand.threads;
  in_use_total_.registers -= demand.registers;
  in_use_total_.shared_memory_bytes -= demand.shared_memory_bytes;
  if (observer_ != nullptr)
    observer_->cta_ended(id, slot, KernelId(cta.kernel), cta.cta, Cycles(cta.begin), Cycles(clock_.now()));
  cta.used = false;
}

void CtaDispatcher::cta_completed(SmId id, KernelId kernel, std::uint32_t slot) {
  release(per_sm_[id.value()], slot, id);
  const std::uint32_t k = kernel.value();
  if (++counters_[k].ctas_completed == kernels_[k].grid) target_reached(kernel);
  wake();
}

void CtaDispatcher::target_reached(KernelId kernel) {
  reached_.push_back(kernel);
  end_.notify(clock_.cycles(1));
}

void CtaDispatcher::end_kernels() {
  for (const KernelId kernel : reached_) {
    per_kernel_[kernel.value()].over = true;
    counters_[kernel.value()].finish_cycle = clock_.now();
    --unfinished_;
    for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm) {
      sms_[sm]->kill(kernel);
      for (std::uint32_t slot = 0; slot < per_sm_[sm].slots.size(); ++slot) {
        if (per_sm_[sm].slots[slot].used && per_sm_[sm].slots[slot].kernel == kernel.value())
          release(per_sm_[sm], slot, SmId(sm));
      }
    }
  }
  reached_.clear();
  announce_change();
}

void CtaDispatcher::settle(std::uint64_t now) {
  thread_cycles += in_use_total_.threads * (now - settled_);
  register_cycles += in_use_total_.registers * (now - settled_);
  shared_byte_cycles += in_use_total_.shared_memory_bytes * (now - settled_);
  settled_ = now;
}

}  // namespace sluice
