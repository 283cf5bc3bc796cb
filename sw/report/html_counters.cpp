// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sw/policy/names.h"
#include "sw/report/html_page.h"

namespace sluice::html {

namespace {

/// Mean of a figure over the runs of a policy.
template <class Figure>
double policy_mean(const Page& page, const std::string& policy, Figure figure) {
  std::vector<double> values;
  for (const ResultGrid::Mix& mix : page.grid.mixes())
    if (const EvalRun* run = page.grid.run(mix, policy)) values.push_back(figure(*run));
  return mean_of_known(values);
}

std::string policy_row_label(const Page& page, const std::string& policy) {
  const PolicySummary* s = page.summary.find(policy, "all");
  if (s == nullptr || s->mixes == page.grid.mixes().size()) return policy_label(policy);
  return fmt::format("{} ({} mixes)", policy_label(policy), s->mixes);
}

std::string utilization_chart(const Page& page) {
  struct Resource {
    const char* name;
    double UtilizationFractions::*member;
  };
  constexpr Resource kResources[] = {
      {"ALU", &UtilizationFractions::alu},         {"SFU", &UtilizationFractions::sfu},
      {"LDST", &UtilizationFractions::ldst},       {"registers", &UtilizationFractions::registers},
      {"threads", &UtilizationFractions::threads}, {"shared mem.", &UtilizationFractions::shared_memory}};
  charts::GroupedBars chart;
  chart.title = "Mean utilisation by policy";
  chart.y_label = "utilisation (%)";
  chart.series = policy_series(page, true);
  chart.y_max = 100;
  chart.digits = 1;
  for (const Resource& resource : kResources) {
    charts::GroupedBars::Group group{resource.name, false, {}};
    for (const std::string& policy : page.grid.policies()) {
      const PolicySummary* s = page.summary.find(policy, "all");
      group.bars.push_back({100 * policy_mean(page, policy, [&](const EvalRun& run) { return run.utilization.*resource.member; }),
                            s != nullptr && s->mixes < page.grid.mixes().size(), " %"});
    }
    chart.groups.push_back(std::move(group));
  }
  return charts::legend(chart.series) + charts::grouped_bars(chart);
}

std::string stall_chart(const Page& page) {
  struct Reason {
    const char* name;
    double StallFractions::*member;
    std::size_t colour;
  };
  constexpr Reason kReasons[] = {{"long memory latency", &StallFractions::long_memory, 5},
                                 {"execution resource", &StallFractions::execution_resource, 1},
                                 {"short RAW", &StallFractions::raw, 2},
                                 {"instruction buffer", &StallFractions::instruction_buffer, 6},
                                 {"barrier", &StallFractions::barrier, 4},
                                 {"idle (no warp)", &StallFractions::idle, 0}};
  charts::StackedBars chart;
  chart.title = "Issuing and stalled SM-cycles by policy";
  chart.x_label = "share of SM-cycles";
  chart.series.push_back({"issuing", 3});
  for (const Reason& reason : kReasons) chart.series.push_back({reason.name, reason.colour});
  for (const std::string& policy : page.grid.policies()) {
    charts::StackedBars::Row row{policy_row_label(page, policy), {1.0}};
    for (const Reason& reason : kReasons) {
      row.parts.push_back(policy_mean(page, policy, [&](const EvalRun& run) { return run.stalls.*reason.member; }));
      row.parts.front() -= row.parts.back();
    }
    if (std::isfinite(row.parts.front())) chart.rows.push_back(std::move(row));
  }
  if (chart.rows.empty()) return "";
  return "<h3>Issuing and stalled SM-cycles</h3>\n<p>A cycle in which an SM issued nothing counts for the reason that most of "
         "its warps "
         "waited for.</p>\n" +
         charts::legend(chart.series) + charts::stacked_bars(chart);
}

/// Smallest and largest figure of a run's SMs, under a policy: how evenly they work.
std::string sm_table(const Page& page) {
  const std::string policy = page.summary.find(kWarpedSlicer, "all") != nullptr ? kWarpedSlicer : page.grid.policies().front();
  struct Column {
    const char* name;
    double (*figure)(const SmOutcome&);
  };
  constexpr Column kColumns[] = {{"ALU", [](const SmOutcome& sm) { return sm.alu_utilization; }},
                                 {"SFU", [](const SmOutcome& sm) { return sm.sfu_utilization; }},
                                 {"LDST", [](const SmOutcome& sm) { return sm.ldst_utilization; }},
                                 {"L1 miss rate", [](const SmOutcome& sm) { return sm.l1_miss_rate; }},
                                 {"long memory stalls", [](const SmOutcome& sm) { return sm.stalls.long_memory; }}};
  std::string rows;
  for (const ResultGrid::Mix& mix : page.grid.mixes()) {
    const EvalRun* run = page.grid.run(mix, policy);
    if (run == nullptr || run->sms.empty()) continue;
    rows += "<tr>" + cell("td", mix_name(run->kernels));
    for (const Column& column : kColumns) {
      std::vector<double> values;
      for (const SmOutcome& sm : run->sms) values.push_back(column.figure(sm));
      const auto [least, most] = std::ranges::minmax(values);
      rows += cell("td", percent(least) + " to " + percent(most));
    }
    rows += "</tr>\n";
  }
  if (rows.empty()) return "";
  std::string out =
      fmt::format(
          "<h3>SM by SM under {}</h3>\n<p>Smallest and largest value of the SMs of a run; every SM's are in results.json.</p>\n"
          "<div class=\"scroll\"><table><thead><tr>",
          policy_label(policy)) +
      cell("th", "mix");
  for (const Column& column : kColumns) out += cell("th", column.name);
  return out + "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

}  // namespace

std::string counters_section(const Page& page) {
  std::string out = "<h2>Counters behind the results (figure 7)</h2>\n<p>Arithmetic means over all mixes that the policy ran.";
  if (any_partial(page)) out += " Hollow bars, and rows that say so, cover fewer mixes.";
  out += "</p>\n<h3>Utilisation of pipelines and of SM resources</h3>\n" + utilization_chart(page) + stall_chart(page) +
         "<h3>Caches and memory</h3>\n<div class=\"scroll\"><table><thead><tr>" + cell("th", "policy") +
         cell("th", "L1 miss rate") + cell("th", "L2 miss rate") + cell("th", "DRAM (bytes/cycle)") + cell("th", "IPC (mean)") +
         cell("th", "power (W)") + cell("th", "energy (J)") + "</tr></thead><tbody>\n";
  for (const std::string& policy : page.grid.policies())
    out += "<tr>" + cell("td", policy_row_label(page, policy)) +
           cell("td", percent(policy_mean(page, policy, [](const EvalRun& r) { return r.l1_miss_rate; }))) +
           cell("td", percent(policy_mean(page, policy, [](const EvalRun& r) { return r.l2_miss_rate; }))) +
           cell("td", ratio_cell(policy_mean(page, policy, [](const EvalRun& r) { return r.dram_bytes_per_cycle; }), 1)) +
           cell("td", ratio_cell(policy_mean(page, policy, [](const EvalRun& r) { return r.ipc; }), 1)) +
           cell("td", ratio_cell(policy_mean(page, policy, [](const EvalRun& r) { return r.average_watts; }), 1)) +
           cell("td", ratio_cell(policy_mean(page, policy, [](const EvalRun& r) { return r.total_joules; }), 3)) + "</tr>\n";
  return out + "</tbody></table></div>\n" + sm_table(page);
}

}  // namespace sluice::html
