// SPDX-License-Identifier: Apache-2.0
// sluice report five: every scheduler and policy on the same work, on the GPU model.
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/five_study.h"
#include "study/published.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string pairs = "all", scenario = "configs/scenarios/five_mixed.toml", keep;
  std::vector<std::string> schedulers = five_schedulers();
  double scale = 0.25;
};

int run(const Options& options) {
  check_output(options.out);
  FiveStudy study;
  study.machine = read_machine(options.machine_file);
  study.machine_text = machine_text(options.machine_file);
  study.workload = read_workload(options.workload_file);
  study.scale = options.scale;
  study.pairs = options.pairs;
  study.arrivals = read_scenario(options.scenario);
  study.schedulers = options.schedulers;
  study.partitioner = options.kind();
  study.seed = options.seed;
  study.jobs = options.jobs;
  study.runs_folder = std::filesystem::path(options.out) / "runs";
  nlohmann::ordered_json meta = options.meta(
      {{"machine", study.machine.name}, {"workload", options.workload_name()}, {"share_of_each_grid", options.scale}});
  if (!options.keep.empty()) {
    study.kept = nlohmann::ordered_json::parse(read_file(options.keep), nullptr, false);
    if (study.kept.is_discarded() || !study.kept.contains("meta")) throw InputError(options.keep + ": is no figures.json");
    meta["run_now"] = options.schedulers;
    meta["kept"] = study.kept["meta"];
  }
  write_paper_page(five_study(study), std::move(meta), options);
  return 0;
}

}  // namespace

void add_report_five_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = report.add_subcommand("five", "Every scheduler and policy on the same pairs and the same arrivals");
  options->add_inputs(*command, "configs/machines/fermi_table1.toml", "configs/workloads/table2.toml");
  command->add_option("--scenario", options->scenario, "jobs that arrive over time (TOML)")->capture_default_str();
  command->add_option("--pairs", options->pairs, "mixes, as for sluice eval")->capture_default_str();
  command->add_option("--schedulers", options->schedulers, "which are run, with commas; all without it")
      ->delimiter(',')
      ->check(CLI::IsMember(five_schedulers()));
  command->add_option("--keep", options->keep, "figures.json of an earlier run: the other schedulers keep their lines")
      ->check(CLI::ExistingFile);
  command->add_option("--scale", options->scale, "share of each kernel's grid that is run")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1.0));
  options->add_unit(*command);
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
