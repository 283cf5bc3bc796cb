// SPDX-License-Identifier: Apache-2.0
#include "study/schedule_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "study/run_cache.h"
#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/one_at_a_time.h"
#include "sw/scheduler/registry.h"
#include "systemc/model_device.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

namespace {

constexpr std::uint32_t kSlots = 4;  // as Verilated
/// A run longer than so many times its jobs one after the other will not end.
constexpr std::uint64_t kPatience = 20;

RunSpec empty_spec(const ScheduleTarget& target, PartitionerKind partitioner, std::uint64_t seed) {
  RunSpec spec;
  spec.machine = target.machine;
  spec.partitioner = partitioner;
  spec.kernel_slots = kSlots;
  spec.seed = seed;
  return spec;
}

KernelLaunch once(const KernelDescriptor& kernel) {
  KernelLaunch launch{kernel, 0, Cycles(0)};
  launch.once = true;
  return launch;
}

double microseconds(Time time) { return std::chrono::duration<double, std::micro>(time).count(); }

/// Picoseconds of the model's clock.
std::int64_t period(const MachineConfig& machine) { return static_cast<std::int64_t>(SimClock(machine.core_mhz).period_ps()); }

std::string flavour(const std::optional<SoftwarePreemption>& software) {
  return software ? fmt::format("software-{}", to_string(software->polling)) : "hardware";
}

}  // namespace

std::vector<RunResult> ScheduleOnModel::run_specs(const std::vector<Named>& runs) const {
  std::vector<RunResult> results(runs.size());
  if (!setting_.keep.empty()) {
    std::vector<NamedRun> named;
    for (const Named& run : runs)
      named.push_back({run.name, fmt::format("{} {} seed {}", setting_.fingerprint, run.name, setting_.seed), run.spec});
    return run_all(named, setting_.keep, setting_.jobs, "schedules");
  }
  std::vector<RunSpec> specs;
  for (const Named& run : runs) specs.push_back(run.spec);
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, setting_.jobs);
  if (!pool.run(specs, [&](std::size_t i, const RunResult& r, const HostCost&) { results[i] = r; }))
    throw Interrupted("interrupted");
  return results;
}

void ScheduleOnModel::measure_alone(const ScheduleTarget& target) {
  std::vector<Named> runs;
  for (const KernelDescriptor& kernel : target.kernels) {
    check_fits(target.machine, kernel);
    const std::string name = "alone-" + kernel.name;
    if (alone_.contains(kernel.name) || std::ranges::find(runs, name, &Named::name) != runs.end()) continue;
    runs.push_back({name, empty_spec(target, PartitionerKind::Twin, setting_.seed)});
    RunSpec& spec = runs.back().spec;
    spec.launches.push_back(once(kernel));
    spec.make_scheduler = [machine = target.machine, kernel] { return make_scheduler("arrival", {machine, {kernel}}); };
  }
  const std::vector<RunResult> results = run_specs(runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    alone_[runs[i].spec.launches.front().kernel.name] = results[i].kernels.front().finish_cycle;
}

RunSpec ScheduleOnModel::spec_of(const ScheduleTarget& target, const ScheduleRequest& request) const {
  const Scenario& scenario = request.scenario;
  if (scenario.costs.copy > Time(0) || scenario.costs.profile > Time(0))
    throw InputError(fmt::format("{}: costs: executor model has launch_us and evict_us", scenario.file));
  const std::int64_t ps = period(target.machine);
  const auto cycles = [ps](Time time) { return static_cast<std::uint64_t>((time.count() + ps / 2) / ps); };
  RunSpec spec = empty_spec(target, setting_.partitioner, setting_.seed);
  spec.software = setting_.software;
  spec.machine.host.launch_us += microseconds(scenario.costs.launch);
  spec.machine.host.evict_us += microseconds(scenario.costs.evict);
  SchedulerInput input{target.machine, {}};
  std::uint64_t serial = 0;
  for (const ScenarioLaunch& launch : launches(scenario, request.wait.value_or(Time(0)))) {
    KernelLaunch& entry = spec.launches.emplace_back(once(target.kernels.at(launch.job)));
    entry.priority = launch.priority;
    entry.after = launch.after;
    (launch.after ? entry.delay : entry.arrival) = Cycles(cycles(launch.arrival));
    serial += cycles(launch.arrival) + alone_.at(entry.kernel.name);
    input.mix.push_back(entry.kernel);
  }
  spec.window = Cycles(kPatience * serial);
  spec.make_scheduler = [name = request.scheduler, input] { return make_scheduler(name, input); };
  const std::unique_ptr<IScheduler> scheduler = spec.make_scheduler();  // what it refuses, it refuses here
  if (spec.software && dynamic_cast<const OneAtATime*>(scheduler.get()) == nullptr)
    throw InputError(
        fmt::format("--flavour software: scheduler {}: must give the GPU to one job at a time: arrival, rr, prio_np, piv, dprr",
                    request.scheduler));
  return spec;
}

ScheduleRun ScheduleOnModel::outcome(const ScheduleRequest& request, const RunSpec& spec, const RunResult& result) const {
  const std::int64_t ps = period(spec.machine);
  const auto time = [ps](std::uint64_t n) { return Time(static_cast<std::int64_t>(n) * ps); };
  ScheduleRun run{request.scheduler, "model", flavour(spec.software), request.wait, {}, {}, result.host.decisions};
  std::uint64_t first = spec.window.value(), last = 0;
  const std::vector<ScenarioLaunch> all = launches(request.scenario, request.wait.value_or(Time(0)));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const KernelLaunch& launch = spec.launches[k];
    const KernelCounters& counters = result.kernels[k];
    const std::string& name = request.scenario.jobs[all[k].job].name;
    if (counters.finish_cycle == 0)
      throw CheckFailed(fmt::format("scheduler {}: job {} does not end: {} CTAs done, its grid has {}", request.scheduler, name,
                                    counters.ctas_completed, launch.kernel.grid_ctas));
    const std::uint64_t arrived =
        launch.after ? result.kernels[*launch.after].finish_cycle + launch.delay.value() : launch.arrival.value();
    run.jobs.push_back({name, launch.priority, time(arrived), time(alone_.at(launch.kernel.name)),
                        time(counters.finish_cycle - arrived), result.host.evictions.at(k)});
    first = std::min(first, arrived);
    last = std::max(last, counters.finish_cycle);
  }
  run.makespan = time(last - first);
  return run;
}

std::vector<ScheduleRun> ScheduleOnModel::run(const ScheduleTarget& target, std::span<const ScheduleRequest> requests) {
  measure_alone(target);
  std::vector<Named> runs;
  for (const ScheduleRequest& request : requests)
    runs.push_back({fmt::format("{}-{}-{}", request.scenario.name, request.scheduler, flavour(setting_.software)),
                    spec_of(target, request)});
  const std::vector<RunResult> results = run_specs(runs);
  std::vector<ScheduleRun> outcomes;
  for (std::size_t i = 0; i < runs.size(); ++i) outcomes.push_back(outcome(requests[i], runs[i].spec, results[i]));
  return outcomes;
}

}  // namespace sluice
