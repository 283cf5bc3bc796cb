// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/balance_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sw/partition/balance.h"
#include "sw/partition/remaining_time.h"

namespace sluice {

namespace {

std::string counts_text(const std::vector<const JobView*>& jobs, const std::vector<CtaCount>& ctas) {
  std::string text;
  for (std::size_t k = 0; k < jobs.size(); ++k)
    text += fmt::format("{}{} {}", k == 0 ? "" : ", ", jobs[k]->kernel.name, ctas[k].value());
  return text;
}

Plan alone(const JobView& job, std::string reason) { return {{{job.id, kWholeMachine}}, {}, false, std::move(reason)}; }

}  // namespace

Plan BalanceScheduler::decide(std::span<const JobView> jobs, std::span<const Event>, Time) {
  const std::vector<const JobView*> chosen = group(jobs);
  std::vector<JobId> ids;
  std::vector<std::pair<std::string, JobId>> by_name;
  std::vector<std::string> names;
  for (const JobView* job : chosen) {
    ids.push_back(job->id);
    by_name.emplace_back(job->kernel.name, job->id);
  }
  std::ranges::sort(by_name);
  for (const auto& [name, id] : by_name) names.push_back(name);
  const auto known = known_.find(names);
  const bool waits = asked_ == by_name && !asked_.empty();  // for rates
  if (ids == sharing_ && (waits || plan_.measure.empty())) return plan_;
  sharing_ = ids;
  asked_.clear();
  if (chosen.size() < 2) return plan_ = chosen.empty() ? Plan() : alone(*chosen.front(), "");
  if (known == known_.end()) {
    plan_ = measure(chosen);
    if (!plan_.measure.empty()) asked_ = by_name;
    return plan_;
  }
  std::vector<const JobView*> sorted;
  for (const auto& [name, id] : by_name) sorted.push_back(*std::ranges::find(chosen, id, &JobView::id));
  plan_ = share(sorted, known->second);
  if (plan_.jobs.empty()) plan_ = alone(*chosen.front(), fmt::format("{} first: {}", chosen.front()->kernel.name, plan_.reason));
  if (++known->second.decisions == kMeasureAgain) known_.erase(known);
  return plan_;
}

void BalanceScheduler::measured(std::span<const JobId> jobs, std::span<const BalanceCandidate> found) {
  std::vector<std::size_t> place;  // in `jobs`, of each kernel by name
  for (const auto& [name, id] : asked_) {
    place.push_back(static_cast<std::size_t>(std::ranges::find(jobs, id) - jobs.begin()));
    if (place.back() == jobs.size()) return;  // the mix has changed since
  }
  if (place.empty() || place.size() != jobs.size()) return;
  Known known;
  for (const BalanceCandidate& c : found) {
    if (c.ctas.empty()) continue;  // no quotas to set
    // The second look knows better what the first has seen as well.
    const auto& ctas = known.ctas.emplace_back();
    auto& rates = known.rates.emplace_back();
    for (const std::size_t p : place) {
      known.ctas.back().push_back(c.ctas[p]);
      rates.push_back(c.rates[p]);
    }
    const auto first = std::ranges::find(known.ctas, ctas) - known.ctas.begin();
    if (first + 1 == std::ssize(known.ctas)) continue;
    known.ctas.erase(known.ctas.begin() + first);
    known.rates.erase(known.rates.begin() + first);
  }
  std::vector<std::string> names;
  for (const auto& [name, id] : asked_) names.push_back(name);
  known_[names] = known;
  asked_.clear();
  sharing_.clear();
}

/// The most important jobs with tasks to begin, then the oldest, of which one CTA each fits an SM together. A third one only if
/// it is as important as the second: each that joins slows down those that are there.
std::vector<const JobView*> BalanceScheduler::group(std::span<const JobView> jobs) const {
  std::vector<const JobView*> open, chosen;
  for (const JobView& job : jobs)
    if (may_hold_sms(job.state) && (job.tasks == 0 || job.tasks_begun < job.tasks)) open.push_back(&job);
  std::ranges::stable_sort(open, std::greater(), &JobView::priority);
  SmResources left = machine_.sm.capacity;
  for (const JobView* job : open) {
    if (chosen.size() == slots_ || !fits(job->kernel.demand(), left)) continue;
    if (chosen.size() >= 2 && job->priority < chosen[1]->priority) break;
    left = take(left, job->kernel.demand());
    chosen.push_back(job);
  }
  return chosen;
}

/// While nothing is known they share by the partition in the middle.
Plan BalanceScheduler::measure(const std::vector<const JobView*>& group) const {
  std::vector<SmResources> demand;
  for (const JobView* job : group) demand.push_back(job->kernel.demand());
  const std::size_t room = machine_.num_sms - std::min<std::size_t>(machine_.num_sms, group.size());
  Plan plan;
  if (room != 0) plan.measure = balance_candidates(demand, machine_.sm.capacity, machine_.partitioner.balance.candidates, room);
  if (plan.measure.empty()) return alone(*group.front(), "no SM is left to measure partitions on");
  const std::vector<CtaCount>& middle = plan.measure[plan.measure.size() / 2];
  for (std::size_t k = 0; k < group.size(); ++k) plan.jobs.push_back({group[k]->id, {middle[k]}});
  plan.reason =
      fmt::format("{} partitions are measured side by side; until then {}", plan.measure.size(), counts_text(group, middle));
  return plan;
}

BalanceWish BalanceScheduler::wish(const JobView& job) const {
  const auto times = times_.find(job.kernel.name);
  const double whole = times == times_.end() || times->second.empty() ? 1 : times->second.back();
  return {job.kernel.wish.weight * whole * share_left(job.tasks, job.tasks_begun), job.kernel.wish.floor};
}

/// Empty but for the reason: none is worth it.
Plan BalanceScheduler::share(const std::vector<const JobView*>& by_name, const Known& known) const {
  std::vector<BalanceWish> wishes;
  for (const JobView* job : by_name) wishes.push_back(wish(*job));
  const std::optional<std::size_t> choice = balance_choice(known.rates, wishes, machine_.partitioner.balance.keep);
  Plan plan;
  if (!choice) {
    double best = 0;
    for (const auto& rates : known.rates) best = std::max(best, balance_score(rates, wishes));
    plan.reason = fmt::format("the best partition is {:.2f} times as fast as in order, less than {:.2f}", best,
                              machine_.partitioner.balance.keep);
    return plan;
  }
  for (std::size_t k = 0; k < by_name.size(); ++k) plan.jobs.push_back({by_name[k]->id, {known.ctas[*choice][k]}});
  std::ranges::sort(plan.jobs, {}, &JobShare::job);
  std::string rates;
  for (const double rate : known.rates[*choice]) rates += fmt::format("{}{:.2f}", rates.empty() ? "" : ", ", rate);
  const double shortfall = balance_shortfall(known.rates[*choice], wishes);
  plan.reason =
      fmt::format("{}: {:.2f} times as fast as in order, rates {}{}", counts_text(by_name, known.ctas[*choice]),
                  balance_score(known.rates[*choice], wishes), rates,
                  shortfall > 0 ? fmt::format("; no partition keeps every floor, this misses one by {:.2f}", shortfall) : "");
  return plan;
}

}  // namespace sluice
