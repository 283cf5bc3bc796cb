// SPDX-License-Identifier: Apache-2.0
// sluice report figures: runs what the figures of Warped-Slicer's evaluation need, and draws them on one page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/paper_page.h"
#include "study/evaluation.h"
#include "study/published.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/policy/names.h"
#include "sw/report/figures.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

using figures::Figure;

struct Options : PaperOptions {
  std::string only, pairs = "all", triples = "triples", large_machine = "configs/machines/large_sm.toml",
                    phase_workload = "configs/workloads/phases.toml";
  bool oracle = false;
};

/// Evaluations that several figures share: each runs when it is first asked for.
class Runs {
 public:
  explicit Runs(const Options& options)
      : options_(options),
        machine_(read_machine(options.machine_file)),
        machine_text_(machine_text(options.machine_file)),
        workload_(read_workload(options.workload_file)) {}

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }

  const EvaluationOutcome& pairs() {
    return kept("pairs", [&] { return plan(machine_, machine_text_, options_.pairs, policies(), options_.window / 10); });
  }
  const EvaluationOutcome& triples() {
    return kept("triples", [&] { return unchanged_alone(plan(machine_, machine_text_, options_.triples, policies(), 0)); });
  }
  /// The pairs on a machine with one change.
  const EvaluationOutcome& variant(const std::string& name, const std::vector<std::string>& policies,
                                   const std::function<void(MachineConfig&)>& change) {
    return kept(name, [&] {
      MachineConfig changed = machine_;
      change(changed);
      return plan(changed, machine_text_ + name, options_.pairs, policies, 0);
    });
  }
  /// The pairs under Warped-Slicer with one change of its settings.
  const EvaluationOutcome& tuned(const std::string& name, const std::function<void(PartitionerConfig&)>& change) {
    return kept(name, [&] {
      MachineConfig changed = machine_;
      change(changed.partitioner);
      EvaluationPlan made = plan(changed, machine_text_, options_.pairs, {kWarpedSlicer}, 0);
      made.partitioner_text = name;
      return unchanged_alone(std::move(made));
    });
  }
  const EvaluationOutcome& large() {
    return kept("large_sm", [&] {
      return plan(read_machine(options_.large_machine), machine_text(options_.large_machine), options_.pairs,
                  {kLeftOver, kEven, kWarpedSlicer}, 0);
    });
  }
  /// Warped-Slicer on the triples, never sent to Spatial: three kernels may lose all of their best.
  const EvaluationOutcome& unguarded() {
    return kept("no_guard", [&] {
      MachineConfig changed = machine_;
      changed.partitioner.loss_limit = 3;
      EvaluationPlan made = plan(changed, machine_text_, options_.triples, {kWarpedSlicer}, 0);
      made.partitioner_text = "no_guard";
      return unchanged_alone(std::move(made));
    });
  }
  /// Mixes of kernels that change in mid-run, with a threshold of the phase monitor.
  const EvaluationOutcome& monitored(double threshold) {
    const std::string name = fmt::format("monitor-{}", threshold);
    return kept(name, [&] {
      MachineConfig changed = machine_;
      changed.partitioner.monitor_threshold = threshold;
      EvaluationPlan made = plan(changed, machine_text_ + name, "all", {kLeftOver, kWarpedSlicer}, 0);
      made.workload = read_workload(options_.phase_workload);
      return made;
    });
  }
  /// Figure 5: what happens in the 5,000 and in the 50,000 cycles after the warm-up of 20,000.
  std::vector<figures::PhaseSample> phases() {
    constexpr std::uint64_t kWarmUp = 20000, kShort = 5000, kLong = 50000;
    std::vector<NamedRun> runs;
    for (const KernelDescriptor& k : workload_.kernels) {
      for (const std::uint64_t end : {kWarmUp, kWarmUp + kShort, kWarmUp + kLong})
        runs.push_back({fmt::format("phase-{}-{}", k.name, end),
                        fmt::format("{}{} {} seed {}", machine_text_, format_workload({"", {k}}, ""), end, options_.seed),
                        solo_spec(machine_, k, end, options_.seed)});
    }
    const std::vector<RunResult> results = run_all(runs, folder("phases"), options_.jobs, "phases");
    std::vector<figures::PhaseSample> samples;
    for (std::size_t k = 0; k < workload_.kernels.size(); ++k) {
      const RunResult& at = results[3 * k];
      const auto rate = [&](const RunResult& later) {
        return static_cast<double>(later.total.thread_instructions - at.total.thread_instructions) /
               static_cast<double>(later.cycles.value() - at.cycles.value());
      };
      const auto stall = [&](const RunResult& later) {
        return static_cast<double>(later.stalls.long_memory - at.stalls.long_memory) /
               static_cast<double>(later.sm_cycles - at.sm_cycles);
      };
      const RunResult &soon = results[3 * k + 1], &late = results[3 * k + 2];
      samples.push_back({workload_.kernels[k].name, rate(soon), rate(late), stall(soon), stall(late)});
    }
    return samples;
  }

 private:
  [[nodiscard]] std::vector<std::string> policies() const {
    std::vector<std::string> all = {kLeftOver, kFcfs, kEven, kSpatial, kWarpedSlicer};
    if (options_.oracle) all.emplace_back(kOracle);
    return all;
  }
  [[nodiscard]] std::filesystem::path folder(const std::string& name) const {
    return std::filesystem::path(options_.out) / "runs" / name;
  }
  [[nodiscard]] EvaluationPlan plan(const MachineConfig& machine, const std::string& text, const std::string& mixes,
                                    const std::vector<std::string>& policies, std::uint64_t curve_window) const {
    EvaluationPlan plan;
    plan.machine = machine;
    plan.machine_text = text;
    plan.workload = workload_;
    plan.mixes = mixes;
    plan.policies = policies;
    plan.window = options_.window;
    plan.oracle_window = options_.oracle_window;
    plan.curve_window = curve_window;
    plan.seed = options_.seed;
    plan.partitioner = options_.kind();
    plan.jobs = options_.jobs;
    return plan;
  }
  /// The kernels alone run as they do for the pairs.
  [[nodiscard]] EvaluationPlan unchanged_alone(EvaluationPlan made) const {
    made.solos_folder = folder("pairs");
    return made;
  }
  template <class MakePlan>
  const EvaluationOutcome& kept(const std::string& name, const MakePlan& make_plan) {
    auto found = outcomes_.find(name);
    if (found == outcomes_.end()) {
      EvaluationPlan plan = make_plan();
      plan.runs_folder = folder(name);
      found = outcomes_.emplace(name, evaluate(plan)).first;
    }
    return found->second;
  }

  const Options& options_;
  MachineConfig machine_;
  std::string machine_text_;
  Workload workload_;
  std::map<std::string, EvaluationOutcome> outcomes_;
};

