// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <spdlog/spdlog.h>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/run_specs.h"
#include "study/schedule_model.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_file.h"
#include "sw/report/schedule_results.h"
#include "sw/report/timelines.h"
#include "sw/scheduler/registry.h"
#include "sw/scheduler/schedule_run.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct ScheduleOptions : CommonOptions {
  std::string scenario, schedulers, pairs, executor = "fake", flavour = "hardware", polling = "adaptive", decisions, timeline,
                                           keep;
  double time_scale = 1, max_ntt = kNoNttLimit;
  int churn = -1;  ///< negative: as the machine says

  [[nodiscard]] MachineConfig machine() const {
    MachineConfig read = read_machine(machine_file);
    if (churn >= 0) read.partitioner.churn = static_cast<std::uint32_t>(churn);
    return read;
  }

  [[nodiscard]] CoRunTables co_runs() const {
    if (pairs.empty()) return {};
    return {read_co_runs(pairs, "predicted"), read_co_runs(pairs, "executed")};
  }
  [[nodiscard]] std::optional<SoftwarePreemption> software() const {
    if (flavour != "software") return {};
    for (const Polling how : {Polling::Basic, Polling::Proxy})
      if (polling == to_string(how)) return SoftwarePreemption{how};
    return SoftwarePreemption{Polling::Adaptive};
  }
};

using Execute = std::function<std::vector<ScheduleRun>(const std::vector<ScheduleCase>&)>;

ScheduleRun run_fake_with(const ScheduleCase& c, FakeSettings settings) {
  settings.decisions = c.decisions;
  if (c.timeline.empty()) return schedule_on_fake(c.scenario, c.target, c.scheduler, c.wait, settings);
  TaskTimeline timeline(c.timeline, c.scenario, c.target, c.wait);
  settings.observer = &timeline;
  ScheduleRun run = schedule_on_fake(c.scenario, c.target, c.scheduler, c.wait, settings);
  timeline.close();
  return run;
}

/// What carries schedules out, and in which flavours it can.
struct ExecutorRow {
  std::string_view name;
  std::span<const std::string_view> flavours;
  bool needs_machine;  ///< and a workload
  Execute (*make)(const ScheduleOptions&);
};
constexpr std::string_view kHardware[] = {"hardware"}, kBoth[] = {"hardware", "software"};
constexpr ExecutorRow kExecutors[] = {
    {"fake", kHardware, false,
     [](const ScheduleOptions& options) -> Execute {
       return [settings = FakeSettings{options.co_runs(), options.seed, {}, nullptr, kMinSlice, options.max_ntt}](
                  const std::vector<ScheduleCase>& cases) {
         std::vector<ScheduleRun> runs;
         for (const ScheduleCase& c : cases) runs.push_back(run_fake_with(c, settings));
         return runs;
       };
     }},
    {"model", kBoth, true,
     [](const ScheduleOptions& options) -> Execute {
       return [model = std::make_shared<ScheduleOnModel>(ModelSetting{
                   options.kind(), options.seed, options.jobs, options.software(),
                   options.keep.empty() ? std::filesystem::path() : std::filesystem::path(options.keep) / "runs.sqlite",
                   machine_text(options.machine_file) + fmt::format("churn {} scale {} ", options.churn, options.time_scale) +
                       options.balance,
                   options.co_runs(), options.max_ntt})](const std::vector<ScheduleCase>& cases) { return model->run(cases); };
     }},
};

const ExecutorRow& executor_of(const ScheduleOptions& options) {
  const auto* row = std::ranges::find(kExecutors, options.executor, &ExecutorRow::name);
  if (row == std::end(kExecutors)) throw InputError(fmt::format("--executor {}: must be fake or model", options.executor));
  if (std::ranges::find(row->flavours, options.flavour) == row->flavours.end())
    throw InputError(fmt::format("--flavour {}: executor {} has {}", options.flavour, row->name, fmt::join(row->flavours, ", ")));
  return *row;
}

