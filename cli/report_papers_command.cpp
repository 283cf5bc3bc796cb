// SPDX-License-Identifier: Apache-2.0
// sluice report PAPER: runs what the figures of a paper's evaluation need, and draws them on one page beside what the paper
// states.
#include <fmt/format.h>
#include <sluice_provenance.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/evaluation.h"
#include "study/paper_studies.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_file.h"
#include "sw/report/views.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Options of all `sluice report PAPER`; each paper has some of them.
struct PaperOptions : CommonOptions {
  std::string out;  ///< folder of the page and of its kept runs
  std::string scenario, scenarios = "configs/scenarios", configs = "configs", keep,
                        host_reads = "results/h100/effisha/figures.json";
  std::string pairs = "all", triples = "triples", large_machine = "configs/machines/large_sm.toml",
              phase_workload = "configs/workloads/phases.toml";
  std::vector<std::string> only, schedulers = five_schedulers();
  double time_scale = 0.05, scale = 0.25, equal_ms = 0.25;
  unsigned schedules = 1000;
  bool oracle = false, balance = false;

  [[nodiscard]] std::string workload_name() const { return fs::path(workload_file).stem().string(); }

  /// A study with what all have. Nothing is run before it is known that results can be kept.
  template <class Study>
  [[nodiscard]] Study study() const {
    check_output(out);
    Study study;
    study.machine = read_machine(machine_file);
    study.machine_text = machine_text(machine_file);
    study.workload = read_workload(workload_file);
    study.partitioner = kind();
    study.seed = seed;
    study.jobs = jobs;
    study.store = fs::path(out) / "runs.sqlite";
    return study;
  }

  CLI::Option* add_share(CLI::App& app, const char* name, double& share, const char* what) const {
    return app.add_option(name, share, what)->capture_default_str()->check(CLI::Range(0.001, 1.0));
  }
};

/// A paper's figures, and what `meta` of their page says of the run.
struct PaperFigures {
  std::vector<figures::Figure> figures;
  ordered_json run, more = ordered_json::object();  ///< before seed and partitioner; behind them
};

struct Paper {
  const char *name, *help, *machine, *workload, *partitioner;
  void (*add)(CLI::App&, PaperOptions&);  ///< its own options
  PaperFigures (*draw)(const PaperOptions&);
};

void add_warped_slicer(CLI::App& app, PaperOptions& o) {
  app.add_option("--large-machine", o.large_machine, "machine with the larger SM")->capture_default_str();
  app.add_option("--phase-workload", o.phase_workload, "kernels that change in mid-run, for the phase monitor")
      ->capture_default_str();
  o.add_run(app);
  CLI::Option* oracle_window = o.add_oracle(app);
  app.add_option("--only", o.only, "some figures, e.g. 3a,10b; default all")->delimiter(',')->check(CLI::IsMember(figure_ids()));
  app.add_option("--pairs", o.pairs, "mixes of the figures about pairs")->capture_default_str();
  app.add_option("--triples", o.triples, "mixes of the figures about triples")->capture_default_str();
  oracle_window->needs(
      app.add_flag("--oracle", o.oracle, "pairs and triples with the best of all partitions (over a thousand runs more)"));
  app.add_flag("--balance", o.balance, "pairs and triples under our own policy as well (partitioner twin)");
}
PaperFigures draw_warped_slicer(const PaperOptions& o) {
  auto study = o.study<FiguresStudy>();
  study.window = o.window;
  study.oracle_window = o.oracle_window;
  study.pairs = o.pairs;
  study.triples = o.triples;
  study.large_machine = o.large_machine;
  study.phase_workload = o.phase_workload;
  study.oracle = o.oracle;
  study.balance = o.balance;
  study.only = o.only;
  ordered_json more = {{"pairs", o.pairs}};
  if (o.oracle) more["oracle_window_cycles"] = o.oracle_window == 0 ? search_window(o.window) : o.oracle_window;
  return {figures_study(study),
          {{"machine", study.machine.name}, {"workload", o.workload_name()}, {"window_cycles", o.window}},
          std::move(more)};
}

void add_effisha(CLI::App& app, PaperOptions& o) {
  app.add_option("--scenarios", o.scenarios, "folder of effisha_{group,sjf,random,fig9}.toml")->capture_default_str();
  app.add_option("--host-reads", o.host_reads, "figures.json of EffiSha's flags on a GPU: its reads of host memory")
      ->capture_default_str();
  o.add_share(app, "--time-scale", o.time_scale, "share of the cycles that schedules simulate");
  o.add_unit(app);
}
PaperFigures draw_effisha(const PaperOptions& o) {
  auto plan = o.study<EffishaPlan>();
  plan.workload_text = machine_text(o.workload_file);
  plan.scenarios = o.scenarios;
  plan.time_scale = o.time_scale;
  if (fs::exists(o.host_reads)) plan.reads_per_us = host_reads_per_us(o.host_reads);
  return {effisha_study(plan),
          {{"machine", plan.machine.name}, {"workload", o.workload_name()}},
          {{"time_scale_of_schedules", o.time_scale}}};
}

