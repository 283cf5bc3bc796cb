// SPDX-License-Identifier: Apache-2.0
#include "study/schedule_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "study/calibration.h"
#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "sw/core/hash.h"
#include "sw/policy/corun_file.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/workload_file.h"
#include "systemc/host/unit_priorities.h"
#include "systemc/model_device.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

namespace {

constexpr std::uint32_t kSlots = 4;  // as Verilated
constexpr std::string_view kOneAtATime[] = {"arrival", "rr", "prio_np", "piv", "dprr"};
/// A run longer than so many times its jobs one after the other will not end.
constexpr std::uint64_t kPatience = 20;

KernelLaunch once(const KernelDescriptor& kernel) {
  KernelLaunch launch{kernel, 0, Cycles(0)};
  launch.once = true;
  return launch;
}

double microseconds(Time time) { return std::chrono::duration<double, std::micro>(time).count(); }

std::vector<KernelDescriptor> without(const auto& known, const ScheduleTarget& target) {
  std::vector<KernelDescriptor> kernels;
  for (const KernelDescriptor& kernel : target.kernels) {
    check_fits(target.machine, kernel);
    if (!known.contains(kernel.name) && std::ranges::find(kernels, kernel.name, &KernelDescriptor::name) == kernels.end())
      kernels.push_back(kernel);
  }
  return kernels;
}

/// Jobs arrive and end at whole cycles.
class Cycle {
 public:
  explicit Cycle(const MachineConfig& machine) : period_(static_cast<std::int64_t>(SimClock(machine.core_mhz).period_ps())) {}
  [[nodiscard]] std::uint64_t of(Time time) const { return static_cast<std::uint64_t>((time.count() + period_ / 2) / period_); }
  [[nodiscard]] Time time(std::uint64_t cycles) const { return Time(static_cast<std::int64_t>(cycles) * period_); }

 private:
  std::int64_t period_;
};

/// Time may be scaled (scale_time), and the table be of the whole kernels.
CoRunTable of_kernels(CoRunTable table, const std::vector<KernelDescriptor>& mix) {
  for (const KernelDescriptor& kernel : mix)
    if (const auto known = table.kernels.find(kernel.name); known != table.kernels.end())
      known->second.instructions_per_block = instructions_per_block(kernel);
  return table;
}

std::string flavour(const std::optional<SoftwarePreemption>& software) {
  return software ? fmt::format("software-{}", to_string(software->polling)) : "hardware";
}

/// Everything that the result of a schedule depends on beside machine, seed and unit.
std::string fingerprint(const RunSpec& spec, const std::string& scheduler, const SoloTimes& times,
                        const std::vector<CorunMeasurement>& coruns = {}) {
  std::string text = scheduler;
  for (const KernelLaunch& launch : spec.launches) {
    text += format_workload({"", {launch.kernel}}, "");
    text += fmt::format("arrival {} delay {} priority {} after {}\n", launch.arrival.value(), launch.delay.value(),
                        launch.priority, launch.after ? static_cast<std::int64_t>(*launch.after) : -1);
  }
  for (const auto& [name, alone] : times)
    for (const double time : alone) text += fmt::format("{} {}\n", name, time);
  for (const CorunMeasurement& pair : coruns)
    text += fmt::format("{} {} {} {} {}\n", pair.first, pair.second, pair.rate.first_sms, pair.rate.first, pair.rate.second);
  if (spec.software) text += flavour(spec.software);
  return text + fmt::format("host {} {} window {}", spec.machine.host.launch_us, spec.machine.host.evict_us, spec.window.value());
}

ScheduleRun schedule_run(const ScheduleCase& c, const RunSpec& spec, const RunResult& result,
                         const std::map<std::string, RunResult>& alone) {
  const Cycle cycle(c.target.machine);
  const std::vector<ScenarioLaunch> all = launches(c.scenario, c.wait.value_or(Time(0)));
  ScheduleRun run{c.scheduler, "model", flavour(spec.software), c.wait, {}, {}, result.host.decisions};
  std::uint64_t first = spec.window.value(), last = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const KernelLaunch& launch = spec.launches[k];
    const KernelCounters& counters = result.kernels[k];
    const std::string& name = c.scenario.jobs[all[k].job].name;
    if (counters.finish_cycle == 0)
      throw CheckFailed(fmt::format("scheduler {}: job {} does not end: {} CTAs done, its grid has {}", c.scheduler, name,
                                    counters.ctas_completed, launch.kernel.grid_ctas));
    const std::uint64_t arrived =
        launch.after ? result.kernels[*launch.after].finish_cycle + launch.delay.value() : launch.arrival.value();
    run.jobs.push_back(
        {name, launch.priority, cycle.time(arrived), cycle.time(alone.at(launch.kernel.name).kernels.front().finish_cycle),
         cycle.time(counters.finish_cycle - arrived), result.host.evictions.at(k), cycle.time(result.host.began.at(k))});
    first = std::min(first, arrived);
    last = std::max(last, counters.finish_cycle);
  }
  run.makespan = cycle.time(last - first);
  std::uint64_t evictions = 0, leaving = 0;
  for (const std::vector<std::uint64_t>& of_job : result.host.eviction_cycles)
    for (const std::uint64_t cycles : of_job) {
      ++evictions;
      leaving += cycles;
    }
  if (evictions > 0) run.eviction = cycle.time(leaving / evictions);
  run.stalls = result.stalls;
  run.sm_cycles = result.sm_cycles;
  return run;
}

}  // namespace

