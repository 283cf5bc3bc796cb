// SPDX-License-Identifier: Apache-2.0
// sluice report five: every scheduler and policy on the same work, on the GPU model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/schedule_model.h"
#include "sw/policy/names.h"
#include "sw/report/five_figures.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string pairs = "all", scenario = "configs/scenarios/five_mixed.toml";
  double scale = 0.25;
};

/// Whose each scheduler is. Not here: `static`, which needs counts, Kernelet's, which need slices, and what has to be searched.
struct Row {
  std::string_view scheduler, system;
};
constexpr std::string_view kBaseline = "arrival";
constexpr std::int32_t kLonger = 10, kShorter = 20;  // priorities
constexpr Row kRows[] = {
    {kBaseline, "one after the other"},
    {kLeftOver, "hardware of today"},
    {"rr", "EffiSha's baseline"},
    {"prio_np", "EffiSha's baseline"},
    {"piv", "EffiSha"},
    {"dprr", "EffiSha"},
    {"pt", "SiM's baseline"},
    {"adaptive", "SiM"},
    {"slate_measured", "Slate"},
    {kFcfs, "in turn"},
    {kEven, "even shares"},
    {kSpatial, "ranges of SMs"},
    {kWarpedSlicer, "Warped-Slicer"},
};

/// Two kernels that arrive together; the shorter one has the higher priority.
Scenario pair_scenario(const Mix& mix, const std::map<std::string, RunResult>& alone) {
  const auto cycles = [&](const KernelDescriptor& kernel) { return alone.at(kernel.name).cycles; };
  const Cycles longest = std::max(cycles(mix.kernels.front()), cycles(mix.kernels.back()));
  Scenario scenario;
  scenario.file = scenario.name = mix.name();
  for (const KernelDescriptor& kernel : mix.kernels) {
    ScenarioJob& job = scenario.jobs.emplace_back();
    job.name = job.kernel = kernel.name;
    const std::int32_t priority = cycles(kernel) < longest ? kShorter : kLonger;
    job.asked = {priority, priority};
  }
  return scenario;
}

int run(const Options& options) {
  check_writable(options.out);
  const MachineConfig machine = read_machine(options.machine_file);
  Workload workload = read_workload(options.workload_file);
  for (KernelDescriptor& kernel : workload.kernels)
    kernel.grid_ctas = std::max(1U, static_cast<std::uint32_t>(std::lround(options.scale * kernel.grid_ctas)));
  ScheduleOnModel model({options.kind(),
                         options.seed,
                         options.jobs,
                         {},
                         std::filesystem::path(options.out) / "runs",
                         machine_text(options.machine_file)});
  const auto& alone = model.measure_alone({machine, workload.kernels});
  std::vector<Scenario> pairs;
  for (const Mix& mix : parse_mixes(workload, machine, options.pairs)) pairs.push_back(pair_scenario(mix, alone));
  const Scenario mixed = read_scenario(options.scenario);

  std::vector<ScheduleCase> cases;
  const auto add = [&](const Scenario& scenario, std::string_view scheduler) {
    cases.push_back({fmt::format("{}-{}", scenario.name, scheduler), scenario, target_of(scenario, machine, workload),
                     std::string(scheduler)});
  };
  for (const Row& row : kRows) {
    for (const Scenario& pair : pairs) add(pair, row.scheduler);
    add(mixed, row.scheduler);
  }
  std::vector<ScheduleRun> results = model.run(cases);
  std::vector<figures::SchedulerRuns> of_pairs, of_arrivals;
  auto next = results.begin();
  for (const Row& row : kRows) {
    of_pairs.push_back({std::string(row.scheduler), std::string(row.system), {}, {}});
    figures::SchedulerRuns& runs = of_pairs.back();
    for (const Scenario& pair : pairs) {
      runs.scenes.push_back(pair.name);
      runs.runs.push_back(std::move(*next++));
    }
    of_arrivals.push_back({runs.scheduler, runs.system, {mixed.name}, {std::move(*next++)}});
  }
  write_paper_page(
      "Five systems on the same work",
      {figures::schedulers_compared(
           "pairs", fmt::format("{} pairs, both there from the start, the shorter one of higher priority", pairs.size()),
           of_pairs, std::string(kBaseline)),
       figures::schedulers_compared("arrivals", mixed.name + ": jobs that come one after the other", of_arrivals,
                                    std::string(kBaseline))},
      options.meta({{"machine", machine.name}, {"workload", options.workload_name()}, {"share_of_each_grid", options.scale}}),
      options);
  return 0;
}

}  // namespace

void add_report_five_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = report.add_subcommand("five", "Every scheduler and policy on the same pairs and the same arrivals");
  options->add_inputs(*command, "configs/machines/fermi_table1.toml", "configs/workloads/table2.toml");
  command->add_option("--scenario", options->scenario, "jobs that arrive over time (TOML)")->capture_default_str();
  command->add_option("--pairs", options->pairs, "mixes, as for sluice eval")->capture_default_str();
  command->add_option("--scale", options->scale, "share of each kernel's grid that is run")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1.0));
  options->add_unit(*command);
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
