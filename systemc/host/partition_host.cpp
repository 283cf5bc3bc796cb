// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/partition_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sw/partition/ceiling.h"
#include "sw/partition/star_hull.h"
#include "sw/scheduler/policy_scheduler.h"

namespace sluice {

namespace {

constexpr std::uint32_t kEvents =
    regs::kIrqStatusError.put(1) | regs::kIrqStatusKernelDone.put(1) | regs::kIrqStatusDecision.put(1);

constexpr Share kNothing{CtaCount(0)};

void set_static(SluiceDriver& driver, unsigned slot, const Share& share, std::uint32_t num_sms) {
  const std::uint32_t first = std::min(share.sms.first.value(), num_sms);
  std::vector<unsigned> sms(std::min(share.sms.count, num_sms - first));
  std::iota(sms.begin(), sms.end(), first);
  driver.set_quota(slot, std::min(share.ctas.value(), driver.parameters().max_ctas));
  driver.set_mask(slot, sms);
}

}  // namespace

PartitionHost::PartitionHost(const sc_core::sc_module_name& name, const RunSpec& spec, SimClock clock, PartitionUnit& unit)
    : sc_module(name),
      registers("registers"),
      spec_(spec),
      clock_(clock),
      unit_(unit),
      scheduler_(spec.make_scheduler ? spec.make_scheduler() : unit_decides(Mode::LeftOver)()) {
  record_.evictions.resize(spec.launches.size());
  record_.eviction_cycles.resize(spec.launches.size());
  slice_ends_.resize(spec.launches.size());
  ordered_.resize(spec.launches.size());
  SC_THREAD(run);
  SC_THREAD(arrivals);
  SC_THREAD(alarms);
}

void PartitionHost::alarms() {
  for (const HostAction& action : spec_.actions) {
    if (action.at.value() > clock_.now()) wait(clock_.cycles(action.at.value() - clock_.now()));
    alarm_.notify(sc_core::SC_ZERO_TIME);
  }
}

bool PartitionHost::action_due() const {
  return next_action_ < spec_.actions.size() && spec_.actions[next_action_].at.value() <= clock_.now();
}

void PartitionHost::act(SluiceDriver& driver) {
  while (action_due()) spec_.actions[next_action_++].act(driver);
}

void PartitionHost::arrivals() {
  std::vector<std::uint32_t> waiting(spec_.launches.size());
  std::iota(waiting.begin(), waiting.end(), 0U);
  std::ranges::stable_sort(waiting, {}, [this](std::uint32_t k) { return spec_.launches[k].arrival; });
  while (!waiting.empty()) {
    std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
    std::erase_if(waiting, [&](std::uint32_t k) {
      const KernelLaunch& launch = spec_.launches[k];
      std::uint64_t due = launch.arrival.value();
      if (launch.after) {
        const KernelId before(static_cast<std::uint32_t>(*launch.after));
        if (!unit_.over(before)) return false;
        due = std::max(due, unit_.ended(before) + launch.delay.value());
      }
      if (due > clock_.now()) {
        next = std::min(next, due);
        return false;
      }
      arrived_.emplace_back(k);
      arrival_.notify(sc_core::SC_ZERO_TIME);
      return true;
    });
    if (waiting.empty()) break;
    if (next != std::numeric_limits<std::uint64_t>::max()) {
      wait(clock_.cycles(next - clock_.now()), unit_.target_met);
    } else {
      wait(unit_.target_met);
    }
  }
}

void PartitionHost::run() {
  SluiceDriver driver(registers);
  const PartitionerConfig& config = spec_.machine.partitioner;
  driver.configure_machine(spec_.machine.sm.capacity);
  driver.configure_sequencer({config.warm_up_cycles, config.profile_cycles, config.algorithm_delay, config.epsilon,
                              config.loss_limit, request_share(spec_.machine), config.drain_cycles});
  if (config.monitor_threshold > 0)
    driver.configure_monitor(true, config.monitor_threshold, config.monitor_window, config.monitor_hold);
  driver.set_mode(scheduler_->mode());
  driver.enable_interrupts(kEvents);
  for (;;) {
    // Departures first: their slots and SMs may be what an arrival waits for.
    stop_met(driver);
    if (unit_.irq()) handle_interrupt(driver);
    take_arrived(driver);
    if (timer_due()) {
      wake_at_.reset();
      jobs_.report({EventKind::Timer, JobId(0)});
    }
    if (jobs_.has_events()) decide(driver);
    act(driver);
    // Events that came while the driver was at work were not waited for: look before sleeping.
    while (!unit_.any_met() && !unit_.any_issued() && !unit_.irq() && !action_due() && !timer_due() &&
           !can_take_arrived(driver)) {
      if (wake_at_) timer_.notify(sc_core::sc_time(static_cast<double>((*wake_at_ - now()).count()), sc_core::SC_PS));
      wait(unit_.irq_raised | unit_.target_met | unit_.last_cta_dispatched | arrival_ | alarm_ | timer_);
    }
  }
}

std::optional<unsigned> PartitionHost::free_slot(const SluiceDriver& driver) const {
  for (unsigned slot = 0; slot < driver.parameters().max_kernels; ++slot) {
    if (((slots_in_use_ >> slot) & 1U) == 0) return slot;
  }
  return std::nullopt;
}

bool PartitionHost::can_take_arrived(const SluiceDriver& driver) const {
  return !arrived_.empty() && (scheduler_->mode() == Mode::Static || free_slot(driver));
}

void PartitionHost::take_arrived(SluiceDriver& driver) {
  if (arrived_.empty()) return;
  if (scheduler_->mode() == Mode::Static) {
    for (const KernelId kernel : std::exchange(arrived_, {})) arrive(kernel);
    decide(driver);
    return;
  }
  std::vector<InSlot> together;
  while (!arrived_.empty()) {
    const std::optional<unsigned> free = free_slot(driver);
    if (!free) break;  // the next KERNEL_DONE brings one
    together.push_back({arrived_.front(), *free});
    arrived_.erase(arrived_.begin());
    slots_in_use_ |= 1U << *free;
    arrive(together.back().kernel);
    jobs_.move(JobId(together.back().kernel.value()), JobState::ToRun);
  }
  if (together.empty()) return;
  present_.insert(present_.end(), together.begin(), together.end());
  decide(driver);
  launch(driver, together);
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
    tell_present();
    take_time(spec_.machine.host.launch_us);
    const std::uint32_t ctas = ctas_to_launch(kernel);
    const bool again = slice_ends_[kernel.value()] == kNoTaskLimit;
    driver.launch(slot, {launch.kernel.demand(), ctas, again, together.size() > 1});
    const JobId job(kernel.value());
    if (jobs_.at(job).state == JobState::ToRun) jobs_.move(job, JobState::Running);
  }
  if (together.size() > 1) driver.go();
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

void PartitionHost::take_time(double microseconds) {
  if (microseconds > 0) wait(sc_core::sc_time(microseconds, sc_core::SC_US));
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

Time PartitionHost::now() const { return Time(static_cast<std::int64_t>(clock_.now() * clock_.period_ps())); }

bool PartitionHost::timer_due() const { return wake_at_ && *wake_at_ <= now(); }

void PartitionHost::arrive(KernelId kernel) {
  const KernelLaunch& launch = spec_.launches[kernel.value()];
  JobView job;
  job.id = JobId(kernel.value());
  job.kernel = launch.kernel;
  job.arrived = now();
  job.priority = launch.priority;
  job.tasks = launch.once ? launch.kernel.grid_ctas : 0;
  jobs_.arrive(std::move(job));
  jobs_.move(JobId(kernel.value()), JobState::Ready);
}

void PartitionHost::decide(SluiceDriver& driver) {
  for (const JobView& job : jobs_.jobs()) {
    JobView& seen = jobs_.at(job.id);
    seen.tasks_begun = unit_.dispatched(KernelId(job.id.value()));
    seen.tasks_done = unit_.completed(KernelId(job.id.value()));
  }
  take_time(spec_.machine.host.decide_us);
  ++record_.decisions;
  const std::vector<Event> events = jobs_.take_events();
  const Plan before = std::exchange(plan_, scheduler_->decide(jobs_.jobs(), events, now()));
  wake_at_ = plan_.wake_at;
  if (scheduler_->mode() != Mode::Static) return;  // the unit shares the SMs itself
  // Where no job comes, leaves or ends, a plan that is in force is not written again.
  const bool same_jobs = std::ranges::all_of(events, [](const Event& e) { return e.kind == EventKind::LastTaskBegun; });
  if (!same_jobs || plan_.jobs != before.jobs) obey(driver);
}

void PartitionHost::handle_interrupt(SluiceDriver& driver) {
  const std::uint32_t events = driver.take_interrupts();
  driver.require_no_error();
  if (regs::kIrqStatusKernelDone.get(events) != 0) {
    const std::uint32_t finished = driver.take_finished();
    slots_in_use_ &= ~finished;
    left(finished);
    const auto waits = [this](const JobView& job) { return waits_for_slot(job); };
    if (scheduler_->mode() == Mode::Static && std::ranges::any_of(jobs_.jobs(), waits)) obey(driver);
  }
  if (regs::kIrqStatusDecision.get(events) != 0) record_decision(driver);
}

void PartitionHost::record_decision(SluiceDriver& driver) {
  Decision decision;
  decision.sampled_at = Cycles(unit_.sampled_at());
  decision.decided_at = Cycles(unit_.irq_at());
  const DecisionReport decided = driver.last_decision();
  std::vector<CtaCount> ctas;
  const bool spatial = decided.spatial || decided.no_fit || decided.no_profile;
  for (const InSlot& p : present_) {
    decision.kernels.push_back(p.kernel);
    const SmResources demand = spec_.launches[p.kernel.value()].kernel.demand();
    ctas.push_back(spatial ? occupancy(demand, spec_.machine.sm.capacity) : CtaCount(decided.ctas[p.slot]));
  }
  decision.partition = spatial ? on_own_sms(ctas, spec_.machine.num_sms) : on_every_sm(ctas);
  decision.reason = decided.no_fit       ? DecisionReason::NoFit
                    : decided.no_profile ? DecisionReason::NoProfile
                    : decided.spatial    ? DecisionReason::LossGuard
                                         : DecisionReason::WaterFilling;
  decision.samples = unit_.samples();
  decision.profiles = unit_.profiles();
  decision.profiles.resize(present_.size());
  decisions_.push_back(decision);
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const JobId job(present_[i].kernel.value());
    jobs_.at(job).profile = star_hull(decision.profiles[i]);  // what the unit decided over
    jobs_.report({EventKind::Profiled, job});
  }
  decide(driver);
}

}  // namespace sluice