int run(const ScheduleOptions& options) {
  const ExecutorRow& executor = executor_of(options);
  std::vector<std::string> names = split_list(options.schedulers);
  if (names.empty()) names.emplace_back();  // refused as any other name that is none
  const std::vector<std::string_view> known = scheduler_names();
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw InputError(fmt::format("--scheduler {}: must be one of {}", name, fmt::join(known, ", ")));
  if (options.max_ntt != kNoNttLimit && std::ranges::find(names, "adaptive") == names.end())
    throw InputError("--max-ntt: only scheduler adaptive bounds the NTT");
  const Scenario scenario = read_scenario(options.scenario);
  if (options.machine_file.empty() != options.workload_file.empty())
    throw InputError("--machine and --workload: give both or neither");
  if (executor.needs_machine && options.machine_file.empty())
    throw InputError(fmt::format("--executor {}: needs --machine and --workload", executor.name));
  if (options.time_scale != 1 && !executor.needs_machine)
    throw InputError(fmt::format("--time-scale: executor {} takes no longer for long times", executor.name));
  if (!options.keep.empty() && !executor.needs_machine)
    throw InputError(fmt::format("--keep: executor {} runs at once", executor.name));
  if (options.churn >= 0 && !executor.needs_machine)
    throw InputError(fmt::format("--churn: executor {} has no partition unit", executor.name));
  const std::vector<Scenario> scenarios = runs_of(scenario);
  std::vector<ScheduleTarget> targets;
  for (const Scenario& s : scenarios)
    targets.push_back(options.machine_file.empty() ? abstract_target(s)
                                                   : target_of(s, options.machine(), read_workload(options.workload_file)));
  for (ScheduleTarget& target : targets) set_balance(options.balance, target.machine, target.kernels);
  if (executor.needs_machine)
    for (ScheduleTarget& target : targets) scale_time(target, options.time_scale);
  std::vector<std::optional<Time>> waits(scenario.waits.begin(), scenario.waits.end());
  if (waits.empty()) waits.emplace_back();
  for (const std::string& file : {options.decisions, options.timeline}) {
    if (file.empty()) continue;
    if (scenarios.size() * names.size() * waits.size() > 1)
      throw InputError("--decisions, --timeline: of one scheduler, in a scenario with one run");
    write_file_atomically(file, "");
  }
  const Execute execute = executor.make(options);
  std::vector<ScheduleCase> cases;
  for (std::size_t s = 0; s < scenarios.size(); ++s)
    for (const std::string& name : names)
      for (const std::optional<Time>& wait : waits)
        cases.push_back({"", scenarios[s], targets[s], name, wait, options.decisions, options.timeline});
  const std::vector<ScheduleRun> runs = execute(cases);
  for (const ScheduleRun& run : runs) {
    const auto worst = std::ranges::max_element(run.jobs, {}, &LaunchOutcome::ntt);
    if (run.scheduler == "adaptive" && worst->ntt() > options.max_ntt)
      spdlog::warn("--max-ntt {}: not kept: the NTT of job {} is {:.3f}, {:.3f} above", options.max_ntt, worst->name,
                   worst->ntt(), worst->ntt() - options.max_ntt);
  }
  if (options.json) {
    fmt::print("{}\n", to_json(runs).dump());
    return 0;
  }
  const std::size_t of_each = runs.size() / scenarios.size();
  for (std::size_t s = 0; s < scenarios.size(); ++s)
    fmt::print("{}{}\n", scenarios.size() > 1 ? scenarios[s].name + "\n" : "",
               schedule_table(std::span(runs).subspan(s * of_each, of_each)));
  return 0;
}

}  // namespace

void add_schedule_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ScheduleOptions>();
  CLI::App* command = app.add_subcommand("schedule", "Jobs that arrive over time under one scheduler or several");
  command->add_option("--scenario", options->scenario, "who arrives when (TOML), e.g. configs/scenarios/effisha_group.toml")
      ->required();
  command->add_option("--scheduler", options->schedulers, "names, comma separated, e.g. piv,dprr")->required();
  command->add_option("--machine", options->machine_file, "machine description (TOML); default one SM with room for one CTA");
  command->add_option("--workload", options->workload_file, "workload description (TOML) of the jobs' kernels");
  options->add_balance(*command);
  command->add_option("--executor", options->executor, "what carries the schedule out: fake (discrete events) or model (the GPU)")
      ->capture_default_str();
  command
      ->add_option("--flavour", options->flavour,
                   "how kernels are preempted: hardware (the partition unit) or software (executor model)")
      ->capture_default_str();
  command
      ->add_option("--polling", options->polling,
                   "flavour software: how CTAs learn that they are to leave: basic, proxy or adaptive")
      ->capture_default_str()
      ->check(CLI::IsMember({"basic", "proxy", "adaptive"}));
  command
      ->add_option("--time-scale", options->time_scale,
                   "executor model: simulate this share of the cycles: shorter CTAs on slower clocks, so times stay")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1.0));
  command
      ->add_option("--partitioner", options->partitioner,
                   "executor model: the Verilated RTL, its twin, or both compared at every port in every cycle")
      ->capture_default_str()
      ->check(CLI::IsMember({"rtl", "twin", "both"}));
  command
      ->add_option("--churn", options->churn,
                   "executor model: the unit's option CHURN: profiles outlive changes of the kernels, and what is in force lives "
                   "for 2^N cycles; 0 = off (default: churn of the machine); partitioner twin")
      ->check(CLI::Range(0, 19));
  command->add_option("--pairs", options->pairs,
                      "rates of pairs (JSON), as `sluice report kernelet` writes them: Kernelet decides by them, and on executor "
                      "fake the tasks of a pair take their times");
  command
      ->add_option("--max-ntt", options->max_ntt,
                   "adaptive: a job whose turnaround would be more than so many times its time alone counts as the longest")
      ->check(CLI::Range(1.0, 1e9));
  command
      ->add_option("--seed", options->seed,
                   "executor model: seed of the synthetic instruction streams; both executors: of monte_carlo")
      ->capture_default_str();
  command->add_option("--keep", options->keep,
                      "executor model: folder where finished runs are kept, and found again instead of run again; not those with "
                      "--decisions or --timeline");
  command->add_option("--decisions", options->decisions,
                      "one scheduler: what it was told and what it decided, with the reason, a JSON line each");
  command->add_option("--timeline", options->timeline,
                      "one scheduler: Chrome trace (JSON) of the jobs on every SM; 1 us = 1 cycle, or 1 ns on the fake executor");
  options->add_jobs(*command);
  options->add_json(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
