// SPDX-License-Identifier: Apache-2.0
// sluice report kernelet: pairs on the GPU model, schedules with their rates, on one page beside what the paper prints.
#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/kernelet_causes.h"
#include "study/kernelet_study.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

using figures::Figure;

struct Options : PaperOptions {
  std::string configs = "configs";
  unsigned schedules = 1000;
};

constexpr const char* kWorkloads[] = {"CI", "MI", "MIX", "ALL"};
/// Random schedules are of so many launches of each kernel: a thousand of them are to take two minutes.
constexpr std::uint32_t kRandomLaunches = 5;
/// PCIe 2.0 x16 moves 8 GB/s less packets and protocol: about 6 GB/s from pinned memory. The C2050 has 3 GB.
constexpr DeviceMemory kMemory{std::uint64_t{3} << 30, 6e9, true};
/// Inputs larger than the device together: figure 9.
constexpr double kLargeScale = 2.5;

struct Machine {
  figures::KerneletMachine names;
  KerneletRuns runs;
  CoRunTables tables;
  std::map<std::string, std::vector<double>> alone;
};

Machine measured(const Options& options, const std::string& file, figures::KerneletMachine names) {
  Machine m{std::move(names), {}, {}, {}};
  const std::filesystem::path path = std::filesystem::path(options.configs) / "machines" / (file + ".toml");
  m.runs.machine = read_machine(path);
  m.runs.machine_text = machine_text(path);
  m.runs.workload = read_workload(std::filesystem::path(options.configs) / "workloads/kernelet.toml");
  m.runs.window = options.window;
  m.runs.seed = options.seed;
  m.runs.jobs = options.jobs;
  m.runs.folder = std::filesystem::path(options.out) / "runs" / file;
  KerneletMeasurements measured = measure_co_runs(m.runs);
  m.tables = std::move(measured.tables);
  m.alone = std::move(measured.alone);
  return m;
}

class Schedules {
 public:
  Schedules(const Options& options, const Machine& machine) : options_(options), machine_(machine) {}

  [[nodiscard]] Scenario scenario(const std::string& workload) const {
    std::string file = "kernelet_" + workload;
    std::ranges::transform(file, file.begin(), [](unsigned char c) { return std::tolower(c); });
    return read_scenario(std::filesystem::path(options_.configs) / "scenarios" / (file + ".toml"));
  }
  [[nodiscard]] ScheduleTarget target(const Scenario& s) const {
    return target_of(s, machine_.runs.machine, machine_.runs.workload);
  }
  [[nodiscard]] ScheduleRun run(const Scenario& s, const char* scheduler) const {
    return schedule_on_fake(s, target(s), scheduler, {}, {machine_.tables, options_.seed});
  }
  [[nodiscard]] static double seconds(const ScheduleRun& run) { return std::chrono::duration<double>(run.makespan).count(); }

  [[nodiscard]] std::vector<figures::Makespans> case_one() const {
    std::vector<figures::Makespans> all;
    for (const char* workload : kWorkloads) {
      const Scenario s = scenario(workload);
      const ScheduleRun kernelet = run(s, "kernelet");
      const PruningCost cost = kernelet.pruning.value_or(PruningCost{});
      all.push_back({workload, seconds(run(s, "arrival")), seconds(run(s, "base")), seconds(kernelet),
                     seconds(run(s, "kernelet_opt")),
                     static_cast<double>(cost.pruned) / static_cast<double>(std::max<std::uint64_t>(1, cost.pairs)),
                     cost.lost_profit / static_cast<double>(std::max<std::uint64_t>(1, cost.decisions))});
    }
    return all;
  }

  [[nodiscard]] std::vector<figures::Cause> causes() const {
    std::vector<figures::Cause> all;
    for (const char* workload : kWorkloads) {
      const Scenario s = scenario(workload);
      for (figures::Cause cause : kernelet_causes(s, target(s), machine_.tables, machine_.alone)) {
        cause.workload = workload;
        all.push_back(std::move(cause));
      }
    }
    return all;
  }

