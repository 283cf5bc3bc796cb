// SPDX-License-Identifier: Apache-2.0
// sluice report slate: runs what the figures of Slate's evaluation need, and draws them on one page.
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/published.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/slate_study.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string scenario = "configs/scenarios/slate_pairs.toml";
};

int run(const Options& options) {
  SlateStudyPlan plan;
  plan.machine = read_machine(options.machine_file);
  plan.machine_text = machine_text(options.machine_file);
  plan.workload = read_workload(options.workload_file);
  plan.pairs = read_scenario(options.scenario);
  plan.partitioner = options.kind();
  plan.seed = options.seed;
  plan.jobs = options.jobs;
  check_output(options.out);
  plan.runs_folder = std::filesystem::path(options.out) / "runs";
  const std::vector<figures::Figure> drawn = slate_study(plan);
  write_paper_page(
      drawn, options.meta({{"machine", plan.machine.name}, {"workload", plan.workload.name}, {"scenario", plan.pairs.name}}),
      options);
  return 0;
}

}  // namespace

void add_report_slate_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = report.add_subcommand("slate", "Slate's tables I to V, figures 1, 5 and 7, beside what the paper states");
  options->add_inputs(*command, "configs/machines/titan_xp.toml", "configs/workloads/slate.toml");
  command->add_option("--scenario", options->scenario, "the pairs: jobs named PAIR.1 and PAIR.2 (TOML)")->capture_default_str();
  options->add_unit(*command);
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
