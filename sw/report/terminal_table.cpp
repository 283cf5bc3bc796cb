// SPDX-License-Identifier: Apache-2.0
#include "sw/report/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/policy/names.h"
#include "sw/report/decision_summary.h"
#include "sw/report/seed_summary.h"
#include "sw/report/summary.h"

namespace sluice {

namespace {

/// Code points: what a terminal shows as one column for the names that occur here.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string pad(std::string_view text, std::size_t width, bool left) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return left ? std::string(text) + space : space + std::string(text);
}

/// A mean's cell; a mean over fewer mixes than the category has says so, because it does not compare with its neighbours.
std::string mean_cell(const PolicySummary* summary, double value, std::size_t mixes) {
  if (summary == nullptr) return "-";
  const std::string text = format_ratio(value);
  return summary->mixes == mixes ? text : fmt::format("{} ({}/{})", text, summary->mixes, mixes);
}

std::size_t count_mixes(const ResultGrid& grid, const std::string& category) {
  if (category == "all") return grid.mixes().size();
  return static_cast<std::size_t>(
      std::count_if(grid.mixes().begin(), grid.mixes().end(), [&](const auto& mix) { return mix.category == category; }));
}

void add_mean_row(TextTable& table, const ResultGrid& grid, const Summary& summary, const std::string& name,
                  const std::string& category, double PolicySummary::*figure) {
  std::vector<std::string> row{name};
  for (const std::string& policy : grid.policies()) {
    const PolicySummary* s = summary.find(policy, category);
    row.push_back(mean_cell(s, s == nullptr ? 0 : s->*figure, count_mixes(grid, category)));
  }
  table.add_row(std::move(row));
}

std::string ipc_table(const ResultGrid& grid, const Summary& summary) {
  std::vector<std::string> header{"IPC / Left-Over"};
  for (const std::string& policy : grid.policies()) header.push_back(policy_label(policy));
  const bool has_choice = std::find(grid.policies().begin(), grid.policies().end(), kWarpedSlicer) != grid.policies().end();
  if (has_choice) header.emplace_back("CTAs per SM");
  TextTable table(std::move(header));
  for (const std::string& category : grid.categories()) {
    for (const ResultGrid::Mix& mix : grid.mixes()) {
      if (mix.category != category) continue;
      std::vector<std::string> row{mix.name};
      for (const EvalRun* run : mix.runs) row.push_back(run == nullptr ? "-" : format_ratio(run->normalized_ipc));
      const EvalRun* chosen = grid.run(mix, kWarpedSlicer);
      if (has_choice) row.push_back(chosen == nullptr ? "-" : partition_label(chosen->partition));
      table.add_row(std::move(row));
    }
    add_mean_row(table, grid, summary, "GMEAN " + category, category, &PolicySummary::normalized_ipc);
    table.add_rule();
  }
  add_mean_row(table, grid, summary, "GMEAN of all mixes", "all", &PolicySummary::normalized_ipc);
  add_mean_row(table, grid, summary, "GMEAN of categories", "all", &PolicySummary::category_mean);
  table.add_rule();
  add_mean_row(table, grid, summary, "over one kernel after the other (gmean)", "all", &PolicySummary::serial_gain);
  add_mean_row(table, grid, summary, "STP (mean)", "all", &PolicySummary::stp);
  add_mean_row(table, grid, summary, "ANTT (mean, lower is better)", "all", &PolicySummary::antt);
  add_mean_row(table, grid, summary, "min. speed-up (gmean)", "all", &PolicySummary::min_speedup);
  return table.str();
}

std::string gain_table(const Summary& summary) {
  TextTable table({"Warped-Slicer over", "this model", "mixes", "published"});
  for (const PublishedGain& gain : kPublishedGains) {
    const PolicyRatio* ratio = summary.find_ratio(gain.over, "all");
    if (ratio == nullptr) continue;
    table.add_row({policy_label(gain.over), format_gain(ratio->ipc_ratio), fmt::format("{}", ratio->mixes),
                   summary.of_pairs ? format_gain(gain.ipc_ratio) : "-"});
  }
  return table.str() + (summary.of_pairs ? "Published: Warped-Slicer (ISCA 2016), 30 pairs of its table II.\n" : "");
}

}  // namespace

std::string TextTable::str() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
  std::size_t total = 0;
  for (const std::size_t w : widths) total += w + 2;
  std::string out;
  for (const auto& row : rows_) {
    if (row.empty()) out.append(total > 2 ? total - 2 : 0, '-');
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out += "  ";
      out += pad(row[c], widths[c], c == 0);
    }
    out += '\n';
  }
  return out;
}

std::string format_ratio(double value, int digits) { return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-"; }

std::string format_gain(double ratio) { return std::isfinite(ratio) ? fmt::format("{:+.1f} %", (ratio - 1) * 100) : "-"; }

std::string terminal_report(const EvalResults& results) {
  if (results.runs.empty()) return "no runs\n";
  const Summary summary = summarize(results);
  std::string out = ipc_table(ResultGrid(results), summary);
  if (!summary.ratios.empty()) {
    out += '\n';
    out += gain_table(summary);
  }
  const std::string decisions = decision_report(summarize_decisions(results));
  if (!decisions.empty()) out += '\n' + decisions;
  const std::string seeds = seed_report(results);
  if (!seeds.empty()) out += '\n' + seeds;
  return out;
}

}  // namespace sluice