RunSpec ScheduleOnModel::empty_spec(const MachineConfig& machine, PartitionerKind partitioner) const {
  RunSpec spec;
  spec.machine = machine;
  spec.partitioner = partitioner;
  spec.kernel_slots = kSlots;
  spec.seed = setting_.seed;
  return spec;
}

ScheduleRun ScheduleOnModel::operator()(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                                        std::optional<Time> wait, const std::filesystem::path& decisions,
                                        const std::filesystem::path& timeline) {
  return run({{"", scenario, target, std::string(scheduler), wait, decisions, timeline}}).front();
}

std::vector<RunResult> ScheduleOnModel::results_of(std::vector<NamedRun> runs, const std::string& what, bool keep) const {
  if (keep && !setting_.keep.empty()) {
    for (NamedRun& run : runs) run.fingerprint += fmt::format("{} seed {}", setting_.machine_text, setting_.seed);
    return run_all(runs, setting_.keep, setting_.jobs, what);
  }
  std::vector<RunSpec> specs;
  for (NamedRun& run : runs) specs.push_back(std::move(run.spec));
  std::vector<RunResult> results(specs.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, setting_.jobs);
  if (!pool.run(std::move(specs), [&](std::size_t i, const RunResult& r, const HostCost&) { results[i] = r; }))
    throw Interrupted("interrupted");
  return results;
}

const std::map<std::string, RunResult>& ScheduleOnModel::measure_alone(const ScheduleTarget& target) {
  const std::vector<KernelDescriptor> kernels = without(alone_, target);
  std::vector<NamedRun> runs;
  for (const KernelDescriptor& kernel : kernels) {
    RunSpec spec = launch_spec(target.machine, kernel, setting_.seed);
    runs.push_back({"alone-" + kernel.name, fingerprint(spec, "arrival", {}), std::move(spec)});
  }
  const std::vector<RunResult> results = results_of(std::move(runs), "alone");
  for (std::size_t i = 0; i < kernels.size(); ++i) alone_[kernels[i].name] = results[i];
  return alone_;
}

const SoloTimes& ScheduleOnModel::measure_times(const ScheduleTarget& target) {
  const std::vector<KernelDescriptor> kernels = without(times_, target);
  std::vector<NamedRun> runs;
  for (const KernelDescriptor& kernel : kernels) {
    const std::uint32_t most = occupancy(kernel.demand(), target.machine.sm.capacity).value();
    for (std::uint32_t ctas = 1; ctas <= most; ++ctas) {
      RunSpec spec = empty_spec(target.machine, PartitionerKind::Twin);
      spec.launches.push_back(once(kernel));
      spec.make_scheduler = hold({{CtaCount(ctas)}});
      runs.push_back(
          {fmt::format("alone-{}-{}", kernel.name, ctas), fingerprint(spec, fmt::format("ctas {}", ctas), {}), std::move(spec)});
    }
  }
  std::vector<std::string> names;
  for (const NamedRun& run : runs) names.push_back(run.spec.launches.front().kernel.name);
  const std::vector<RunResult> results = results_of(std::move(runs), "alone at each CTA count");
  for (std::size_t i = 0; i < results.size(); ++i)
    times_[names[i]].push_back(static_cast<double>(results[i].kernels.front().finish_cycle));
  return times_;
}

