// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/partition_host.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "sw/partition/ceiling.h"
#include "sw/partition/star_hull.h"
#include "sw/scheduler/policy_scheduler.h"
#include "systemc/host/unit_priorities.h"

namespace sluice {

namespace {

constexpr std::uint32_t kEvents =
    regs::kIrqStatusError.put(1) | regs::kIrqStatusKernelDone.put(1) | regs::kIrqStatusDecision.put(1);

}  // namespace

PartitionHost::PartitionHost(const sc_core::sc_module_name& name, const RunSpec& spec, SimClock clock, PartitionUnit& unit)
    : sc_module(name),
      registers("registers"),
      spec_(spec),
      clock_(clock),
      unit_(unit),
      scheduler_(spec.make_scheduler ? spec.make_scheduler() : unit_decides(Mode::LeftOver)()),
      mode_(scheduler_->mode()) {
  std::set<std::int32_t> priorities;
  for (const KernelLaunch& launch : spec.launches) priorities.insert(launch.priority);
  if (spec.machine.partitioner.priority) priorities_ = unit_priorities(priorities);
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
  if (config.monitor_threshold > 0)
    driver.configure_monitor(true, config.monitor_threshold, config.monitor_window, config.monitor_hold);
  if (config.balance.unit) driver.configure_balance(config.balance.keep, config.balance.candidates);
  set_mode(driver, mode_);
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

bool PartitionHost::undecided() const {
  if ((mode_ != Mode::Dynamic && mode_ != Mode::Balance) || present_.size() < 2) return false;
  return decisions_.empty() || !std::ranges::equal(decisions_.back().kernels, present_, {}, {}, &InSlot::kernel);
}

/// With the window that is right for it. A decision on those who were present before ends first: until then the unit refuses.
void PartitionHost::set_mode(SluiceDriver& driver, Mode mode) {
  if (mode_ == Mode::Balance && mode != mode_ && !unit_.decided_for_present()) {
    driver.set_mode(mode);
    if (driver.errors().first == "MODE_IN_DECISION") driver.clear_errors();
  }
  MachineConfig machine = spec_.machine;
  PartitionerConfig& config = machine.partitioner;
  if (mode == Mode::Balance) config.profile_cycles = config.balance.window_cycles;
  driver.configure_sequencer({config.warm_up_cycles, config.profile_cycles, config.algorithm_delay, config.epsilon,
                              config.loss_limit, request_share(machine), config.drain_cycles});
  driver.set_mode(mode);
  mode_ = mode;
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

void PartitionHost::take_time(double microseconds) {
  if (microseconds > 0) wait(sc_core::sc_time(microseconds, sc_core::SC_US));
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
  const Mode wanted = plan_.measure.empty() ? Mode::Static : Mode::Balance;
  if (wanted != mode_) set_mode(driver, wanted);
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

std::uint32_t PartitionHost::unit_weight(KernelId kernel) const {
  constexpr double kOne = 64, kMost = 127;
  double most = 1;
  for (const KernelLaunch& launch : spec_.launches) most = std::max(most, launch.kernel.wish.weight);
  const double unit = std::min(kOne, kMost / most);
  return static_cast<std::uint32_t>(std::max(1L, std::lround(spec_.launches[kernel.value()].kernel.wish.weight * unit)));
}

/// The policy's twin tells all that it measured; the unit's registers have what is kept.
void PartitionHost::record_balance(SluiceDriver& driver, const std::vector<CtaCount>& ctas, Decision& decision) {
  if (decision.reason != DecisionReason::WaterFilling) return;
  if (const BalanceReport* all = unit_.balance()) {
    decision.balance = *all;
  } else {
    using Kept = BalanceUnitReport::Kept;
    const BalanceUnitReport told = driver.balance_report();
    double weights = 0;
    for (const InSlot& p : present_) weights += unit_weight(p.kernel);
    BalanceCandidate& kept = decision.balance.candidates.emplace_back();
    if (told.kept == Kept::Partition) kept.ctas = ctas;
    if (told.measured) kept.score = weights / told.time;
    decision.balance.kept = told.kept == Kept::InOrder ? -1 : 0;
    decision.balance.floors = told.floors || !told.measured;
  }
  if (decision.balance.candidates.empty()) return;
  const std::int32_t kept = decision.balance.kept;
  decision.reason = kept < 0                  ? DecisionReason::NotWorth
                    : decision.balance.floors ? DecisionReason::Measured
                                              : DecisionReason::FloorsMissed;
  if (kept < 0) decision.partition.mode = Mode::LeftOver;
  if (kept >= 0 && decision.balance.candidates[static_cast<std::size_t>(kept)].ctas.empty()) decision.partition.mode = Mode::Fcfs;
}

void PartitionHost::record_decision(SluiceDriver& driver) {
  if (!unit_.decided_for_present()) return;  // a kernel has come or gone since: the unit profiles anew
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
  if (mode_ == Mode::Balance) {
    record_balance(driver, ctas, decision);
    decision.samples.clear();
    decision.profiles.assign(present_.size(), {});
  }
  decisions_.push_back(decision);
  if (mode_ == Mode::Balance) {
    std::vector<JobId> jobs;
    for (const InSlot& p : present_) jobs.emplace_back(p.kernel.value());
    scheduler_->measured(jobs, decision.balance.candidates);
  }
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const JobId job(present_[i].kernel.value());
    jobs_.at(job).profile = star_hull(decision.profiles[i]);  // what the unit decided over
    jobs_.report({EventKind::Profiled, job});
  }
  decide(driver);
}

}  // namespace sluice
