// SPDX-License-Identifier: Apache-2.0
// sluice report slate: runs what the figures of Slate's evaluation need, and draws them on one page.
#include <sluice_provenance.h>

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/paper_page.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/slate_study.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : CommonOptions {
  std::string out, scenario = "configs/scenarios/slate_pairs.toml";
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
  check_writable(options.out);
  plan.runs_folder = std::filesystem::path(options.out) / "runs";
  const std::vector<figures::Figure> drawn = slate_study(plan);
  if (!options.json)
    for (const figures::Figure& figure : drawn)
      fmt::print("{:<8} published: {}\n{:<8} model:     {}\n", figure.id, figure.published, "", figure.measured);
  nlohmann::ordered_json meta = {{"version", SLUICE_VERSION},         {"commit", SLUICE_COMMIT},
                                 {"machine", plan.machine.name},      {"workload", plan.workload.name},
                                 {"scenario", plan.pairs.name},       {"seed", options.seed},
                                 {"partitioner", options.partitioner}};
  if (host_totals().reused == 0) meta["host_cpu_seconds"] = host_totals().cpu_seconds;
  write_paper_page("Slate's figures on the Sluice model", drawn, meta, options.out, options.json);
  return 0;
}

}  // namespace

void add_report_slate_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  options->machine_file = "configs/machines/titan_xp.toml";
  options->workload_file = "configs/workloads/slate.toml";
  options->partitioner = "twin";
  CLI::App* command = report.add_subcommand("slate", "Slate's tables I to V, figures 1, 5 and 7, beside what the paper states");
  command->add_option("--machine", options->machine_file, "machine description (TOML)")->capture_default_str();
  command->add_option("--workload", options->workload_file, "workload description (TOML)")->capture_default_str();
  command->add_option("--scenario", options->scenario, "the pairs: jobs named PAIR.1 and PAIR.2 (TOML)")->capture_default_str();
  command
      ->add_option("--partitioner", options->partitioner,
                   "the partition unit of the pairs: the Verilated RTL, its twin, or both compared at every port in every cycle")
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
