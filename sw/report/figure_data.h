// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "sw/report/charts.h"
#include "sw/report/eval_results.h"
#include "sw/report/summary.h"

// What the figures share: means over the mixes of an evaluation.
namespace sluice::figures {

inline double ipc(const EvalRun& run) { return run.ipc; }

/// Geometric mean over mixes of figure(run of `policy`) / figure(run of `base`), of the mixes that ran both.
template <class Value>
double mean_ratio(const EvalResults& results, std::string_view policy, std::string_view base, const Value& value) {
  const ResultGrid grid(results);
  std::vector<double> ratios;
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun* ours = grid.run(mix, policy);
    const EvalRun* theirs = grid.run(mix, base);
    if (ours != nullptr && theirs != nullptr) ratios.push_back(value(*ours) / value(*theirs));
  }
  return geometric_mean_of_known(ratios);
}

/// Arithmetic mean over the mixes of one category ("all": every one) under a policy.
template <class Value>
double mean_value(const EvalResults& results, std::string_view policy, std::string_view category, const Value& value) {
  const ResultGrid grid(results);
  std::vector<double> values;
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    if (category != "all" && mix.category != category) continue;
    if (const EvalRun* run = grid.run(mix, policy)) values.push_back(value(*run));
  }
  return mean_of_known(values);
}

/// What all kernels of a run did together.
[[nodiscard]] inline KernelCounters total(const EvalRun& run) {
  KernelCounters sum;
  for (const KernelOutcome& k : run.per_kernel) sum += k.counters;
  return sum;
}

/// Bars of a mean by policy and category.
template <class Value>
std::string category_bars(const EvalResults& results, const std::string& title, const std::string& y_label, const Value& value,
                          nlohmann::ordered_json& data) {
  const ResultGrid grid(results);
  charts::GroupedBars chart;
  chart.title = title;
  chart.y_label = y_label;
  for (const std::string& p : grid.policies()) chart.series.push_back({policy_label(p), policy_colour(p, chart.series.size())});
  std::vector<std::string> categories = grid.categories();
  categories.emplace_back("all");
  for (const std::string& category : categories) {
    charts::GroupedBars::Group group{category, category == "all", {}};
    for (const std::string& policy : grid.policies()) {
      const double mean = mean_value(results, policy, category, value);
      group.bars.push_back({mean, false, ""});
      data[category][policy] = std::isfinite(mean) ? nlohmann::ordered_json(mean) : nlohmann::ordered_json();
    }
    chart.groups.push_back(std::move(group));
  }
  return fmt::format("<h3>{}</h3>\n", title) + charts::legend(chart.series) + charts::grouped_bars(chart);
}

/// "+12.3 %": how far a ratio is above 1. "not known" where it has no value: a policy or a category that was not run.
[[nodiscard]] inline std::string percent_over(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : "not known";
}

/// Each mix a group, each policy but the baseline a bar of its IPC over the baseline's; the mean last.
[[nodiscard]] charts::GroupedBars mix_bars(const EvalResults& results, const std::string& baseline, const std::string& title);

}  // namespace sluice::figures
