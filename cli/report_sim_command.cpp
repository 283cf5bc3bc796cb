// SPDX-License-Identifier: Apache-2.0
// sluice report sim: runs what the tables and figures of SiM's evaluation need, and draws them on one page.
#include <sluice_provenance.h>

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/paper_page.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/sim_study.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : CommonOptions {
  std::string out, scenario = "configs/scenarios/sim_pairs.toml";
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
  if (!options.json)
    for (const figures::Figure& figure : drawn)
      fmt::print("{:<10} published: {}\n{:<10} model:     {}\n", figure.id, figure.published, "", figure.measured);
  nlohmann::ordered_json meta = {{"version", SLUICE_VERSION},
                                 {"commit", SLUICE_COMMIT},
                                 {"machine", study.machine.name},
                                 {"workload", study.workload.name},
                                 {"scenario", study.scenario.name},
                                 {"equal_ms", options.equal_ms},
                                 {"seed", options.seed},
                                 {"partitioner", options.partitioner}};
  if (host_totals().reused == 0) meta["host_cpu_seconds"] = host_totals().cpu_seconds;
  write_paper_page("SiM's evaluation on the Sluice model", drawn, meta, options.out, options.json);
  return 0;
}

}  // namespace

void add_report_sim_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  options->machine_file = "configs/machines/k40.toml";
  options->workload_file = "configs/workloads/sim.toml";
  options->partitioner = "twin";
  CLI::App* command =
      report.add_subcommand("sim", "Tables and figures of SiM (adaptive simultaneous multi-tenancy) on the model");
  command->add_option("--machine", options->machine_file, "machine description (TOML)")->capture_default_str();
  command->add_option("--workload", options->workload_file, "workload description (TOML)")->capture_default_str();
  command->add_option("--scenario", options->scenario, "pairs of its kernels (TOML)")->capture_default_str();
  command
      ->add_option("--equal-ms", options->equal_ms, "length of the kernels where all have one, ms; 0: these figures are left out")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1000.0));
  command
      ->add_option("--partitioner", options->partitioner,
                   "the Verilated RTL, its twin, or both compared at every port in every cycle")
      ->capture_default_str()
      ->check(CLI::IsMember({"rtl", "twin", "both"}));
  command->add_option("--seed", options->seed, "seed of the synthetic instruction streams")->capture_default_str();
  options->add_jobs(*command);
  options->add_json(*command);
  command->add_option("--out", options->out, "folder of index.html and figures.json; finished runs in it are not repeated")
      ->required();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
