// SPDX-License-Identifier: Apache-2.0
#include "study/schedule_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
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

}  // namespace

void ScheduleOnModel::measure_alone(const ScheduleTarget& target) {
  std::vector<RunSpec> specs;
  std::vector<std::string> names;
  for (const KernelDescriptor& kernel : target.kernels) {
    check_fits(target.machine, kernel);
    if (alone_.contains(kernel.name) || std::ranges::find(names, kernel.name) != names.end()) continue;
    names.push_back(kernel.name);
    RunSpec& spec = specs.emplace_back(empty_spec(target, PartitionerKind::Twin, seed_));
    spec.launches.push_back(once(kernel));
    spec.make_scheduler = [machine = target.machine, kernel] { return make_scheduler("arrival", {machine, {kernel}}); };
  }
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, jobs_);
  const bool all = pool.run(
      specs, [&](std::size_t i, const RunResult& r, const HostCost&) { alone_[names[i]] = r.kernels.front().finish_cycle; });
  if (!all) throw Interrupted("interrupted");
}

ScheduleRun ScheduleOnModel::operator()(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                                        std::optional<Time> wait) {
  if (scenario.costs.memory) throw InputError(fmt::format("{}: memory: executor fake has one", scenario.file));
  if (scenario.costs.copy > Time(0) || scenario.costs.profile > Time(0))
    throw InputError(fmt::format("{}: costs: executor model has launch_us and evict_us", scenario.file));
  measure_alone(target);
  const auto period = static_cast<std::int64_t>(SimClock(target.machine.core_mhz).period_ps());
  const auto cycles = [period](Time time) { return static_cast<std::uint64_t>((time.count() + period / 2) / period); };
  const auto time = [period](std::uint64_t n) { return Time(static_cast<std::int64_t>(n) * period); };

  RunSpec spec = empty_spec(target, partitioner_, seed_);
  spec.machine.host.launch_us += microseconds(scenario.costs.launch);
  spec.machine.host.evict_us += microseconds(scenario.costs.evict);
  SchedulerInput input{target.machine, {}};
  const std::vector<ScenarioLaunch> all = launches(scenario, wait.value_or(Time(0)));
  std::uint64_t serial = 0;
  for (const ScenarioLaunch& launch : all) {
    KernelLaunch& entry = spec.launches.emplace_back(once(target.kernels.at(launch.job)));
    entry.priority = launch.priority;
    entry.after = launch.after;
    (launch.after ? entry.delay : entry.arrival) = Cycles(cycles(launch.arrival));
    serial += cycles(launch.arrival) + alone_.at(entry.kernel.name);
    input.mix.push_back(entry.kernel);
  }
  spec.window = Cycles(kPatience * serial);
  spec.make_scheduler = [name = std::string(scheduler), input] { return make_scheduler(name, input); };
  (void)spec.make_scheduler();  // what it refuses, it refuses here
  RunResult result;
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, 1);
  if (!pool.run({spec}, [&](std::size_t, const RunResult& r, const HostCost&) { result = r; })) throw Interrupted("interrupted");

  ScheduleRun run{std::string(scheduler), "model", "hardware", wait, {}, {}, result.host.decisions, {}, {}};
  std::uint64_t first = spec.window.value(), last = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const KernelLaunch& launch = spec.launches[k];
    const KernelCounters& counters = result.kernels[k];
    const std::string& name = scenario.jobs[all[k].job].name;
    if (counters.finish_cycle == 0)
      throw CheckFailed(fmt::format("scheduler {}: job {} ends with {} of {} CTAs done", scheduler, name, counters.ctas_completed,
                                    launch.kernel.grid_ctas));
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

}  // namespace sluice
