// SPDX-License-Identifier: Apache-2.0
#include "sw/service/measuring_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sw/core/errors.h"

namespace sluice::service {

namespace {

MachineConfig always_shares(MachineConfig machine) {
  machine.partitioner.balance.keep = 0;
  return machine;
}

const JobView& job_of(std::span<const JobView> jobs, JobId id) { return *std::ranges::find(jobs, id, &JobView::id); }

}  // namespace

MeasuringScheduler::MeasuringScheduler(MachineConfig machine, std::shared_ptr<KernelTimes> times)
    : machine_(always_shares(std::move(machine))), times_(std::move(times)), balance_(machine_) {}

Plan MeasuringScheduler::decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) {
  Plan plan = balance_.decide(jobs, events, now);
  if (!plan.measure.empty()) plan = in_turns(plan, jobs, now);
  note(plan, jobs, now);
  return plan;
}

/// The first of the partitions, and of the kernels alone, that was not timed yet. What all are worth when there is none.
Plan MeasuringScheduler::in_turns(const Plan& wanted, std::span<const JobView> jobs, Time now) {
  Names names;
  std::vector<JobId> ids;
  for (const JobShare& share : wanted.jobs) {
    names.push_back(job_of(jobs, share.job).kernel.name);
    ids.push_back(share.job);
  }
  std::vector<Held> turns;
  for (const std::vector<CtaCount>& ctas : wanted.measure) {
    Held& held = turns.emplace_back();
    for (std::size_t k = 0; k < ctas.size(); ++k) held.emplace_back(names[k], ctas[k]);
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    turns.push_back({{names[k], occupancy(job_of(jobs, ids[k]).kernel.demand(), machine_.sm.capacity)}});
  Names mix = names;
  std::ranges::sort(mix);
  if (mix != mix_) {
    mix_ = std::move(mix);
    mix_since_ = now;
    turn_.clear();
    for (const Held& held : turns) times_->forget(held, now - kFresh);
  }
  const auto untimed = std::ranges::find_if(turns, [&](const Held& held) { return !times_->together(held); });
  if (untimed != turns.end()) return turn(wanted, *untimed, static_cast<std::size_t>(untimed - turns.begin()), turns.size(), now);

  std::vector<double> alone;
  for (std::size_t k = 0; k < names.size(); ++k) alone.push_back(times_->together(turns[wanted.measure.size() + k])->front());
  std::vector<BalanceCandidate> found;
  for (std::size_t c = 0; c < wanted.measure.size(); ++c) {
    BalanceCandidate& candidate = found.emplace_back(BalanceCandidate{wanted.measure[c], {}});
    const std::vector<double> ns = *times_->together(turns[c]);
    for (std::size_t k = 0; k < ns.size(); ++k) candidate.rates.push_back(alone[k] / ns[k]);
  }
  mix_.clear();
  balance_.measured(ids, found);
  return balance_.decide(jobs, {}, now);
}

Plan MeasuringScheduler::turn(const Plan& wanted, const Held& held, std::size_t number, std::size_t of, Time now) {
  Plan plan{wanted.jobs, now + kLooks, false, wanted.reason, {}};
  const auto silent = silent_.find(mix_);
  if (silent != silent_.end() && now < silent->second + kTriesAgain) {
    plan.wake_at = silent->second + kTriesAgain;
    plan.reason = "nothing was heard of some of the kernels: not measured now";
    return plan;
  }
  if (now < mix_since_ + kStays) return plan;
  if (held != turn_) {
    turn_ = held;
    turn_since_ = now;
  }
  if (now >= turn_since_ + kTurn) {
    if (silent_.size() >= KernelTimes::kMostKernels) silent_.clear();
    silent_[mix_] = now;
    turn_.clear();
    return turn(wanted, held, number, of, now);
  }
  std::vector<JobShare> jobs;
  const std::size_t first = number < wanted.measure.size() ? 0 : number - wanted.measure.size();
  for (std::size_t k = 0; k < held.size(); ++k) jobs.push_back({wanted.jobs[first + k].job, {held[k].second}});
  std::string who;
  for (const auto& [kernel, ctas] : held) who += fmt::format("{}{} {}", who.empty() ? "" : ", ", kernel, ctas.value());
  plan.jobs = std::move(jobs);
  plan.reason = fmt::format("turn {} of {}, to be timed: {}", number + 1, of, who);
  return plan;
}

void MeasuringScheduler::note(const Plan& plan, std::span<const JobView> jobs, Time now) {
  Held held;
  for (const JobShare& share : plan.jobs) {
    const KernelDescriptor& kernel = job_of(jobs, share.job).kernel;
    const bool everywhere = share.share.sms.first.value() == 0 && share.share.sms.count >= machine_.num_sms;
    if (!everywhere) return times_->holds({}, now);
    held.emplace_back(kernel.name, std::min(share.share.ctas, occupancy(kernel.demand(), machine_.sm.capacity)));
  }
  times_->holds(std::move(held), now);
}

}  // namespace sluice::service
