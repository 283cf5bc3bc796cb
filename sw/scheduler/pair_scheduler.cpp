// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/pair_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sw/core/errors.h"

namespace sluice {

namespace {

/// The slice that runs, and the next one.
constexpr std::uint64_t kSlicesAhead = 2;

std::uint64_t left(const JobView& job) { return job.tasks == 0 ? kNoTaskLimit : job.tasks - job.tasks_begun; }

std::uint64_t limit(const JobView& job, std::uint64_t slice) {
  return slice == kNoTaskLimit ? kNoTaskLimit : job.tasks_begun + kSlicesAhead * slice;
}

}  // namespace

PairScheduler::PairScheduler(const MachineConfig& machine, CoRunTable table, std::span<const KernelDescriptor> mix,
                             Time min_slice)
    : table_(std::move(table)), cycle_ps_(machine.core_mhz > 0 ? 1e6 / machine.core_mhz : 1) {
  check_complete(table_, mix, machine);
  if (min_slice <= Time(0)) throw InputError("Kernelet: the shortest slice: must be above 0");
  rules_.capacity = machine.sm.capacity;
  rules_.sms = machine.num_sms;
  rules_.slice_cycles = static_cast<double>(min_slice.count()) / cycle_ps_;
}

Plan PairScheduler::decide(std::span<const JobView> jobs, std::span<const Event>, Time now) {
  std::vector<const JobView*> ready;
  std::vector<JobId> ids;
  for (const JobView& job : jobs)
    if (may_hold_sms(job.state) && left(job) > 0) {
      ready.push_back(&job);
      ids.push_back(job.id);
    }
  const bool seat_free =
      std::ranges::any_of(seats_, [&](const Seat& seat) { return std::ranges::find(ids, seat.job) == ids.end(); });
  const bool over = seats_.empty() || seat_free || now >= slice_end_;
  if (over) {
    if (seat_free || ids != known_) {
      take_seats(ready);
      known_ = ids;
    }
    slice_end_ = now + slice_;
    plan_ = {};
    for (const Seat& seat : seats_)
      plan_.jobs.push_back({seat.job, seat.share, limit(**std::ranges::find(ready, seat.job, &JobView::id), seat.slice)});
    if (!seats_.empty()) plan_.wake_at = slice_end_;
    if (seats_.size() == 2)
      plan_.reason = fmt::format("a slice of job {} beside one of job {}", seats_[0].job.value(), seats_[1].job.value());
    else if (!seats_.empty())
      plan_.reason = fmt::format("job {} alone: no pair gains", seats_[0].job.value());
  }
  return plan_;
}

void PairScheduler::take_seats(const std::vector<const JobView*>& ready) {
  seats_.clear();
  if (ready.empty()) return;
  std::vector<CandidateKernel> kernels;
  std::vector<const JobView*> oldest;
  std::map<std::string, unsigned> waiting;
  for (const JobView* job : ready) {
    if (waiting[job->kernel.name]++ > 0 || !table_.kernels.contains(job->kernel.name)) continue;
    kernels.push_back({job->kernel.name, job->kernel.demand()});
    oldest.push_back(job);
  }
  if (const std::optional<CoSchedule> pair = kernels.size() < 2 ? std::nullopt : choose(kernels)) {
    for (std::size_t i = 0; i < 2; ++i) seats_.push_back({oldest[pair->kernels[i]]->id, {pair->ctas[i]}, pair->slices[i]});
    slice_ = Time(std::llround(pair->cycles * cycle_ps_));
    return;
  }
  // Alone: the kernel of which most wait; the oldest of equals.
  const JobView& job = **std::ranges::max_element(ready, {}, [&](const JobView* view) { return waiting[view->kernel.name]; });
  std::uint64_t tasks = kNoTaskLimit;
  double cycles = rules_.slice_cycles;
  if (const auto known = table_.kernels.find(job.kernel.name); known != table_.kernels.end()) {
    const double rate = known->second.ipc * rules_.sms / known->second.instructions_per_block;
    cycles = std::max(cycles, occupancy(job.kernel.demand(), rules_.capacity).value() * rules_.sms / rate);
    tasks = static_cast<std::uint64_t>(std::max(1LL, std::llround(cycles * rate)));
  }
  seats_.push_back({job.id, kWholeMachine, tasks});
  slice_ = Time(std::llround(cycles * cycle_ps_));
}

}  // namespace sluice