std::vector<RunResult> ScheduleOnModel::run_held(const MachineConfig& machine, const std::vector<HeldShares>& all) const {
  std::vector<NamedRun> runs;
  for (const HeldShares& held : all) {
    RunSpec spec = empty_spec(machine, PartitionerKind::Twin);
    for (const KernelDescriptor& kernel : held.kernels) spec.launches.push_back({kernel, 0, Cycles(0)});
    spec.window = held.window;
    spec.make_scheduler = hold(held.shares);
    std::string shares;
    for (const Share& s : held.shares) shares += fmt::format("{} {} {} ", s.ctas.value(), s.sms.first.value(), s.sms.count);
    runs.push_back({held.name, fingerprint(spec, shares, {}), std::move(spec)});
  }
  return results_of(std::move(runs), "shares held");
}

const std::vector<CorunMeasurement>& ScheduleOnModel::measure_coruns(const ScheduleTarget& target) {
  if (!coruns_.empty() || target.kernels.empty()) return coruns_;
  const std::map<std::string, RunResult>& alone = measure_alone(target);
  const auto rate = [&](const KernelDescriptor& kernel) {
    const KernelCounters& counters = alone.at(kernel.name).kernels.front();
    return static_cast<double>(counters.warp_instructions) / static_cast<double>(counters.finish_cycle);
  };
  const std::vector<HeldShares> all = corun_splits(target.machine, without(std::map<std::string, int>(), target));
  const std::vector<RunResult> results = run_held(target.machine, all);
  for (std::size_t i = 0; i < all.size(); ++i)
    coruns_.push_back(corun_measurement(all[i], results[i], rate(all[i].kernels[0]), rate(all[i].kernels[1])));
  return coruns_;
}

NamedRun ScheduleOnModel::named(const ScheduleCase& c) {
  const Cycle cycle(c.target.machine);
  RunSpec spec = empty_spec(c.target.machine, setting_.partitioner);
  spec.software = setting_.software;
  spec.machine.host.launch_us += microseconds(c.scenario.costs.launch);
  spec.machine.host.evict_us += microseconds(c.scenario.costs.evict);
  SchedulerInput input{c.target.machine, {}};
  input.slots = kSlots;
  const SchedulerRow row = scheduler_row(c.scheduler);
  std::uint64_t serial = 0;
  for (const ScenarioLaunch& launch : launches(c.scenario, c.wait.value_or(Time(0)))) {
    KernelLaunch& entry = spec.launches.emplace_back(once(c.target.kernels.at(launch.job)));
    entry.priority = launch.priority;
    entry.after = launch.after;
    (launch.after ? entry.delay : entry.arrival) = Cycles(cycle.of(launch.arrival));
    serial += cycle.of(launch.arrival) + alone_.at(entry.kernel.name).kernels.front().finish_cycle;
    input.mix.push_back(entry.kernel);
    if (row.needs_times) input.times[entry.kernel.name] = times_.at(entry.kernel.name);
    const KernelCounters& alone = alone_.at(entry.kernel.name).kernels.front();
    if (row.rates == Rates::CoRuns || row.measures) input.times[entry.kernel.name] = {static_cast<double>(alone.finish_cycle)};
    input.intensities[entry.kernel.name] =
        measured_intensity(entry.kernel, alone, static_cast<double>(alone.finish_cycle), c.target.machine);
  }
  if (row.rates == Rates::CoRuns) input.coruns = coruns_;
  input.predicted = of_kernels(setting_.co_runs.predicted, input.mix);
  input.executed = of_kernels(setting_.co_runs.executed, input.mix);
  input.seed = setting_.seed;
  input.ntt = {setting_.max_ntt, 1e6 / c.target.machine.core_mhz};  // times are in cycles
  spec.window = Cycles(kPatience * serial);
  spec.timeline_file = c.timeline;
  spec.make_scheduler = [name = c.scheduler, input, file = c.decisions] {
    return std::make_unique<LoggedScheduler>(make_scheduler(name, input), file);
  };
  (void)make_scheduler(c.scheduler, input);  // what it refuses, it refuses here
  std::string rates;
  for (const CoRunTable* table : {&input.predicted, &input.executed})
    if (!table->kernels.empty()) rates += to_json(*table).dump();
  if (setting_.max_ntt != kNoNttLimit) rates += fmt::format(" max NTT {}", setting_.max_ntt);
  const std::uint64_t which = fnv1a(fmt::format("{} {}", c.scenario.name, c.wait.value_or(Time(0)).count()));
  return {c.name.empty() ? fmt::format("schedule-{}-{:x}", c.scheduler, which) : c.name,
          fingerprint(spec, c.scheduler, input.times, input.coruns) + rates, std::move(spec)};
}

