// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/partition_unit.h"

#include <algorithm>
#include <utility>

#include "sw/workload/persistent_source.h"
#include "systemc/unit/ports/i_partition_core.h"

namespace sluice {

PartitionUnit::PartitionUnit(const sc_core::sc_module_name& name, const MachineConfig& machine, SimClock clock,
                             const std::vector<RunningKernel>& kernels, std::vector<KernelCounters>& counters,
                             std::unique_ptr<ISluiceTop> top)
    : sc_module(name),
      registers("registers"),
      machine_(machine),
      clock_(clock),
      kernels_(kernels),
      counters_(counters),
      top_(std::move(top)),
      resident_(machine.num_sms, std::vector<ResidentCta>(machine.sm.capacity.cta_slots)),
      over_(counters.size()),
      all_issued_(counters.size()),
      storing_(counters.size()),
      began_(counters.size()),
      unfinished_(static_cast<std::uint32_t>(counters.size())),
      profiles_(counters.size()),
      watched_(machine.num_sms, Watched{std::vector<std::uint32_t>(counters.size()), {}, {}, {}}) {
  slot_kernel_.fill(kNoKernel);
  SC_METHOD(wake);
  sensitive << registers.begun;
  dont_initialize();
  SC_METHOD(arm);
  sensitive << timer_;
  dont_initialize();
  SC_METHOD(tick);
  sensitive << late_;
  dont_initialize();
}

void PartitionUnit::bind_slot(unsigned slot, KernelId kernel) {
  std::ranges::replace(slot_kernel_, kernel.value(), kNoKernel);  // after an eviction a kernel may come back to another slot
  slot_kernel_[slot] = kernel.value();
  top_->wish(slot, kernels_[kernel.value()].descriptor.wish);
}

void PartitionUnit::wake() {
  const std::uint64_t now = clock_.now();
  if (next_cycle_ <= now) {
    late_.notify(sc_core::SC_ZERO_TIME);
  } else {
    timer_.notify(clock_.cycles(next_cycle_ - now));
  }
}

void PartitionUnit::arm() { late_.notify(sc_core::SC_ZERO_TIME); }

void PartitionUnit::tick() {
  const std::uint64_t now = clock_.now();
  if (now < next_cycle_) return wake();
  if (now > next_cycle_) top_->skip(now - next_cycle_);
  next_cycle_ = now + 1;

  end_met_kernels();
  const SluiceTopOut out = top_->outputs();
  in_.axi = registers.pins();
  in_.done_valid = !ended_.empty();
  if (in_.done_valid) {
    in_.done_sm = ended_.front().sm;
    in_.done_slot = ended_.front().slot;
    in_.done_kernel = ended_.front().kernel_slot;
    in_.done_tag = ended_.front().tag;
    ended_.pop_front();
  }
  in_.sms.clear();
  if (out.profile_window && !in_window_) begin_window();
  if (in_window_ && !out.profile_window) sampled_at_ = now;
  in_window_ = out.profile_window;
  if (top_->counts_activity()) gather_activity(in_window_);
  if (out.dispatch_valid) dispatch(out);
  if (out.profile_valid) trace_profile(out);
  top_->clock(in_);
  registers.observe(out.axi);

  if (top_->outputs().irq && !irq_) {
    irq_at_ = now + 1;
    decided_for_ = present_;
    irq_raised.notify(sc_core::SC_ZERO_TIME);
  }
  irq_ = top_->outputs().irq;
  if (!ended_.empty() || registers.busy() || !top_->outputs().idle) timer_.notify(clock_.cycles(1));
}

void PartitionUnit::gather_activity(bool window) {
  in_.sms.resize(sms_.size());
  for (std::size_t m = 0; m < sms_.size(); ++m) {
    const StreamingMultiprocessor::Activity activity = sms_[m]->activity();
    SmActivity& sm = in_.sms[m];
    sm = {0, {}, activity.request};
    for (std::uint32_t s = 0; s < machine_.sm.schedulers; ++s) {
      if (!activity.issued[s]) continue;
      sm.issue_valid = static_cast<std::uint8_t>(sm.issue_valid | (1U << s));
      const auto slot = std::ranges::find(slot_kernel_, activity.issued[s]->value()) - slot_kernel_.begin();
      sm.issue_kernel[s] = static_cast<std::uint8_t>(slot);
      if (window) ++watched_[m].instructions[activity.issued[s]->value()];
    }
    if (!window) continue;
    watched_[m].stall_cycles += activity.memory_stall ? 1 : 0;
    watched_[m].requests += activity.request ? 1 : 0;
  }
}

void PartitionUnit::begin_window() {
  for (Watched& sm : watched_) {
    sm.least = sm.most = sm.resident;
    sm.instructions.assign(counters_.size(), 0);
    sm.stall_cycles = sm.requests = 0;
  }
}

void PartitionUnit::move_resident(std::uint32_t sm, std::uint32_t kernel, int change) {
  Watched& watched = watched_[sm];
  const std::uint32_t now = watched.resident[kernel] += static_cast<std::uint32_t>(change);
  if (!in_window_) return;
  watched.least[kernel] = std::min(watched.least[kernel], now);
  watched.most[kernel] = std::max(watched.most[kernel], now);
}

/// Of the entry at the port. Level j of a kernel with c SMs is sampled on the SM j - 1 mod c of its range
/// (docs/reference/blocks/sluice_top.md).
std::optional<ProfileSample> PartitionUnit::sample(const SluiceTopOut& out) const {
  const auto rank = std::uint32_t{out.profile_kernel}, n = static_cast<std::uint32_t>(present_.size());
  if (rank >= n || n > machine_.num_sms) return std::nullopt;
  const std::uint32_t share = machine_.num_sms / n, more = machine_.num_sms % n;
  const std::uint32_t first = rank * share + std::min(rank, more), count = share + (rank < more ? 1 : 0);
  const std::uint32_t m = first + (out.profile_ctas - 1U) % count, kernel = present_[rank].value();
  const Watched& watched = watched_[m];
  std::uint32_t foreign = 0;
  for (std::uint32_t k = 0; k < watched.most.size(); ++k) foreign += k == kernel ? 0 : watched.most[k];
  return ProfileSample{present_[rank],       SmId(m),          CtaCount(out.profile_ctas),      watched.instructions[kernel],
                       watched.stall_cycles, watched.requests, CtaCount(watched.least[kernel]), CtaCount(watched.most[kernel]),
                       CtaCount(foreign)};
}

void PartitionUnit::dispatch(const SluiceTopOut& out) {
  const std::uint32_t kernel = slot_kernel_[out.dispatch_kernel];
  const KernelId id(kernel);
  if (counters_[kernel].ctas_dispatched == 0) began_[kernel] = clock_.now();
  if (++counters_[kernel].ctas_dispatched == kernels_[kernel].grid) {
    issued_.push_back(id);
    last_cta_dispatched.notify(sc_core::SC_ZERO_TIME);
  }
  if (over_[kernel]) {  // its target was met while the host's STOP was under way
    ended_.push_back({out.dispatch_sm, out.dispatch_slot, out.dispatch_kernel, out.dispatch_tag});
    return;
  }
  settle(clock_.now());
  const SmResources demand = kernels_[kernel].descriptor.demand();
  in_use_total_.threads += demand.threads;
  in_use_total_.registers += demand.registers;
  in_use_total_.shared_memory_bytes += demand.shared_memory_bytes;
  const std::uint32_t cta = static_cast<std::uint32_t>(counters_[kernel].ctas_dispatched - 1);
  resident_[out.dispatch_sm][out.dispatch_slot] = {true, kernel, cta, clock_.now(), out.dispatch_kernel, out.dispatch_tag};
  move_resident(out.dispatch_sm, kernel, 1);
  const double begin = std::max(next_begin_, static_cast<double>(clock_.now()));
  next_begin_ = begin + machine_.cta_interval;
  sms_[out.dispatch_sm]->launch_cta(id, cta, out.dispatch_slot, static_cast<std::uint64_t>(begin));
}

void PartitionUnit::trace_profile(const SluiceTopOut& out) {
  if (out.profile_kernel >= present_.size()) return;  // a kernel has just left
  decided_for_ = present_;
  Profile& profile = profiles_[present_[out.profile_kernel].value()];
  if (out.profile_ctas == 1) profile.clear();
  if (out.profile_ctas == 1 && samples_from_ != sampled_at_) {  // levels of one CTA come behind the first window of a profile
    samples_from_ = sampled_at_;
    samples_.clear();
  }
  if (const auto taken = sample(out)) samples_.push_back(*taken);
  profile.push_back(scaled_ipc(out.profile_scaled, static_cast<std::uint32_t>(machine_.partitioner.profile_cycles)));
}

std::vector<Profile> PartitionUnit::profiles() const {
  std::vector<Profile> all;
  for (const KernelId kernel : present_) all.push_back(profiles_[kernel.value()]);
  return all;
}

void PartitionUnit::end_cta(std::uint32_t sm, std::uint32_t slot) {
  settle(clock_.now());
  ResidentCta& cta = resident_[sm][slot];
  const SmResources demand = kernels_[cta.kernel].descriptor.demand();
  in_use_total_.threads -= demand.threads;
  in_use_total_.registers -= demand.registers;
  in_use_total_.shared_memory_bytes -= demand.shared_memory_bytes;
  if (observer_ != nullptr)
    observer_->cta_ended(SmId(sm), slot, KernelId(cta.kernel), cta.cta, Cycles(cta.begin), Cycles(clock_.now()));
  cta.used = false;
  move_resident(sm, cta.kernel, -1);
  ended_.push_back({static_cast<std::uint8_t>(sm), static_cast<std::uint8_t>(slot), cta.kernel_slot, cta.tag});
}

void PartitionUnit::cta_completed(SmId id, KernelId kernel, std::uint32_t slot) {
  const std::uint32_t k = kernel.value();
  if (++counters_[k].ctas_completed == kernels_[k].grid) grid_completed(kernel);
  if (workers(kernel) != nullptr && workers(kernel)->all_begun()) worker_left(kernel);
  end_cta(id.value(), slot);
  wake();
}

void PartitionUnit::worker_left(KernelId kernel) {
  const std::uint32_t k = kernel.value();
  if (!all_issued_[k]) {
    all_issued_[k] = true;
    issued_.push_back(kernel);
    last_cta_dispatched.notify(sc_core::SC_ZERO_TIME);
  }
  if (counters_[k].ctas_dispatched == counters_[k].ctas_completed) grid_completed(kernel);
}

void PartitionUnit::grid_completed(KernelId kernel) {
  if (machine_.sm.kernel_waits_for_stores && kernels_[kernel.value()].stores != 0) {
    storing_[kernel.value()] = true;
  } else {
    reached_.push_back(kernel);
  }
}

void PartitionUnit::stores_acknowledged(KernelId kernel) {
  if (!storing_[kernel.value()]) return;
  storing_[kernel.value()] = false;
  target_reached(kernel);
}

std::uint64_t PartitionUnit::dispatched(KernelId kernel) const {
  return workers(kernel) != nullptr ? workers(kernel)->begun() : counters_[kernel.value()].ctas_dispatched;
}

std::uint64_t PartitionUnit::completed(KernelId kernel) const {
  return workers(kernel) != nullptr ? workers(kernel)->ended() : counters_[kernel.value()].ctas_completed;
}

void PartitionUnit::target_reached(KernelId kernel) {
  reached_.push_back(kernel);
  wake();
}

void PartitionUnit::end_met_kernels() {
  for (const KernelId kernel : reached_) {
    over_[kernel.value()] = true;
    counters_[kernel.value()].finish_cycle = clock_.now();
    --unfinished_;
    for (std::uint32_t sm = 0; sm < resident_.size(); ++sm) {
      sms_[sm]->kill(kernel);
      for (std::uint32_t slot = 0; slot < resident_[sm].size(); ++slot) {
        if (resident_[sm][slot].used && resident_[sm][slot].kernel == kernel.value()) end_cta(sm, slot);
      }
    }
    met_.push_back(kernel);
    target_met.notify(sc_core::SC_ZERO_TIME);
  }
  reached_.clear();
}

std::vector<KernelId> PartitionUnit::take_met() { return std::exchange(met_, {}); }

void PartitionUnit::settle(std::uint64_t now) {
  thread_cycles += in_use_total_.threads * (now - settled_);
  register_cycles += in_use_total_.registers * (now - settled_);
  shared_byte_cycles += in_use_total_.shared_memory_bytes * (now - settled_);
  settled_ = now;
}

}  // namespace sluice