Figure profile_figure(Runs& runs) {
  std::vector<figures::Variant> variants = {{"5 K cycles", &runs.pairs().results}};
  for (const std::uint32_t cycles : {10240U, 65535U})
    variants.push_back(
        {cycles == 65535 ? "64 K cycles" : "10 K cycles",
         &runs.tuned(fmt::format("profile-{}", cycles), [&](PartitionerConfig& p) { p.profile_cycles = cycles; }).results});
  for (const std::uint32_t delay : {1000U, 5000U, 10000U})
    variants.push_back(
        {fmt::format("delay {} K", delay / 1000),
         &runs.tuned(fmt::format("delay-{}", delay), [&](PartitionerConfig& p) { p.algorithm_delay = delay; }).results, 0.015});
  return figures::profiling_sensitivity(variants);
}

Figure scheduler_figure(Runs& runs) {
  const std::vector<std::string> policies = {kLeftOver, kWarpedSlicer};
  const auto with = [&](const char* name, WarpSchedulerKind kind) {
    if (kind == runs.machine().sm.scheduler) return &runs.pairs().results;
    return &runs.variant(name, policies, [&](MachineConfig& m) { m.sm.scheduler = kind; }).results;
  };
  return figures::scheduler_sensitivity({{"greedy-then-oldest", with("gto", WarpSchedulerKind::Gto)},
                                         {"loose round robin", with("lrr", WarpSchedulerKind::Lrr)},
                                         {"two-level", with("two_level", WarpSchedulerKind::TwoLevel)}});
}

