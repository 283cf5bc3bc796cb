// SPDX-License-Identifier: Apache-2.0
// sluice report kernelet: pairs on the GPU model, schedules with their rates, on one page beside what the paper prints.
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/kernelet_schedules.h"
#include "study/published.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string configs = "configs";
  unsigned schedules = 1000;
};

KerneletMachine measured_machine(const Options& options, const std::string& file, figures::KerneletMachine names) {
  KerneletRuns runs;
  const std::filesystem::path path = std::filesystem::path(options.configs) / "machines" / (file + ".toml");
  runs.machine = read_machine(path);
  runs.machine_text = machine_text(path);
  runs.workload = read_workload(std::filesystem::path(options.configs) / "workloads/kernelet.toml");
  runs.window = options.window;
  runs.seed = options.seed;
  runs.jobs = options.jobs;
  runs.folder = std::filesystem::path(options.out) / "runs" / file;
  return measured(std::move(runs), std::move(names));
}

int run(const Options& options) {
  check_output(options.out);
  const KerneletMachine c2050 = measured_machine(options, "c2050", {"a", "C2050", "5 to 31", "1 to 3"}),
                        gtx680 = measured_machine(options, "gtx680", {"b", "GTX 680", "7 to 23", "4 to 15"});
  for (const KerneletMachine* m : {&c2050, &gtx680}) {
    const nlohmann::ordered_json pairs = {{"machine", m->runs.machine.name},
                                          {"predicted", to_json(m->tables.predicted)},
                                          {"executed", to_json(m->tables.executed)}};
    write_file_atomically(std::filesystem::path(options.out) / ("pairs_" + m->runs.machine.name + ".json"), pairs.dump(1) + "\n");
  }
  const KerneletPlan plan{std::filesystem::path(options.configs) / "scenarios", options.schedules, options.seed, options.jobs};
  nlohmann::ordered_json meta =
      options.meta({{"machines", "c2050, gtx680"}, {"workload", "kernelet"}, {"window_cycles", options.window}});
  meta["random_schedules"] = options.schedules;
  write_paper_page(kernelet_figures(plan, c2050, gtx680), std::move(meta), options);
  return 0;
}

}  // namespace

void add_report_kernelet_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  options->window = 100000;
  CLI::App* command = report.add_subcommand("kernelet", "Kernelet's figures 5 to 9, beside what the paper's text prints");
  command
      ->add_option("--configs", options->configs,
                   "folder of machines/{c2050,gtx680}.toml, workloads/ and scenarios/kernelet_*.toml")
      ->capture_default_str();
  command->add_option("--window", options->window, "cycles of each pair on the GPU model")
      ->capture_default_str()
      ->check(CLI::Range(1000, 1000000000));
  command->add_option("--schedules", options->schedules, "random schedules of figure 7")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--seed", options->seed, "seed of the synthetic instruction streams")->capture_default_str();
  options->add_page(*command, "index.html, figures.json and pairs_*.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
