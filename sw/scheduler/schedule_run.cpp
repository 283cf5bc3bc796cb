// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/schedule_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/pair_times.h"
#include "sw/scheduler/registry.h"

namespace sluice {

namespace {

Turnaround turnaround(const LaunchOutcome& launch) {
  return {static_cast<double>(launch.alone.count()), static_cast<double>(launch.turnaround.count())};
}

Time alone(const Scenario& scenario, const ScenarioJob& job) {
  if (!job.alone) throw InputError(fmt::format("{}: job {}: alone_ms is missing", scenario.file, job.name));
  return *job.alone;
}

void check_memory(const Scenario& scenario, const ScenarioJob& job, const MemoryDemand& demand) {
  try {
    check_fits(scenario.costs.memory->bytes, demand);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: job {}: {}", scenario.file, job.name, error.what()));
  }
}

}  // namespace

double ScheduleRun::antt() const {
  std::vector<Turnaround> all;
  for (const LaunchOutcome& launch : jobs) all.push_back(turnaround(launch));
  return sluice::antt(all);
}

double ScheduleRun::stp() const {
  std::map<std::string_view, std::pair<double, std::uint32_t>> by_job;  // sum of speed-ups, launches
  for (const LaunchOutcome& launch : jobs) {
    auto& [sum, count] = by_job[launch.name];
    sum += speedup(turnaround(launch));
    ++count;
  }
  double total = 0;
  for (const auto& [name, speedups] : by_job) total += speedups.first / speedups.second;
  return total;
}

std::uint64_t ScheduleRun::evictions() const {
  std::uint64_t all = 0;
  for (const LaunchOutcome& launch : jobs) all += launch.evictions;
  return all;
}

ScheduleTarget abstract_target(const Scenario& scenario) {
  if (!scenario.task) throw InputError(fmt::format("{}: task_us is missing: needed where no --workload is given", scenario.file));
  ScheduleTarget target;
  target.machine.name = "abstract";
  target.machine.num_sms = 1;
  target.machine.sm.capacity = {kWarpSize, 0, 0, 1};
  for (const ScenarioJob& job : scenario.jobs) {
    const double tasks = std::max(1.0, std::round(std::chrono::duration<double>(alone(scenario, job)) / *scenario.task));
    if (tasks > std::numeric_limits<std::uint32_t>::max())
      throw InputError(fmt::format("{}: job {}: {:.3g} tasks of task_us: at most 2^32 - 1", scenario.file, job.name, tasks));
    KernelDescriptor& kernel = target.kernels.emplace_back();
    kernel.name = job.name;
    kernel.grid_ctas = static_cast<std::uint32_t>(tasks);
  }
  return target;
}

ScheduleTarget target_of(const Scenario& scenario, const MachineConfig& machine, const Workload& workload) {
  ScheduleTarget target{machine, {}};
  for (const ScenarioJob& job : scenario.jobs) {
    const auto found = std::ranges::find(workload.kernels, job.kernel, &KernelDescriptor::name);
    if (found == workload.kernels.end())
      throw InputError(
          fmt::format("{}: job {}: kernel {}: not in workload {}", scenario.file, job.name, job.kernel, workload.name));
    target.kernels.push_back(*found);
  }
  return target;
}

void scale_time(ScheduleTarget& target, double scale) {
  target.machine.core_mhz *= scale;
  target.machine.dram.clock_mhz *= scale;
  const auto shorten = [scale](KernelBehaviour& behaviour) {
    behaviour.warp_instructions =
        std::max(1U, static_cast<std::uint32_t>(std::lround(scale * static_cast<double>(behaviour.warp_instructions))));
  };
  for (KernelDescriptor& kernel : target.kernels) {
    shorten(kernel.behaviour);
    if (kernel.phase) shorten(kernel.phase->behaviour);
  }
}

ScheduleRun schedule_on_fake(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                             std::optional<Time> wait, const FakeSettings& settings) {
  SchedulerInput input{target.machine, {}};
  std::vector<FakeJob> jobs;
  std::vector<Time> alone_times;
  const std::vector<ScenarioLaunch> all = launches(scenario, wait.value_or(Time(0)));
  double total = 0;  // picoseconds
  for (const ScenarioLaunch& launch : all) {
    FakeJob job;
    job.kernel = target.kernels.at(launch.job);
    check_fits(target.machine, job.kernel);
    const std::uint32_t wave = occupancy(job.kernel.demand(), target.machine.sm.capacity).value() * target.machine.num_sms;
    const std::int64_t waves = (job.kernel.grid_ctas + wave - 1) / wave;
    job.task_time = (alone(scenario, scenario.jobs[launch.job]) + Time(waves / 2)) / waves;
    job.arrival = launch.arrival;
    job.priority = launch.priority;
    job.after = launch.after;
    job.memory = memory_demand(scenario.jobs[launch.job], job.kernel.type);
    if (scenario.costs.memory) check_memory(scenario, scenario.jobs[launch.job], job.memory);
    alone_times.push_back(waves * job.task_time);
    total += static_cast<double>((alone_times.back() + job.arrival + scenario.costs.copy).count());
    input.mix.push_back(job.kernel);
    input.times[job.kernel.name] = fake_solo_times(target.machine, job.kernel, job.task_time);
    jobs.push_back(std::move(job));
  }
  constexpr double kMostTime = 2e18;  // leaves room in 63 bits for the cost of evictions
  if (total > kMostTime) throw InputError(fmt::format("{}: takes more than {:g} ms in all", scenario.file, kMostTime / 1e9));
  input.predicted = settings.co_runs.predicted;
  input.executed = settings.co_runs.executed;
  input.seed = settings.seed;
  input.min_slice = settings.min_slice;
  input.ntt = {settings.max_ntt, 1e9};  // times are in milliseconds
  check_rates(scheduler, input);
  std::unique_ptr<IScheduler> made = make_scheduler(scheduler, input);
  const auto* kernelet = dynamic_cast<const KerneletScheduler*>(made.get());
  LoggedScheduler decides(std::move(made), settings.decisions);
  const TaskTimes times =
      settings.co_runs.executed.pairs.empty() ? TaskTimes{} : pair_times(target.machine, jobs, input.executed);
  const FakeResult result = run_fake(target.machine, jobs, decides, scenario.costs, settings.observer, times);
  ScheduleRun run{std::string(scheduler), "fake", "hardware", wait, {}, result.end, result.decisions};
  if (scenario.costs.memory) run.copies = result.copies;
  if (kernelet != nullptr) run.pruning = kernelet->pruning();
  Time first = Time::max();
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const FakeOutcome& o = result.jobs[k];
    const std::string& name = scenario.jobs[all[k].job].name;
    if (!o.done)
      throw CheckFailed(fmt::format("scheduler {}: job {} ends with {} of {} tasks done", scheduler, name, o.tasks_done,
                                    jobs[k].kernel.grid_ctas));
    run.jobs.push_back({name, jobs[k].priority, o.arrived, alone_times[k], o.ended - o.arrived, o.evictions, o.began});
    first = std::min(first, o.arrived);
  }
  run.makespan -= first;
  return run;
}

}  // namespace sluice