constexpr double kMonitorThreshold = 0.5;

using Maker = std::function<Figure(Runs&)>;
const std::vector<std::pair<std::string, Maker>>& makers() {
  static const std::vector<std::pair<std::string, Maker>> table = {
      {"1", [](Runs& r) { return figures::stalls_alone(r.pairs().solos); }},
      {"3a", [](Runs& r) { return figures::occupancy_curves(r.pairs().results); }},
      {"5", [](Runs& r) { return figures::phase_stability(r.phases()); }},
      {"6", [](Runs& r) { return figures::pair_performance(r.pairs().results); }},
      {"7a", [](Runs& r) { return figures::utilization(r.pairs().results); }},
      {"7b", [](Runs& r) { return figures::miss_rates(r.pairs().results); }},
      {"7c", [](Runs& r) { return figures::stalls_together(r.pairs().results); }},
      {"8", [](Runs& r) { return figures::triple_performance(r.triples().results); }},
      {"guard", [](Runs& r) { return figures::triples_without_guard(r.triples().results, r.unguarded().results); }},
      {"9", [](Runs& r) { return figures::fairness(r.pairs().results, r.triples().results); }},
      {"10a", profile_figure},
      {"10b", scheduler_figure},
      {"monitor", [](Runs& r) { return figures::phase_monitor(r.monitored(0).results, r.monitored(kMonitorThreshold).results); }},
      {"larger_sm", [](Runs& r) { return figures::larger_sm(r.large().results); }},
      {"energy", [](Runs& r) { return figures::energy(r.pairs().results, r.pairs().solos, r.machine()); }},
  };
  return table;
}

int run(const Options& options) {
  std::vector<std::string> wanted = split_list(options.only);
  for (const std::string& id : wanted) {
    if (std::ranges::find(makers(), id, [](const auto& entry) { return entry.first; }) == makers().end()) {
      std::vector<std::string> ids;
      for (const auto& entry : makers()) ids.push_back(entry.first);
      throw InputError(fmt::format("--only {}: must be of {}", id, fmt::join(ids, ", ")));
    }
  }
  check_output(options.out);
  Runs runs(options);
  std::vector<Figure> drawn;
  nlohmann::ordered_json meta =
      options.meta({{"machine", runs.machine().name}, {"workload", options.workload_name()}, {"window_cycles", options.window}});
  meta["pairs"] = options.pairs;
  if (options.oracle)
    meta["oracle_window_cycles"] = options.oracle_window == 0 ? search_window(options.window) : options.oracle_window;
  for (const auto& [id, make] : makers()) {
    if (!wanted.empty() && std::ranges::find(wanted, id) == wanted.end()) continue;
    drawn.push_back(make(runs));
  }
  write_paper_page(drawn, std::move(meta), options);
  return 0;
}

}  // namespace

void add_figures_command(CLI::App& report, Action& action) {
  auto options = std::make_shared<Options>();
  options->partitioner = "rtl";
  CLI::App* command =
      report.add_subcommand("figures", "Warped-Slicer's figures 1 to 10, the larger SM and energy, beside what the paper states");
  options->add_inputs(*command, "configs/machines/fermi_table1.toml", "configs/workloads/table2.toml");
  command->add_option("--large-machine", options->large_machine, "machine with the larger SM")->capture_default_str();
  command->add_option("--phase-workload", options->phase_workload, "kernels that change in mid-run, for the phase monitor")
      ->capture_default_str();
  options->add_run(*command);
  CLI::Option* oracle_window = options->add_oracle(*command);
  command->add_option("--only", options->only, "some figures, e.g. 3a,10b; default all");
  command->add_option("--pairs", options->pairs, "mixes of the figures about pairs")->capture_default_str();
  command->add_option("--triples", options->triples, "mixes of the figures about triples")->capture_default_str();
  oracle_window->needs(command->add_flag("--oracle", options->oracle,
                                         "pairs and triples with the best of all partitions (over a thousand runs more)"));
  options->add_page(*command);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
