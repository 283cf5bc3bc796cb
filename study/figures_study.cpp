// SPDX-License-Identifier: Apache-2.0
#include "study/paper_studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "study/evaluation.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/policy/names.h"
#include "sw/report/paper_figures.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"

namespace sluice {

namespace {

using figures::Figure;

/// Evaluations that several figures share: each runs when it is first asked for.
class Runs {
 public:
  explicit Runs(const FiguresStudy& study) : study_(study) {}

  [[nodiscard]] const MachineConfig& machine() const { return study_.machine; }

  const EvaluationOutcome& pairs() {
    return kept("pairs", [&] { return plan(study_.machine, study_.machine_text, study_.pairs, policies(), study_.window / 10); });
  }
  const EvaluationOutcome& triples() {
    return kept("triples", [&] { return plan(study_.machine, study_.machine_text, study_.triples, policies(), 0); });
  }
  /// The pairs on a machine with one change.
  const EvaluationOutcome& variant(const std::string& name, const std::vector<std::string>& policies,
                                   const std::function<void(MachineConfig&)>& change) {
    return kept(name, [&] {
      MachineConfig changed = study_.machine;
      change(changed);
      return plan(changed, study_.machine_text + name, study_.pairs, policies, 0);
    });
  }
  /// The pairs under Warped-Slicer with one change of its settings.
  const EvaluationOutcome& tuned(const std::string& name, const std::function<void(PartitionerConfig&)>& change) {
    return kept(name, [&] {
      MachineConfig changed = study_.machine;
      change(changed.partitioner);
      EvaluationPlan made = plan(changed, study_.machine_text, study_.pairs, {kWarpedSlicer}, 0);
      made.partitioner_text = name;
      return made;
    });
  }
  const EvaluationOutcome& large() {
    return kept("large_sm", [&] {
      return plan(read_machine(study_.large_machine), machine_text(study_.large_machine), study_.pairs,
                  {kLeftOver, kEven, kWarpedSlicer}, 0);
    });
  }
  /// Warped-Slicer on the triples, never sent to Spatial: three kernels may lose all of their best.
  const EvaluationOutcome& unguarded() {
    return kept("no_guard", [&] {
      MachineConfig changed = study_.machine;
      changed.partitioner.loss_limit = 3;
      EvaluationPlan made = plan(changed, study_.machine_text, study_.triples, {kWarpedSlicer}, 0);
      made.partitioner_text = "no_guard";
      return made;
    });
  }
  /// Mixes of kernels that change in mid-run, with a threshold of the phase monitor.
  const EvaluationOutcome& monitored(double threshold) {
    const std::string name = fmt::format("monitor-{}", threshold);
    return kept(name, [&] {
      MachineConfig changed = study_.machine;
      changed.partitioner.monitor_threshold = threshold;
      EvaluationPlan made = plan(changed, study_.machine_text + name, "all", {kLeftOver, kWarpedSlicer}, 0);
      made.workload = read_workload(study_.phase_workload);
      return made;
    });
  }
  /// Figure 5: what happens in the 5,000 and in the 50,000 cycles after the warm-up of 20,000.
  std::vector<figures::PhaseSample> phases() {
    constexpr std::uint64_t kWarmUp = 20000, kShort = 5000, kLong = 50000;
    std::vector<NamedRun> runs;
    for (const KernelDescriptor& k : study_.workload.kernels) {
      for (const std::uint64_t end : {kWarmUp, kWarmUp + kShort, kWarmUp + kLong})
        runs.push_back({fmt::format("phase-{}-{}", k.name, end),
                        fmt::format("{}{} {} seed {}", study_.machine_text, format_workload({"", {k}}, ""), end, study_.seed),
                        solo_spec(study_.machine, k, end, study_.seed)});
    }
    const std::vector<RunResult> results = run_all(runs, study_.store, study_.jobs, "phases");
    std::vector<figures::PhaseSample> samples;
    for (std::size_t k = 0; k < study_.workload.kernels.size(); ++k) {
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
      samples.push_back({study_.workload.kernels[k].name, rate(soon), rate(late), stall(soon), stall(late)});
    }
    return samples;
  }

 private:
  [[nodiscard]] std::vector<std::string> policies() const {
    std::vector<std::string> all = {kLeftOver, kFcfs, kEven, kSpatial, kWarpedSlicer};
    if (study_.oracle) all.emplace_back(kOracle);
    if (study_.balance) all.emplace_back(kBalance);
    return all;
  }
  [[nodiscard]] EvaluationPlan plan(const MachineConfig& machine, const std::string& text, const std::string& mixes,
                                    const std::vector<std::string>& policies, std::uint64_t curve_window) const {
    EvaluationPlan plan;
    plan.machine = machine;
    plan.machine_text = text;
    plan.workload = study_.workload;
    plan.mixes = mixes;
    plan.policies = policies;
    plan.window = study_.window;
    plan.oracle_window = study_.oracle_window;
    plan.curve_window = curve_window;
    plan.seed = study_.seed;
    plan.partitioner = study_.partitioner;
    plan.jobs = study_.jobs;
    plan.store = study_.store;
    return plan;
  }
  template <class MakePlan>
  const EvaluationOutcome& kept(const std::string& name, const MakePlan& make_plan) {
    auto found = outcomes_.find(name);
    if (found == outcomes_.end()) found = outcomes_.emplace(name, evaluate(make_plan())).first;
    return found->second;
  }

  const FiguresStudy& study_;
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

}  // namespace

std::vector<std::string> figure_ids() {
  std::vector<std::string> ids;
  for (const auto& entry : makers()) ids.push_back(entry.first);
  return ids;
}

std::vector<Figure> figures_study(const FiguresStudy& study) {
  const auto draws = [&](const std::string& id) {
    return study.only.empty() || std::ranges::find(study.only, id) != study.only.end();
  };
  // What is wrong with the input of a later figure is said before the first one runs.
  (void)parse_mixes(study.workload, study.machine, study.pairs);
  if (draws("8") || draws("guard") || draws("9")) (void)parse_mixes(study.workload, study.machine, study.triples);
  if (draws("larger_sm")) (void)read_machine(study.large_machine);
  if (draws("monitor")) (void)read_workload(study.phase_workload);
  Runs runs(study);
  std::vector<Figure> drawn;
  for (const auto& [id, make] : makers())
    if (draws(id)) drawn.push_back(make(runs));
  return drawn;
}

}  // namespace sluice