void add_five(CLI::App& app, PaperOptions& o) {
  o.scenario = "configs/scenarios/five_mixed.toml";
  app.add_option("--scenario", o.scenario, "jobs that arrive over time (TOML)")->capture_default_str();
  app.add_option("--pairs", o.pairs, "mixes, as for sluice eval")->capture_default_str();
  app.add_option("--schedulers", o.schedulers, "which are run, with commas; all without it")
      ->delimiter(',')
      ->check(CLI::IsMember(five_schedulers()));
  app.add_option("--keep", o.keep, "figures.json of an earlier run: the other schedulers keep their lines")
      ->check(CLI::ExistingFile);
  o.add_share(app, "--scale", o.scale, "share of each kernel's grid that is run");
  o.add_unit(app);
}
PaperFigures draw_five(const PaperOptions& o) {
  auto study = o.study<FiveStudy>();
  study.scale = o.scale;
  study.pairs = o.pairs;
  study.arrivals = read_scenario(o.scenario);
  study.schedulers = o.schedulers;
  ordered_json more = ordered_json::object();
  if (!o.keep.empty()) {
    study.kept = ordered_json::parse(read_file(o.keep), nullptr, false);
    if (study.kept.is_discarded() || !study.kept.contains("meta")) throw InputError(o.keep + ": is no figures.json");
    more = {{"run_now", o.schedulers}, {"kept", study.kept["meta"]}};
  }
  return {five_study(study),
          {{"machine", study.machine.name}, {"workload", o.workload_name()}, {"share_of_each_grid", o.scale}},
          std::move(more)};
}

void add_sim(CLI::App& app, PaperOptions& o) {
  o.scenario = "configs/scenarios/sim_pairs.toml";
  app.add_option("--scenario", o.scenario, "pairs of its kernels (TOML)")->capture_default_str();
  app.add_option("--equal-ms", o.equal_ms, "length of the kernels where all have one, ms; 0: these figures are left out")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1000.0));
  o.add_unit(app);
}
PaperFigures draw_sim(const PaperOptions& o) {
  auto study = o.study<SimStudy>();
  study.scenario = read_scenario(o.scenario);
  return {sim_study(study, o.equal_ms),
          {{"machine", study.machine.name},
           {"workload", study.workload.name},
           {"scenario", study.scenario.name},
           {"equal_ms", o.equal_ms}}};
}

void add_slate(CLI::App& app, PaperOptions& o) {
  o.scenario = "configs/scenarios/slate_pairs.toml";
  app.add_option("--scenario", o.scenario, "the pairs: jobs named PAIR.1 and PAIR.2 (TOML)")->capture_default_str();
  o.add_unit(app);
}
PaperFigures draw_slate(const PaperOptions& o) {
  auto plan = o.study<SlateStudyPlan>();
  plan.pairs = read_scenario(o.scenario);
  return {slate_study(plan), {{"machine", plan.machine.name}, {"workload", plan.workload.name}, {"scenario", plan.pairs.name}}};
}

void add_kernelet(CLI::App& app, PaperOptions& o) {
  o.window = 100000;
  app.add_option("--configs", o.configs, "folder of machines/{c2050,gtx680}.toml, workloads/ and scenarios/kernelet_*.toml")
      ->capture_default_str();
  app.add_option("--window", o.window, "cycles of each pair on the GPU model")
      ->capture_default_str()
      ->check(CLI::Range(1000, 1000000000));
  app.add_option("--schedules", o.schedules, "random schedules of figure 7")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--seed", o.seed, "seed of the synthetic instruction streams")->capture_default_str();
}
KerneletMachine kernelet_machine(PaperOptions o, const std::string& file, figures::KerneletMachine names) {
  o.machine_file = (fs::path(o.configs) / "machines" / (file + ".toml")).string();
  o.workload_file = (fs::path(o.configs) / "workloads/kernelet.toml").string();
  auto runs = o.study<KerneletRuns>();
  runs.window = o.window;
  KerneletMachine machine = measured(std::move(runs), std::move(names));
  const ordered_json pairs = {{"machine", machine.runs.machine.name},
                              {"predicted", to_json(machine.tables.predicted)},
                              {"executed", to_json(machine.tables.executed)}};
  write_file_atomically(fs::path(o.out) / ("pairs_" + machine.runs.machine.name + ".json"), pairs.dump(1) + "\n");
  return machine;
}
PaperFigures draw_kernelet(const PaperOptions& o) {
  const fs::path configs(o.configs);
  for (const char* machine : {"c2050.toml", "gtx680.toml"}) (void)read_machine(configs / "machines" / machine);
  for (const char* jobs : {"ci", "mi", "mix", "all"})
    (void)read_scenario(configs / "scenarios" / fmt::format("kernelet_{}.toml", jobs));
  const KerneletMachine c2050 = kernelet_machine(o, "c2050", {"a", "C2050", "5 to 31", "1 to 3"}),
                        gtx680 = kernelet_machine(o, "gtx680", {"b", "GTX 680", "7 to 23", "4 to 15"});
  const KerneletPlan plan{configs / "scenarios", o.schedules, o.seed, o.jobs};
  return {kernelet_figures(plan, c2050, gtx680),
          {{"machines", "c2050, gtx680"}, {"workload", "kernelet"}, {"window_cycles", o.window}},
          {{"random_schedules", o.schedules}}};
}

