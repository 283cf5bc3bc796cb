// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/fake_run.h"

namespace sluice {

namespace {

const TaskTimes& same_times() {
  static const TaskTimes none;
  return none;
}

void check(const MachineConfig& machine, const FakeJob& job) {
  check_fits(machine, job.kernel);
  if (job.kernel.grid_ctas == 0)
    throw InputError(fmt::format("kernel {}: a grid of 0 CTAs: must be at least 1", job.kernel.name));
  if (job.task_time <= Time(0))
    throw InputError(fmt::format("kernel {}: task time {} ps: must be at least 1", job.kernel.name, job.task_time.count()));
}

}  // namespace

FakeExecutor::FakeExecutor(const MachineConfig& machine, IScheduler& scheduler, const FakeCosts& costs)
    : machine_(machine), costs_(costs), run_(std::make_unique<Run>(machine_, scheduler, costs_, nullptr, same_times(), false)) {}
FakeExecutor::~FakeExecutor() = default;

JobId FakeExecutor::submit(const FakeJob& job) {
  check(machine_, job);
  while (run_->has(next_id_)) ++next_id_;  // after 2^32 launches
  run_->add(next_id_, job);
  run_->begin(next_id_);
  return JobId(next_id_++);
}
void FakeExecutor::lose(JobId job, Time now) { run_->lose(job.value(), now); }
void FakeExecutor::forget(JobId job) { run_->forget(job.value()); }
void FakeExecutor::advance(Time now) { run_->advance(now); }
std::optional<Time> FakeExecutor::next() const { return run_->next(); }
FakeProgress FakeExecutor::progress(JobId job) const { return run_->progress(job.value()); }

FakeResult run_fake(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler, const FakeCosts& costs,
                    ITaskObserver* observer, const TaskTimes& task_times) {
  for (const FakeJob& job : jobs) check(machine, job);
  if (costs.memory && !(costs.memory->bytes_a_second > 0))
    throw InputError(fmt::format("memory: {} bytes a second: must be above 0", costs.memory->bytes_a_second));
  FakeExecutor::Run run(machine, scheduler, costs, observer, task_times, observer == nullptr);
  for (std::uint32_t k = 0; k < jobs.size(); ++k) run.add(k, jobs[k]);
  for (std::uint32_t k = 0; k < jobs.size(); ++k) run.begin(k);
  run.advance(Time::max());
  return run.result(jobs.size());
}

}  // namespace sluice
