// SPDX-License-Identifier: Apache-2.0
// sluice report sim: runs what the tables and figures of SiM's evaluation need, and draws them on one page.
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/sim_study.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : PaperOptions {
  std::string scenario = "configs/scenarios/sim_pairs.toml", keep;
  double equal_ms = 0.25;
};

int run(const Options& options) {
  SimStudy study;
  study.machine = read_machine(options.machine_file);
  study.machine_text = machine_text(options.machine_file);
  study.workload = read_workload(options.workload_file);
  study.scenario = read_scenario(options.scenario);
  study.partitioner = options.kind();
  study.seed = options.seed;
  study.jobs = options.jobs;
  study.runs_folder = std::filesystem::path(options.out) / "runs";
  check_writable(options.out);
  nlohmann::ordered_json meta = nlohmann::ordered_json::object();
  if (!options.keep.empty()) {
    study.kept = nlohmann::ordered_json::parse(read_file(options.keep), nullptr, false);
    if (study.kept.is_discarded() || !study.kept.contains("meta")) throw InputError(options.keep + ": is no figures.json");
    meta["shares_kept"] = study.kept["meta"];
  }
  const SimOutcome paper = run_sim(study);
  std::vector<figures::Figure> drawn = {
      figures::sim_table2(study.machine),
      figures::sim_table3(paper.kernels, study.machine),
      figures::sim_spatial(paper.kernels, study.machine),
      figures::sim_example(study.machine),
      figures::sim_units(paper.kernels, study.machine),
      figures::sim_curves(paper.kernels),
      figures::sim_pairs(paper.pairs, true, false),
      figures::sim_pairs(paper.pairs, false, false),
      figures::sim_antt(paper.pairs, false),
  };
  if (options.equal_ms > 0) {
    const SimOutcome equal = run_sim(study, options.equal_ms);
    for (const bool low : {true, false}) drawn.push_back(figures::sim_pairs(equal.pairs, low, true));
    drawn.push_back(figures::sim_antt(equal.pairs, true));
  }
  nlohmann::ordered_json all = options.meta({{"machine", study.machine.name},
                                             {"workload", study.workload.name},
                                             {"scenario", study.scenario.name},
                                             {"equal_ms", options.equal_ms}});
  all.update(meta);
  write_paper_page("SiM's evaluation on the Sluice model", drawn, std::move(all), options);
  return 0;
}

}  // namespace

void add_report_sim_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      report.add_subcommand("sim", "Tables and figures of SiM (adaptive simultaneous multi-tenancy) on the model");
  options->add_inputs(*command, "configs/machines/k40.toml", "configs/workloads/sim.toml");
  command->add_option("--scenario", options->scenario, "pairs of its kernels (TOML)")->capture_default_str();
  command
      ->add_option("--keep", options->keep, "figures.json of an earlier run: the schedulers keep their shares, bounds are anew")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--equal-ms", options->equal_ms, "length of the kernels where all have one, ms; 0: these figures are left out")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1000.0));
  options->add_unit(*command);
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