constexpr const char *kFermi = "configs/machines/fermi_table1.toml", *kK40 = "configs/machines/k40.toml";
constexpr const char* kTable2 = "configs/workloads/table2.toml";
constexpr Paper kPapers[] = {
    {"figures", "Warped-Slicer's figures 1 to 10, the larger SM and energy, beside what the paper states", kFermi, kTable2, "rtl",
     add_warped_slicer, draw_warped_slicer},
    {"five", "Every scheduler and policy on the same pairs and the same arrivals", kFermi, kTable2, "twin", add_five, draw_five},
    {"sim", "Tables and figures of SiM (adaptive simultaneous multi-tenancy) on the model", kK40, "configs/workloads/sim.toml",
     "twin", add_sim, draw_sim},
    {"slate", "Slate's tables I to V, figures 1, 5 and 7, beside what the paper states", "configs/machines/titan_xp.toml",
     "configs/workloads/slate.toml", "twin", add_slate, draw_slate},
    {"kernelet", "Kernelet's figures 5 to 9, beside what the paper's text prints", nullptr, nullptr, "twin", add_kernelet,
     draw_kernelet},
    {"effisha", "EffiSha's tables and figures beside what the paper states", kK40, "configs/workloads/effisha.toml", "twin",
     add_effisha, draw_effisha}};

/// `figures.json` and `index.html` in the folder. On standard output the JSON, or what the paper prints beside what was measured
/// where a sentence says it, how many runs were made, and where the page is.
int run(const Paper& paper, const PaperOptions& options) {
  const PaperFigures drawn = paper.draw(options);
  ordered_json meta = {{"version", SLUICE_VERSION}, {"commit", SLUICE_COMMIT}};
  meta.update(drawn.run);
  meta.update({{"seed", options.seed}, {"partitioner", options.partitioner}});
  meta.update(drawn.more);
  if (host_totals().reused == 0) meta["host_cpu_seconds"] = host_totals().cpu_seconds;
  const fs::path out = options.out;
  const ordered_json all = figures::page_json(drawn.figures, meta);
  write_file_atomically(out / "figures.json", all.dump(1) + "\n");
  write_file_atomically(out / "index.html", report::html(figures::page_of(all)));
  if (options.json) {
    fmt::print("{}\n", all.dump());
    return 0;
  }
  for (const figures::Figure& figure : drawn.figures) {
    fmt::print("{:<10} published: {}\n", figure.id, figure.published);
    if (!figure.measured.empty()) fmt::print("{:<10} model:     {}\n", "", figure.measured);
  }
  fmt::print("{} runs ({} kept from before), {:.0f} CPU s\npage: {}\n", host_totals().runs, host_totals().reused,
             host_totals().cpu_seconds, (out / "index.html").string());
  return 0;
}

}  // namespace

void add_report_papers(CLI::App& report, Action& action) {
  for (const Paper& paper : kPapers) {
    auto options = std::make_shared<PaperOptions>();
    options->partitioner = paper.partitioner;
    CLI::App* command = report.add_subcommand(paper.name, paper.help);
    if (paper.machine != nullptr) {
      options->machine_file = paper.machine;
      options->workload_file = paper.workload;
      command->add_option("--machine", options->machine_file, "machine description (TOML)")->capture_default_str();
      command->add_option("--workload", options->workload_file, "workload description (TOML)")->capture_default_str();
    }
    paper.add(*command, *options);
    options->add_jobs(*command);
    options->add_json(*command);
    command->add_option("--out", options->out, "folder of index.html and figures.json; finished runs in it are not repeated")
        ->required();
    command->callback([&paper, options, &action] { action = [&paper, options] { return run(paper, *options); }; });
  }
}

}  // namespace sluice::cli