  [[nodiscard]] Figure random() const {
    Scenario s = scenario("ALL");
    for (ScenarioJob& job : s.jobs) job.launches = kRandomLaunches;
    return figures::random_schedules(monte_carlo(s, target(s), machine_.tables, options_.schedules, options_.jobs),
                                     seconds(run(s, "kernelet")), seconds(run(s, "base")));
  }

  [[nodiscard]] std::vector<figures::CopyRun> case_two(const std::string& workload, double scale) const {
    std::vector<figures::CopyRun> all;
    Scenario s = scenario(workload);
    s.costs.memory = kMemory;
    for (ScenarioJob& job : s.jobs) {
      job.in_mib *= scale;
      job.out_mib *= scale;
      job.alone = std::chrono::duration_cast<Time>(*job.alone * scale);
    }
    for (const bool overlap : {true, false})
      for (const bool co_schedule : {true, false}) {
        s.costs.memory->overlap = overlap;
        const ScheduleRun r = run(s, co_schedule ? "kernelet" : "base");
        all.push_back({workload, scale, overlap, co_schedule, seconds(r),
                       static_cast<double>(r.copies->overlapped.count()) / static_cast<double>(r.copies->total.count())});
      }
    return all;
  }

 private:
  const Options& options_;
  const Machine& machine_;
};

Figure alone_figure(const Machine& m) {
  std::vector<figures::AloneRow> rows;
  for (const KernelDescriptor& k : m.runs.workload.kernels) {
    const CoRunKernel& figures = m.tables.executed.kernels.at(k.name);
    const std::vector<double>& curve = m.alone.at(k.name);
    const auto best = std::ranges::max_element(curve);
    rows.push_back({k.name, figures.ipc / m.runs.machine.sm.schedulers, figures.memory_utilisation,
                    static_cast<std::uint32_t>(curve.size()), static_cast<std::uint32_t>(best - curve.begin()) + 1,
                    *best / curve.back()});
  }
  return figures::kernels_alone(rows);
}

int run(const Options& options) {
  check_writable(options.out);
  std::vector<Figure> drawn;
  const auto add = [&](Figure figure) { drawn.push_back(std::move(figure)); };
  const Machine c2050 = measured(options, "c2050", {"a", "C2050", "5 to 31", "1 to 3"}),
                gtx680 = measured(options, "gtx680", {"b", "GTX 680", "7 to 23", "4 to 15"});
  for (const Machine* m : {&c2050, &gtx680}) {
    const nlohmann::ordered_json pairs = {{"machine", m->runs.machine.name},
                                          {"predicted", to_json(m->tables.predicted)},
                                          {"executed", to_json(m->tables.executed)}};
    write_file_atomically(std::filesystem::path(options.out) / ("pairs_" + m->runs.machine.name + ".json"), pairs.dump(1) + "\n");
  }
  const Schedules schedules(options, c2050);
  add(alone_figure(c2050));
  for (const Machine* m : {&c2050, &gtx680}) add(figures::pair_prediction(m->names, pair_points(m->tables, m->runs.machine)));
  for (const Machine* m : {&c2050, &gtx680}) add(figures::total_times(m->names, Schedules(options, *m).case_one()));
  add(figures::causes(schedules.causes()));
  add(schedules.random());
  std::vector<figures::CopyRun> copies;
  for (const char* workload : kWorkloads)
    for (const figures::CopyRun& r : schedules.case_two(workload, 1)) copies.push_back(r);
  add(figures::copy_variants(copies));
  std::vector<figures::CopyRun> scales;
  std::ranges::copy_if(copies, std::back_inserter(scales), [](const figures::CopyRun& r) { return r.workload == "MIX"; });
  for (const figures::CopyRun& r : schedules.case_two("MIX", kLargeScale)) scales.push_back(r);
  add(figures::copy_scales(scales));
  add(figures::pruning(pruning_points(c2050.tables, c2050.runs)));
  nlohmann::ordered_json meta =
      options.meta({{"machines", "c2050, gtx680"}, {"workload", "kernelet"}, {"window_cycles", options.window}});
  meta["random_schedules"] = options.schedules;
  write_paper_page("Kernelet's figures on the Sluice model", drawn, std::move(meta), options);
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
