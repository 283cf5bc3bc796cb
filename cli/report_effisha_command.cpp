// SPDX-License-Identifier: Apache-2.0
// sluice report effisha: runs what the figures of EffiSha's evaluation need, and draws them on one page.
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/effisha_study.h"
#include "study/published.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string scenarios = "configs/scenarios", host_reads = "results/h100/effisha/figures.json";
  double time_scale = 0.05;
};

int run(const Options& options) {
  check_output(options.out);
  EffishaPlan plan;
  plan.machine = read_machine(options.machine_file);
  plan.workload = read_workload(options.workload_file);
  plan.fingerprint = machine_text(options.machine_file) + machine_text(options.workload_file);
  plan.scenarios = options.scenarios;
  plan.time_scale = options.time_scale;
  if (std::filesystem::exists(options.host_reads)) plan.reads_per_us = host_reads_per_us(options.host_reads);
  plan.partitioner = options.kind();
  plan.seed = options.seed;
  plan.jobs = options.jobs;
  plan.runs_folder = std::filesystem::path(options.out) / "runs";
  const std::vector<figures::Figure> drawn = effisha_study(plan);
  nlohmann::ordered_json meta = options.meta({{"machine", plan.machine.name}, {"workload", options.workload_name()}});
  meta["time_scale_of_schedules"] = options.time_scale;
  write_paper_page(drawn, std::move(meta), options);
  return 0;
}

}  // namespace

void add_report_effisha_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = report.add_subcommand("effisha", "EffiSha's tables and figures beside what the paper states");
  options->add_inputs(*command, "configs/machines/k40.toml", "configs/workloads/effisha.toml");
  command->add_option("--scenarios", options->scenarios, "folder of effisha_{group,sjf,random,fig9}.toml")->capture_default_str();
  command->add_option("--host-reads", options->host_reads, "figures.json of EffiSha's flags on a GPU: its reads of host memory")
      ->capture_default_str();
  command->add_option("--time-scale", options->time_scale, "share of the cycles that schedules simulate")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1.0));
  options->add_unit(*command);
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
