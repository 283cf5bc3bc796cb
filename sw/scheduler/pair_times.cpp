// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/pair_times.h"

#include <algorithm>
#include <cmath>

namespace sluice {

TaskTimes pair_times(const MachineConfig& machine, std::vector<FakeJob> jobs, CoRunTable table) {
  return [capacity = machine.sm.capacity, jobs = std::move(jobs), table = std::move(table)](JobId id, const Plan& plan) {
    const FakeJob& job = jobs.at(id.value());
    if (plan.jobs.size() != 2) return job.task_time;
    const std::size_t own = plan.jobs[0].job == id ? 0 : 1;
    const std::string &name = job.kernel.name, &beside = jobs.at(plan.jobs[1 - own].job.value()).kernel.name;
    for (const CoRun& run : table.of(name, beside)) {
      if (run.ctas[0] != plan.jobs[own].share.ctas || run.ctas[1] != plan.jobs[1 - own].share.ctas) continue;
      const double crowd = static_cast<double>(run.ctas[0].value()) / occupancy(job.kernel.demand(), capacity).value();
      const double speed = run.ipc[0] / table.kernels.at(name).ipc;
      return std::max(Time(1), Time(std::llround(static_cast<double>(job.task_time.count()) * crowd / speed)));
    }
    return job.task_time;
  };
}

}  // namespace sluice