void ScheduleOnModel::check(const std::vector<ScheduleCase>& cases) const {
  for (const ScheduleCase& c : cases) {
    for (const KernelDescriptor& kernel : c.target.kernels) check_fits(c.target.machine, kernel);
    check_partitioner(c.target.machine, setting_.partitioner, kSlots);
    if (scheduler_row(c.scheduler).measures) check_unit_has(Mode::Balance, setting_.partitioner, c.target.machine);
    if (setting_.software && std::ranges::find(kOneAtATime, c.scheduler) == std::end(kOneAtATime))
      throw InputError(fmt::format("--flavour software: scheduler {}: must give the GPU to one job at a time: {}", c.scheduler,
                                   fmt::join(kOneAtATime, ", ")));
    SchedulerInput rates{c.target.machine, c.target.kernels, {}};
    rates.intensities[""] = {};  // these two are measured
    rates.coruns.resize(1);
    rates.predicted = setting_.co_runs.predicted;
    rates.executed = setting_.co_runs.executed;
    check_rates(c.scheduler, rates);
    std::set<std::int32_t> priorities;
    for (const ScenarioLaunch& launch : launches(c.scenario, Time(0))) priorities.insert(launch.priority);
    if (c.target.machine.partitioner.priority) static_cast<void>(unit_priorities(priorities));
    if (c.scenario.costs.memory) throw InputError(fmt::format("{}: memory: executor fake has one", c.scenario.file));
    if (c.scenario.costs.copy > Time(0) || c.scenario.costs.profile > Time(0))
      throw InputError(fmt::format("{}: costs: executor model has launch_us and evict_us", c.scenario.file));
  }
}

std::vector<ScheduleRun> ScheduleOnModel::run(const std::vector<ScheduleCase>& cases) {
  check(cases);
  ScheduleTarget all, timed, paired;
  for (const ScheduleCase& c : cases) {
    const SchedulerRow row = scheduler_row(c.scheduler);
    all.machine = timed.machine = paired.machine = c.target.machine;
    all.kernels.insert(all.kernels.end(), c.target.kernels.begin(), c.target.kernels.end());
    if (row.needs_times) timed.kernels.insert(timed.kernels.end(), c.target.kernels.begin(), c.target.kernels.end());
    if (row.rates == Rates::CoRuns) paired.kernels.insert(paired.kernels.end(), c.target.kernels.begin(), c.target.kernels.end());
  }
  (void)measure_alone(all);
  (void)measure_times(timed);
  (void)measure_coruns(paired);
  std::vector<NamedRun> runs;
  for (const ScheduleCase& c : cases) runs.push_back(named(c));
  const bool keep = std::ranges::all_of(cases, [](const ScheduleCase& c) { return c.decisions.empty() && c.timeline.empty(); });
  const std::vector<RunResult> results = results_of(runs, "schedules", keep);
  std::vector<ScheduleRun> out;
  for (std::size_t i = 0; i < cases.size(); ++i) out.push_back(schedule_run(cases[i], runs[i].spec, results[i], alone_));
  return out;
}

}  // namespace sluice
