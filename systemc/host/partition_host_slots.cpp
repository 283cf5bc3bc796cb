// SPDX-License-Identifier: Apache-2.0
// Which job is in which kernel slot: launches, slices, evictions, and the plan's shares as quotas and masks.
#include <algorithm>
#include <numeric>
#include <utility>

#include "systemc/host/partition_host.h"

namespace sluice {

namespace {

constexpr Share kNothing{CtaCount(0)};

void set_static(SluiceDriver& driver, unsigned slot, const Share& share, std::uint32_t num_sms) {
  const std::uint32_t first = std::min(share.sms.first.value(), num_sms);
  std::vector<unsigned> sms(std::min(share.sms.count, num_sms - first));
  std::iota(sms.begin(), sms.end(), first);
  driver.set_quota(slot, std::min(share.ctas.value(), driver.parameters().max_ctas));
  driver.set_mask(slot, sms);
}

}  // namespace

std::optional<unsigned> PartitionHost::free_slot(const SluiceDriver& driver) const {
  for (unsigned slot = 0; slot < driver.parameters().max_kernels; ++slot) {
    if (((slots_in_use_ >> slot) & 1U) == 0) return slot;
  }
  return std::nullopt;
}

bool PartitionHost::can_take_arrived(const SluiceDriver& driver) const {
  return !arrived_.empty() && (scheduler_->mode() == Mode::Static || free_slot(driver));
}

std::uint64_t PartitionHost::may_begin(KernelId kernel) const {
  const KernelLaunch& launch = spec_.launches[kernel.value()];
  const std::uint64_t grid = launch.once ? launch.kernel.grid_ctas : kNoTaskLimit;
  const auto share = std::ranges::find(plan_.jobs, JobId(kernel.value()), &JobShare::job);
  return scheduler_->mode() == Mode::Static && share != plan_.jobs.end() ? std::min(grid, share->task_limit) : grid;
}

std::uint32_t PartitionHost::ctas_to_launch(KernelId kernel) {
  const KernelLaunch& launch = spec_.launches[kernel.value()];
  const std::uint64_t begun = unit_.dispatched(kernel), all = may_begin(kernel);
  slice_ends_[kernel.value()] = all;
  if (PersistentSource* workers = unit_.workers(kernel))
    return workers->begin_launch(occupancy(launch.kernel.demand(), spec_.machine.sm.capacity).value() * spec_.machine.num_sms);
  return all == kNoTaskLimit ? launch.kernel.grid_ctas : static_cast<std::uint32_t>(all - begun);
}

void PartitionHost::launch(SluiceDriver& driver, const std::vector<InSlot>& together) {
  for (const auto& [kernel, slot] : together) {
    const KernelLaunch& launch = spec_.launches[kernel.value()];
    unit_.bind_slot(slot, kernel);
    take_time(spec_.machine.host.launch_us);
    const std::uint32_t ctas = ctas_to_launch(kernel);
    const bool again = slice_ends_[kernel.value()] == kNoTaskLimit;
    SlotLaunch entry{launch.kernel.demand(), ctas, again, together.size() > 1};
    if (spec_.machine.partitioner.priority) entry.priority = priorities_.at(launch.priority);
    if (spec_.machine.partitioner.balance.unit) entry.wish = {unit_weight(kernel), launch.kernel.wish.floor};
    driver.launch(slot, entry);
    const JobId job(kernel.value());
    if (jobs_.at(job).state == JobState::ToRun) jobs_.move(job, JobState::Running);
  }
  if (together.size() > 1) driver.go();
  tell_present();  // not before: until then the unit may decide without them
}

void PartitionHost::stop(SluiceDriver& driver, InSlot job) {
  std::erase_if(present_, [&](const InSlot& p) { return p.slot == job.slot; });
  leaving_.push_back(job);
  tell_present();
  take_time(spec_.machine.host.evict_us);
  ordered_[job.kernel.value()] = clock_.now();
  if (PersistentSource* workers = unit_.workers(job.kernel)) return workers->evict();
  driver.stop(job.slot);
  // Its CTAs may all have ended meanwhile: the slot was free, and that is no error.
  const bool ended = unit_.over(job.kernel) || unit_.completed(job.kernel) >= slice_ends_[job.kernel.value()];
  if (ended && driver.errors().first == "BAD_KERNEL") driver.clear_errors();
}

void PartitionHost::leave(SluiceDriver& driver, InSlot job) {
  jobs_.move(JobId(job.kernel.value()), JobState::ToEvict);
  stop(driver, job);
}

void PartitionHost::leave_between_slices(KernelId kernel) {
  jobs_.move(JobId(kernel.value()), JobState::ToEvict);
  ordered_[kernel.value()] = clock_.now();
  if (!has_slot(kernel)) evicted(kernel);
}

void PartitionHost::evicted(KernelId kernel) {
  jobs_.move(JobId(kernel.value()), JobState::Ready);
  ++record_.evictions[kernel.value()];
  record_.eviction_cycles[kernel.value()].push_back(clock_.now() - ordered_[kernel.value()]);
}

void PartitionHost::left(std::uint32_t slots) {
  const auto drained = [&](const InSlot& p) { return ((slots >> p.slot) & 1U) != 0; };
  std::erase_if(leaving_, [&](const InSlot& p) {
    if (!drained(p)) return false;
    // Of one that is over take_met() tells; one in another state was stopped at its task limit.
    if (!unit_.over(p.kernel) && jobs_.at(JobId(p.kernel.value())).state == JobState::ToEvict) evicted(p.kernel);
    return true;
  });
  const auto sliced = [&](const InSlot& p) { return drained(p) && !unit_.over(p.kernel); };
  if (std::erase_if(present_, sliced) > 0) tell_present();
}

const Share& PartitionHost::share_of(KernelId kernel) const {
  const auto share = std::ranges::find(plan_.jobs, JobId(kernel.value()), &JobShare::job);
  return share == plan_.jobs.end() || share->share.sms.count == 0 ? kNothing : share->share;
}

bool PartitionHost::has_slot(KernelId kernel) const {
  const auto in = [&](const std::vector<InSlot>& all) { return std::ranges::find(all, kernel, &InSlot::kernel) != all.end(); };
  return in(present_) || in(leaving_);
}

bool PartitionHost::waits_for_slot(const JobView& job) const {
  const KernelId kernel(job.id.value());
  const bool may = job.state == JobState::ToRun || (job.state == JobState::Running && !has_slot(kernel));
  return may && may_begin(kernel) > unit_.dispatched(kernel);
}

void PartitionHost::obey(SluiceDriver& driver) {
  const auto wanted = [this](KernelId kernel) { return share_of(kernel).ctas.value() != 0; };
  for (const InSlot& p : std::vector(present_)) {
    if (!wanted(p.kernel)) {
      leave(driver, p);
    } else if (const std::uint64_t end = slice_ends_[p.kernel.value()];
               may_begin(p.kernel) < end && unit_.dispatched(p.kernel) < end) {
      stop(driver, p);
    }
  }
  std::vector<InSlot> together;
  for (const JobView& job : jobs_.jobs()) {
    const KernelId kernel(job.id.value());
    if (job.state == JobState::ToRun && !wanted(kernel)) jobs_.move(job.id, JobState::Ready);
    if (job.state == JobState::Running && !wanted(kernel) && !unit_.over(kernel)) leave_between_slices(kernel);
    if (job.state == JobState::Ready && wanted(kernel)) jobs_.move(job.id, JobState::ToRun);
    if (!waits_for_slot(job)) continue;
    const std::optional<unsigned> free = free_slot(driver);
    if (!free) continue;  // the next KERNEL_DONE brings one
    slots_in_use_ |= 1U << *free;
    together.push_back({kernel, *free});
  }
  present_.insert(present_.end(), together.begin(), together.end());
  for (const InSlot& p : present_) set_static(driver, p.slot, share_of(p.kernel), spec_.machine.num_sms);
  launch(driver, together);
}

void PartitionHost::tell_present() {
  std::vector<KernelId> kernels;
  for (const InSlot& p : present_) kernels.push_back(p.kernel);
  unit_.set_present(kernels);
}

void PartitionHost::stop_met(SluiceDriver& driver) {
  for (const KernelId kernel : unit_.take_issued()) jobs_.report({EventKind::LastTaskBegun, JobId(kernel.value())});
  for (const KernelId kernel : unit_.take_met()) {
    const auto found = std::ranges::find(present_, kernel, &InSlot::kernel);
    if (found != present_.end()) {  // not on its way out
      const unsigned slot = found->slot;
      present_.erase(found);
      tell_present();
      if (!spec_.launches[kernel.value()].once) driver.stop(slot);  // else it ended by itself
    }
    jobs_.move(JobId(kernel.value()), JobState::Done);
    decide(driver);
  }
}

}  // namespace sluice
