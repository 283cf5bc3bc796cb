// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sw/report/charts.h"
#include "sw/report/eval_results.h"
#include "sw/report/summary.h"

// What the sections of the report share, and the sections themselves: each returns its HTML, with text escaped, or nothing where
// the results hold nothing for it.
namespace sluice::html {

/// What every section works on.
struct Page {
  const EvalResults& results;
  ResultGrid grid;
  Summary summary;
  explicit Page(const EvalResults& r) : results(r), grid(r), summary(summarize(r)) {}

  [[nodiscard]] bool has(std::string_view policy) const {
    return std::find(grid.policies().begin(), grid.policies().end(), policy) != grid.policies().end();
  }
  [[nodiscard]] std::size_t mixes_in(std::string_view category) const {
    if (category == "all") return grid.mixes().size();
    return static_cast<std::size_t>(
        std::count_if(grid.mixes().begin(), grid.mixes().end(), [&](const auto& mix) { return mix.category == category; }));
  }
};

[[nodiscard]] std::vector<charts::Series> policy_series(const Page& page, bool with_left_over);
/// Some policy ran fewer mixes than the evaluation has.
[[nodiscard]] bool any_partial(const Page& page);
/// The mean of a policy over a category or "all"; marked partial where it covers fewer mixes than there are.
[[nodiscard]] charts::GroupedBars::Bar mean_bar(const Page& page, const std::string& policy, const std::string& category,
                                                double PolicySummary::*figure);
/// Policies x categories, and "all".
[[nodiscard]] charts::GroupedBars means_chart(const Page& page, double PolicySummary::*figure, std::string name,
                                              std::string y_label, bool with_left_over);

/// A table cell; the text is escaped here.
[[nodiscard]] std::string cell(std::string_view tag, std::string_view text, std::string_view css = {});
/// Thousands apart: 1 234 567.
[[nodiscard]] std::string grouped(std::uint64_t value);
/// A dash for a figure that is not known.
[[nodiscard]] std::string percent(double value, int digits = 1);
[[nodiscard]] std::string ratio_cell(double value, int digits = 3);

[[nodiscard]] std::string title(const Page& page);
[[nodiscard]] std::string head_section(const Page& page);
[[nodiscard]] std::string gains_section(const Page& page);
[[nodiscard]] std::string figure6_section(const Page& page);
[[nodiscard]] std::string table_section(const Page& page);
[[nodiscard]] std::string partition_section(const Page& page);
[[nodiscard]] std::string figure9_section(const Page& page);
[[nodiscard]] std::string counters_section(const Page& page);
[[nodiscard]] std::string figure3_section(const Page& page);
[[nodiscard]] std::string solo_section(const Page& page);

}  // namespace sluice::html
