// SPDX-License-Identifier: Apache-2.0
#include "study/kernelet_causes.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

constexpr double kStandsStill = 1e-6;  ///< of a rate: no pair gains with it
constexpr Time kLongSlice = std::chrono::milliseconds(50);

using Names = std::pair<std::string, std::string>;

/// Sum of the speeds of both kernels, 1 = alone: highest where the profit is.
double throughput(const CoRunTable& table, const Names& names, const CoRun& run) {
  return run.ipc[0] / table.kernels.at(names.first).ipc + run.ipc[1] / table.kernels.at(names.second).ipc;
}

std::size_t best(const CoRunTable& table, const Names& names) {
  const auto of = [&](const CoRun& run) { return throughput(table, names, run); };
  const std::vector<CoRun>& runs = table.pairs.at(names);
  return static_cast<std::size_t>(std::ranges::max_element(runs, {}, of) - runs.begin());
}

void scale(CoRun& run, double by) {
  for (double& ipc : run.ipc) ipc *= by;
}

}  // namespace

CoRunTable predicted_ratios(const CoRunTables& tables) {
  CoRunTable mixed = tables.executed;
  for (auto& [names, runs] : mixed.pairs) {
    const std::size_t keep = best(tables.predicted, names);
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (i != keep) scale(runs[i], kStandsStill);
  }
  return mixed;
}

CoRunTable predicted_pairs(const CoRunTables& tables) {
  CoRunTable mixed = tables.executed;
  for (auto& [names, runs] : mixed.pairs) {
    const std::size_t keep = best(tables.executed, names);
    const CoRun& promised = tables.predicted.pairs.at(names).at(best(tables.predicted, names));
    const double said = throughput(tables.predicted, names, promised) / throughput(tables.executed, names, runs[keep]);
    for (std::size_t i = 0; i < runs.size(); ++i) scale(runs[i], i == keep ? said : kStandsStill);
  }
  return mixed;
}

std::vector<figures::Cause> kernelet_causes(const Scenario& scenario, const ScheduleTarget& target, const CoRunTables& tables,
                                            const std::map<std::string, std::vector<double>>& alone) {
  const auto seconds = [&](const char* scheduler, const CoRunTable& rates, Time min_slice = kMinSlice) {
    FakeSettings settings{{rates, scheduler == std::string_view("kernelet_opt") ? rates : tables.executed}};
    settings.min_slice = min_slice;
    return std::chrono::duration<double>(schedule_on_fake(scenario, target, scheduler, {}, settings).makespan).count();
  };
  const double base = seconds("base", tables.predicted), opt = seconds("kernelet_opt", tables.executed);
  double fastest = 0;  // seconds, one job after the other
  for (const ScenarioJob& job : scenario.jobs) {
    const std::vector<double>& curve = alone.at(job.kernel);
    fastest += std::chrono::duration<double>(job.alone.value_or(Time(0))).count() * job.launches * curve.back() /
               *std::ranges::max_element(curve);
  }
  std::vector<figures::Cause> causes;
  const auto add = [&](const char* what, double time) { causes.push_back({scenario.name, what, time, base, opt}); };
  add("all predicted: Kernelet", seconds("kernelet", tables.predicted));
  add("ratios predicted, pairs measured", seconds("kernelet", predicted_ratios(tables)));
  add("pairs predicted, ratios measured", seconds("kernelet", predicted_pairs(tables)));
  add("all measured, pruned", seconds("kernelet", tables.executed));
  add("all measured: OPT", opt);
  add("OPT, slices of 50 ms", seconds("kernelet_opt", tables.executed, kLongSlice));
  add("no pairs, each with its best CTA count", fastest);
  return causes;
}

}  // namespace sluice
