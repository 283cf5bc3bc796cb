// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <string>

#include "sw/core/errors.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/service/i_executor.h"

namespace sluice::service {

/// Nothing runs anywhere: each task takes the time that its launch says.
class FakeExecution : public IExecutor {
 public:
  FakeExecution(const MachineConfig& machine, IScheduler& scheduler, const FakeCosts& costs)
      : inner_(machine, scheduler, costs) {}
  [[nodiscard]] JobId submit(const ClientLaunch& launch, Time now) override {
    if (launch.tasks == 0 || launch.tasks > std::numeric_limits<std::uint32_t>::max())
      throw InputError("tasks = " + std::to_string(launch.tasks) + ": must be 1..4294967295");
    if (launch.task_time <= Time(0) || launch.task_time > std::chrono::nanoseconds(kMaxTaskNs))
      throw InputError("task_ns: must be 1.." + std::to_string(kMaxTaskNs));
    FakeJob job;
    job.kernel = launch.kernel;
    job.kernel.grid_ctas = static_cast<std::uint32_t>(launch.tasks);
    job.task_time = launch.task_time;
    job.arrival = now;
    job.priority = launch.priority;
    return inner_.submit(job);
  }
  [[nodiscard]] JobId change_kernel(JobId, const KernelDescriptor&, Time) override {
    throw InputError("a launch keeps its kernel on the executor fake");
  }
  void report(JobId, const Report&, Time) override { throw InputError("the executor fake knows what its launches do"); }
  void lose(JobId job, Time now) override { inner_.lose(job, now); }
  void forget(JobId job) override { inner_.forget(job); }
  void advance(Time now) override { inner_.advance(now); }
  [[nodiscard]] std::optional<Time> next() const override { return inner_.next(); }
  [[nodiscard]] Progress progress(JobId job, Time) const override {
    const FakeProgress p = inner_.progress(job);
    return {p.state, p.share, p.granted, p.tasks_begun, p.outcome.tasks_done, p.outcome.evictions, p.outcome.held};
  }

 private:
  FakeExecutor inner_;
};

}  // namespace sluice::service
