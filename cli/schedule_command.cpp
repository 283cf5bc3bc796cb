// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/schedule_model.h"
#include "sw/report/schedule_results.h"
#include "sw/scheduler/registry.h"
#include "sw/scheduler/schedule_run.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : CommonOptions {
  std::string scenario, schedulers, executor = "fake", flavour = "hardware", polling = "adaptive";
  double time_scale = 1;

  [[nodiscard]] std::optional<SoftwarePreemption> software() const {
    if (flavour != "software") return {};
    for (const Polling how : {Polling::Basic, Polling::Proxy})
      if (polling == to_string(how)) return SoftwarePreemption{how};
    return SoftwarePreemption{Polling::Adaptive};
  }
};

using Execute =
    std::function<ScheduleRun(const Scenario&, const ScheduleTarget&, std::string_view scheduler, std::optional<Time> wait)>;

/// What carries schedules out, and in which flavours it can.
struct ExecutorRow {
  std::string_view name;
  std::span<const std::string_view> flavours;
  bool needs_machine;  ///< and a workload
  Execute (*make)(const Options&);
};
constexpr std::string_view kHardware[] = {"hardware"}, kBoth[] = {"hardware", "software"};
constexpr ExecutorRow kExecutors[] = {
    {"fake", kHardware, false, [](const Options&) -> Execute { return schedule_on_fake; }},
    {"model", kBoth, true,
     [](const Options& options) -> Execute {
       return ScheduleOnModel({options.kind(), options.seed, options.jobs, options.software()});
     }},
};

const ExecutorRow& executor_of(const Options& options) {
  const auto* row = std::ranges::find(kExecutors, options.executor, &ExecutorRow::name);
  if (row == std::end(kExecutors)) throw InputError(fmt::format("--executor {}: must be fake or model", options.executor));
  if (std::ranges::find(row->flavours, options.flavour) == row->flavours.end())
    throw InputError(fmt::format("--flavour {}: executor {} has {}", options.flavour, row->name, fmt::join(row->flavours, ", ")));
  return *row;
}

int run(const Options& options) {
  const ExecutorRow& executor = executor_of(options);
  std::vector<std::string> names = split_list(options.schedulers);
  if (names.empty()) names.emplace_back();  // refused as any other name that is none
  const std::vector<std::string_view> known = scheduler_names();
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw InputError(fmt::format("--scheduler {}: must be one of {}", name, fmt::join(known, ", ")));
  const Scenario scenario = read_scenario(options.scenario);
  if (options.machine_file.empty() != options.workload_file.empty())
    throw InputError("--machine and --workload: give both or neither");
  if (executor.needs_machine && options.machine_file.empty())
    throw InputError(fmt::format("--executor {}: needs --machine and --workload", executor.name));
  if (options.time_scale != 1 && !executor.needs_machine)
    throw InputError(fmt::format("--time-scale: executor {} takes no longer for long times", executor.name));
  ScheduleTarget target = options.machine_file.empty()
                              ? abstract_target(scenario)
                              : target_of(scenario, read_machine(options.machine_file), read_workload(options.workload_file));
  if (executor.needs_machine) scale_time(target, options.time_scale);
  std::vector<std::optional<Time>> waits(scenario.waits.begin(), scenario.waits.end());
  if (waits.empty()) waits.emplace_back();
  const Execute execute = executor.make(options);
  std::vector<ScheduleRun> runs;
  for (const std::string& name : names)
    for (const std::optional<Time>& wait : waits) runs.push_back(execute(scenario, target, name, wait));
  fmt::print("{}\n", options.json ? to_json(runs).dump() : schedule_table(runs));
  return 0;
}

}  // namespace

void add_schedule_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("schedule", "Jobs that arrive over time under one scheduler or several");
  command->add_option("--scenario", options->scenario, "who arrives when (TOML), e.g. configs/scenarios/effisha_group.toml")
      ->required();
  command->add_option("--scheduler", options->schedulers, "names, comma separated, e.g. piv,dprr")->required();
  command->add_option("--machine", options->machine_file, "machine description (TOML); default one SM with room for one CTA");
  command->add_option("--workload", options->workload_file, "workload description (TOML) of the jobs' kernels");
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
  command->add_option("--seed", options->seed, "executor model: seed of the synthetic instruction streams")
      ->capture_default_str();
  options->add_jobs(*command);
  options->add_json(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
