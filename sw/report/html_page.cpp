// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "sw/policy/names.h"
#include "sw/report/html_page.h"
#include "sw/report/svg.h"
#include "sw/report/terminal_table.h"

namespace sluice::html {

namespace {

using svg::escape;

std::string meta_value(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return grouped(value.get<std::uint64_t>());
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& v) { return v.is_string(); }))
    return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", "));
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string meta_text(const Page& page, const char* key, const char* otherwise) {
  const auto& meta = page.results.meta;
  return meta.contains(key) ? meta_value(meta.at(key)) : otherwise;
}

}  // namespace

std::vector<charts::Series> policy_series(const Page& page, bool with_left_over) {
  std::vector<charts::Series> series;
  for (const std::string& policy : page.grid.policies())
    if (with_left_over || policy != kLeftOver) series.push_back({policy_label(policy), policy_colour(policy, series.size())});
  return series;
}

charts::GroupedBars::Bar mean_bar(const Page& page, const std::string& policy, const std::string& category,
                                  double PolicySummary::*figure) {
  const PolicySummary* s = page.summary.find(policy, category);
  if (s == nullptr) return {std::nan(""), false, ""};
  const std::size_t all = page.mixes_in(category);
  return {s->*figure, s->mixes < all, fmt::format(" ({} of {} mixes)", s->mixes, all)};
}

charts::GroupedBars means_chart(const Page& page, double PolicySummary::*figure, std::string name, std::string y_label,
                                bool with_left_over) {
  charts::GroupedBars chart;
  chart.title = std::move(name);
  chart.y_label = std::move(y_label);
  chart.series = policy_series(page, with_left_over);
  std::vector<std::string> categories = page.grid.categories();
  if (categories.size() != 1) categories.emplace_back("all");
  for (const std::string& category : categories) {
    charts::GroupedBars::Group group{category == "all" ? "all mixes" : category, true, {}};
    for (const std::string& policy : page.grid.policies())
      if (with_left_over || policy != kLeftOver) group.bars.push_back(mean_bar(page, policy, category, figure));
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

bool any_partial(const Page& page) {
  return std::any_of(page.summary.policies.begin(), page.summary.policies.end(),
                     [&](const PolicySummary& s) { return s.mixes < page.mixes_in(s.category); });
}

std::string cell(std::string_view tag, std::string_view text, std::string_view css) {
  return css.empty() ? fmt::format("<{0}>{1}</{0}>", tag, escape(text))
                     : fmt::format("<{0} class=\"{2}\">{1}</{0}>", tag, escape(text), css);
}

std::string grouped(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, "\u202f");
  return digits;
}

std::string percent(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f} %", 100 * value, digits) : "–";
}

std::string ratio_cell(double value, int digits) { return std::isfinite(value) ? format_ratio(value, digits) : "–"; }

std::string title(const Page& page) {
  return fmt::format("Sluice: {} on {}", meta_text(page, "workload", "evaluation"), meta_text(page, "machine", "the model"));
}

std::string head_section(const Page& page) {
  std::string out = fmt::format(
      "<h1>{}</h1>\n<p class=\"lead\">{} kernels, {} mixes, {} policies, {} runs. Figures are the model's unless marked "
      "<em>published</em>; published figures are those of the Warped-Slicer paper (ISCA 2016).</p>\n<dl class=\"meta\">\n",
      escape(title(page)), page.results.solo.size(), page.grid.mixes().size(), page.grid.policies().size(),
      page.results.runs.size());
  for (const auto& [key, value] : page.results.meta.items()) {
    if (value.is_null() || value.is_object() || key == "schema_version") continue;
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    const std::string text = escape(meta_value(value));
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), key == "command" ? "<code>" + text + "</code>" : text);
  }
  return out + "</dl>\n";
}

}  // namespace sluice::html
