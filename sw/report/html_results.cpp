// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sw/policy/names.h"
#include "sw/report/html_page.h"
#include "sw/report/svg.h"
#include "sw/report/terminal_table.h"

namespace sluice::html {

namespace {

using svg::escape;

std::string mean_row(const Page& page, const std::string& name, const std::string& category, double PolicySummary::*figure) {
  std::string out = "<tr class=\"mean\">" + cell("td", name);
  for (const std::string& policy : page.grid.policies()) {
    const charts::GroupedBars::Bar bar = mean_bar(page, policy, category, figure);
    out += cell("td", ratio_cell(bar.value) + (bar.partial ? "*" : ""));
  }
  return out + (page.has(kWarpedSlicer) ? "<td></td></tr>\n" : "</tr>\n");
}

}  // namespace

std::string gains_section(const Page& page) {
  if (page.summary.ratios.empty()) return "";
  std::vector<std::string> categories = page.grid.categories();
  std::string out =
      "<h2>What Warped-Slicer gains</h2>\n<p>Geometric mean, over the mixes that both policies ran, of the ratio of combined "
      "IPC. The "
      "published means are over the 30 pairs of the paper's table II.</p>\n<div class=\"scroll\"><table><thead><tr>" +
      cell("th", "Warped-Slicer over") + cell("th", "all mixes");
  if (categories.size() > 1)
    for (const std::string& c : categories) out += cell("th", c);
  out += cell("th", "mixes") + cell("th", "published", "published") + "</tr></thead><tbody>\n";
  for (const PublishedGain& gain : kPublishedGains) {
    const PolicyRatio* all = page.summary.find_ratio(gain.over, "all");
    if (all == nullptr) continue;
    out += "<tr>" + cell("td", policy_label(gain.over)) + cell("td", format_gain(all->ipc_ratio), "best");
    if (categories.size() > 1)
      for (const std::string& c : categories) {
        const PolicyRatio* ratio = page.summary.find_ratio(gain.over, c);
        out += cell("td", ratio == nullptr ? "–" : format_gain(ratio->ipc_ratio));
      }
    out += cell("td", fmt::format("{}", all->mixes)) +
           cell("td", page.summary.of_pairs ? fmt::format("{:+.0f} %", (gain.ipc_ratio - 1) * 100) : "–", "published") +
           "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string figure6_section(const Page& page) {
  if (!page.has(kLeftOver))
    return "<h2>Normalised IPC</h2>\n<p>Not shown: no mix ran under Left-Over, which is what IPC is normalised to.</p>\n";
  std::string out =
      "<h2>Normalised IPC (the paper's figure 6)</h2>\n<p>Combined IPC of a mix over its IPC under Left-Over (dashed line at 1): "
      "thread "
      "instructions of all kernels, divided by the cycles until the last kernel has reached its instruction target. GMEAN is the "
      "geometric mean of the panel.";
  if (any_partial(page))
    out += " Hollow bars are means over fewer mixes than the panel shows; they do not compare with the others.";
  out += "</p>\n" + charts::legend(policy_series(page, false));
  charts::GroupedBars chart;
  chart.y_label = "IPC / IPC of Left-Over";
  chart.series = policy_series(page, false);
  chart.baseline = 1;
  for (const EvalRun& run : page.results.runs)
    if (std::isfinite(run.normalized_ipc)) chart.y_max = std::max(chart.y_max, run.normalized_ipc);
  for (const std::string& category : page.grid.categories()) {
    chart.groups.clear();
    for (const ResultGrid::Mix& mix : page.grid.mixes()) {
      if (mix.category != category) continue;
      charts::GroupedBars::Group group{mix.name, false, {}};
      for (const std::string& policy : page.grid.policies()) {
        if (policy == kLeftOver) continue;
        const EvalRun* run = page.grid.run(mix, policy);
        group.bars.push_back({run == nullptr ? std::nan("") : run->normalized_ipc, false,
                              run == nullptr ? "" : ", CTAs per SM: " + partition_label(run->partition)});
      }
      chart.groups.push_back(std::move(group));
    }
    charts::GroupedBars::Group mean{"GMEAN", true, {}};
    for (const std::string& policy : page.grid.policies())
      if (policy != kLeftOver) mean.bars.push_back(mean_bar(page, policy, category, &PolicySummary::normalized_ipc));
    chart.groups.push_back(std::move(mean));
    chart.title = "Normalised IPC, " + category;
    out += "<h3>" + escape(category) + "</h3>\n" + charts::grouped_bars(chart);
  }
  if (page.grid.categories().size() > 1) {
    charts::GroupedBars means =
        means_chart(page, &PolicySummary::normalized_ipc, "Geometric means of normalised IPC", chart.y_label, false);
    means.baseline = 1;
    means.y_max = 0;
    out += "<h3>Geometric means</h3>\n" + charts::grouped_bars(means);
  }
  return out;
}

std::string table_section(const Page& page) {
  const bool partitions = page.has(kWarpedSlicer);
  const std::size_t columns = page.grid.policies().size() + (partitions ? 2 : 1);
  std::string out = "<h2>All results</h2>\n<p>Normalised IPC; the best policy of a mix is bold.";
  if (partitions) out += " Last column: the partition that Warped-Slicer chose, in CTAs per SM.";
  if (any_partial(page)) out += " * mean over fewer mixes than the others.";
  out += "</p>\n<div class=\"scroll\"><table><thead><tr>" + cell("th", "mix");
  for (const std::string& policy : page.grid.policies()) out += cell("th", policy_label(policy));
  if (partitions) out += cell("th", "chosen CTAs", "centre");
  out += "</tr></thead><tbody>\n";
  for (const std::string& category : page.grid.categories()) {
    out += fmt::format("<tr class=\"group\"><th colspan=\"{}\">{}</th></tr>\n", columns, escape(category));
    for (const ResultGrid::Mix& mix : page.grid.mixes()) {
      if (mix.category != category) continue;
      double best = 0;
      for (const EvalRun* run : mix.runs)
        if (run != nullptr && std::isfinite(run->normalized_ipc)) best = std::max(best, run->normalized_ipc);
      out += "<tr>" + cell("td", mix.name);
      for (const EvalRun* run : mix.runs)
        out += run == nullptr ? cell("td", "–")
                              : cell("td", ratio_cell(run->normalized_ipc), run->normalized_ipc >= best ? "best" : "");
      const EvalRun* ours = page.grid.run(mix, kWarpedSlicer);
      if (partitions) out += cell("td", ours == nullptr ? "–" : partition_label(ours->partition), "centre");
      out += "</tr>\n";
    }
    out += mean_row(page, "GMEAN", category, &PolicySummary::normalized_ipc);
  }
  out += fmt::format("<tr class=\"group\"><th colspan=\"{}\">all mixes</th></tr>\n", columns);
  out += mean_row(page, "GMEAN of mixes", "all", &PolicySummary::normalized_ipc);
  out += mean_row(page, "GMEAN of categories", "all", &PolicySummary::category_mean);
  out += mean_row(page, "over one kernel after the other (gmean)", "all", &PolicySummary::serial_gain);
  out += mean_row(page, "STP (mean)", "all", &PolicySummary::stp);
  out += mean_row(page, "ANTT (mean, lower is better)", "all", &PolicySummary::antt);
  out += mean_row(page, "minimum speed-up (gmean)", "all", &PolicySummary::min_speedup);
  return out + "</tbody></table></div>\n";
}

}  // namespace sluice::html
