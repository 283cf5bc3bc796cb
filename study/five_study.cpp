// SPDX-License-Identifier: Apache-2.0
#include "study/paper_studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "study/schedule_model.h"
#include "sw/core/errors.h"
#include "sw/policy/names.h"
#include "sw/workload/mix.h"

namespace sluice {

namespace {

/// Whose each scheduler is. Not here: `static`, which needs counts, and what has to be searched.
struct Row {
  std::string_view scheduler, system;
};
constexpr std::string_view kBaseline = "arrival";
constexpr std::string_view kPrinted = "kernelet", kMeasured = "kernelet_opt";
constexpr std::int32_t kLonger = 10, kShorter = 20;  // priorities
constexpr Row kRows[] = {
    {kBaseline, "one after the other"},
    {kLeftOver, "hardware of today"},
    {"rr", "EffiSha's baseline"},
    {"prio_np", "EffiSha's baseline"},
    {"piv", "EffiSha"},
    {"dprr", "EffiSha"},
    {"pt", "SiM's baseline"},
    {"adaptive", "SiM"},
    {kPrinted, "Kernelet as printed: rates predicted from each kernel alone"},
    {kMeasured, "Kernelet with measured rates of pairs"},
    {"slate", "Slate as printed: its table I"},
    {"slate_measured", "Slate with measured ranges"},
    {kFcfs, "in turn"},
    {kEven, "even shares"},
    {kSpatial, "ranges of SMs"},
    {kWarpedSlicer, "Warped-Slicer"},
    {kBalance, "ours: partitions measured side by side"},
};

/// Two kernels that arrive together; the shorter one has the higher priority.
Scenario pair_scenario(const Mix& mix, const std::map<std::string, RunResult>& alone) {
  const auto cycles = [&](const KernelDescriptor& kernel) { return alone.at(kernel.name).cycles; };
  const Cycles longest = std::max(cycles(mix.kernels.front()), cycles(mix.kernels.back()));
  Scenario scenario;
  scenario.file = scenario.name = mix.name();
  for (const KernelDescriptor& kernel : mix.kernels) {
    ScenarioJob& job = scenario.jobs.emplace_back();
    job.name = job.kernel = kernel.name;
    const std::int32_t priority = cycles(kernel) < longest ? kShorter : kLonger;
    job.asked = {priority, priority};
  }
  return scenario;
}

using figures::SchedulerScenes;

/// Scenes of each row, run now or kept, in the order of the rows.
std::vector<SchedulerScenes> in_order(const std::vector<SchedulerScenes>& run, const std::vector<SchedulerScenes>& kept) {
  std::vector<SchedulerScenes> all;
  for (const Row& row : kRows)
    for (const auto* from : {&run, &kept}) {
      const auto found = std::ranges::find(*from, row.scheduler, &SchedulerScenes::scheduler);
      if (found == from->end()) continue;
      all.push_back(*found);
      all.back().system = row.system;
      break;
    }
  return all;
}

/// What is kept is of the same machine, work and code: the baseline, which is run each time, has the same times.
void check_same(const std::vector<SchedulerScenes>& run, const std::vector<SchedulerScenes>& kept) {
  const auto now = std::ranges::find(run, kBaseline, &SchedulerScenes::scheduler);
  const auto then = std::ranges::find(kept, kBaseline, &SchedulerScenes::scheduler);
  if (then == kept.end()) return;
  for (const auto& [name, scene] : now->scenes) {
    const auto found = std::ranges::find(then->scenes, name, &std::pair<std::string, figures::SceneFigures>::first);
    if (found == then->scenes.end() || found->second.makespan != scene.makespan)
      throw InputError(fmt::format("the kept figures: scene {}: is not there or took another time under {}", name, kBaseline));
  }
}

std::vector<SchedulerScenes> kept_of(const FiveStudy& study, const char* figure) {
  if (study.kept.is_null()) return {};
  try {
    return figures::read_schedulers(study.kept.at("figures").at(figure).at("data"));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("the kept figures: {}", error.what()));
  }
}

}  // namespace

std::vector<std::string> five_schedulers() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.scheduler);
  return names;
}

std::vector<figures::Figure> five_study(const FiveStudy& study) {
  const std::vector<SchedulerScenes> kept_pairs = kept_of(study, "pairs"), kept_arrivals = kept_of(study, "arrivals");
  (void)parse_mixes(study.workload, study.machine, study.pairs);  // what is wrong is said before anything runs
  (void)target_of(study.arrivals, study.machine, study.workload);
  Workload workload = study.workload;
  for (KernelDescriptor& kernel : workload.kernels)
    kernel.grid_ctas = std::max(1U, static_cast<std::uint32_t>(std::lround(study.scale * kernel.grid_ctas)));
  const auto runs = [&](std::string_view scheduler) {
    return scheduler == kBaseline || std::ranges::find(study.schedulers, scheduler) != study.schedulers.end();
  };
  ModelSetting setting{study.partitioner, study.seed, study.jobs, {}, study.store, study.machine_text};
  if (runs(kPrinted) || runs(kMeasured)) {
    KerneletRuns rates{static_cast<const PaperRun&>(study)};
    rates.workload = workload;
    setting.co_runs = measure_co_runs(rates).tables;
  }
  ScheduleOnModel model(std::move(setting));
  const auto& alone = model.measure_alone({study.machine, workload.kernels});
  std::vector<Scenario> pairs;
  for (const Mix& mix : parse_mixes(workload, study.machine, study.pairs)) pairs.push_back(pair_scenario(mix, alone));
  std::vector<ScheduleCase> cases;
  const auto add = [&](const Scenario& scenario, std::string_view scheduler) {
    cases.push_back({fmt::format("{}-{}", scenario.name, scheduler), scenario, target_of(scenario, study.machine, workload),
                     std::string(scheduler)});
  };
  for (const Row& row : kRows) {
    if (!runs(row.scheduler)) continue;
    for (const Scenario& pair : pairs) add(pair, row.scheduler);
    add(study.arrivals, row.scheduler);
  }
  const std::vector<ScheduleRun> results = model.run(cases);
  std::vector<SchedulerScenes> of_pairs, of_arrivals;
  auto next = results.begin();
  for (const Row& row : kRows) {
    if (!runs(row.scheduler)) continue;
    SchedulerScenes& scenes = of_pairs.emplace_back(SchedulerScenes{std::string(row.scheduler), {}, {}});
    for (const Scenario& pair : pairs) scenes.scenes.emplace_back(pair.name, figures::scene_figures(*next++));
    of_arrivals.push_back({scenes.scheduler, {}, {{study.arrivals.name, figures::scene_figures(*next++)}}});
  }
  check_same(of_pairs, kept_pairs);
  check_same(of_arrivals, kept_arrivals);
  const std::string baseline(kBaseline);
  return {figures::schedulers_compared(
              "pairs", fmt::format("{} pairs, both there from the start, the shorter one of higher priority", pairs.size()),
              in_order(of_pairs, kept_pairs), baseline),
          figures::schedulers_compared("arrivals", study.arrivals.name + ": jobs that come one after the other",
                                       in_order(of_arrivals, kept_arrivals), baseline)};
}

}  // namespace sluice
