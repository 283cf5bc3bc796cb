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

/// "+12.3 %": how far a ratio is above 1. "not known" where it has no value: a policy or a category that was not run.
[[nodiscard]] inline std::string percent_over(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : "not known";
}

/// Each mix a group, each policy but the baseline a bar of its IPC over the baseline's; the mean last.
[[nodiscard]] charts::GroupedBars mix_bars(const EvalResults& results, const std::string& baseline, const std::string& title);

}  // namespace sluice::figures
