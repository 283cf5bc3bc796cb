// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

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

/// A mean of every policy by category, and over all mixes.
template <class Value>
void category_means(const EvalResults& results, const Value& value, nlohmann::ordered_json& data) {
  const ResultGrid grid(results);
  std::vector<std::string> categories = grid.categories();
  categories.emplace_back("all");
  for (const std::string& category : categories)
    for (const std::string& policy : grid.policies())
      data[category][policy] = number_or_null(mean_value(results, policy, category, value));
}

/// "+12.3 %": how far a ratio is above 1. "not known" where it has no value: a policy or a category that was not run.
[[nodiscard]] inline std::string percent_over(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : "not known";
}

}  // namespace sluice::figures
