// SPDX-License-Identifier: Apache-2.0
#include "sw/report/eval_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/policy/names.h"
#include "sw/report/summary.h"

namespace sluice {

using namespace report;

namespace {

/// The policies, Warped-Slicer first: rows are sorted by the first.
std::vector<std::string> policies_of(const ResultGrid& grid, bool with_left_over) {
  std::vector<std::string> all = grid.policies();
  if (!with_left_over) std::erase(all, kLeftOver);
  std::ranges::stable_sort(all, {}, [](const std::string& p) { return p != kWarpedSlicer; });
  return all;
}

std::vector<Series> series_of(const std::vector<std::string>& policies) {
  std::vector<Series> series;
  for (const std::string& policy : policies) series.push_back({policy_label(policy), policy_colour(policy, series.size())});
  return series;
}

/// Geometric mean of IPC over Left-Over, with the 95 % interval of the mean over the mixes.
Point gain(const EvalResults& results, const ResultGrid& grid, const std::string& policy) {
  std::vector<double> logs;
  for (const EvalRun& run : results.runs)
    if (run.policy == policy && run.normalized_ipc > 0) logs.push_back(std::log(run.normalized_ipc));
  if (logs.empty()) return {};
  const double mean = mean_of_known(logs);
  double square = 0;
  for (const double l : logs) square += (l - mean) * (l - mean);
  const auto n = static_cast<double>(logs.size());
  Point point{std::exp(mean)};
  if (logs.size() > 2 && policy != kLeftOver) {
    const double half = 1.96 * std::sqrt(square / (n - 1) / n);
    point.low = std::exp(mean - half);
    point.high = std::exp(mean + half);
  }
  if (logs.size() < grid.mixes().size()) point.note = fmt::format(" ({} of {} mixes)", logs.size(), grid.mixes().size());
  return point;
}

std::string label(const EvalResults& results, const ResultGrid& grid, const std::string& policy) {
  const auto mixes = static_cast<std::size_t>(std::ranges::count(results.runs, policy, &EvalRun::policy));
  return mixes >= grid.mixes().size() ? policy_label(policy) : fmt::format("{} ({} mixes)", policy_label(policy), mixes);
}

RowChart policies_over_left_over(const EvalResults& results, const ResultGrid& grid, const Summary& summary) {
  RowChart chart{.title = "Throughput over Left-Over, geometric mean of the mixes with its 95 % interval",
                 .notation = Notation::Gain,
                 .digits = 1,
                 .baseline = 1.0,
                 .sorted = true};
  for (const std::string& policy : policies_of(grid, false)) {
    Point point = gain(results, grid, policy);
    if (policy == kWarpedSlicer && summary.of_pairs) point.published = kPublishedGains[0].ipc_ratio;
    chart.rows.push_back({label(results, grid, policy), {point}});
  }
  return chart;
}

/// Every mix of a category, sorted by what Warped-Slicer gains.
Multiples mixes_by_category(const ResultGrid& grid) {
  Multiples all;
  const std::vector<std::string> policies = policies_of(grid, false);
  for (const std::string& category : grid.categories()) {
    RowChart chart{.title = category,
                   .series = series_of(policies),
                   .notation = Notation::Gain,
                   .digits = 1,
                   .baseline = 1.0,
                   .sorted = true};
    for (const ResultGrid::Mix& mix : grid.mixes()) {
      if (mix.category != category) continue;
      RowChart::Row row{mix.name, {}};
      for (const std::string& policy : policies) {
        const EvalRun* run = grid.run(mix, policy);
        row.points.push_back(run == nullptr ? Point{}
                                            : Point{run->normalized_ipc, kNone, kNone, kNone,
                                                    ", CTAs on an SM: " + partition_label(run->partition)});
      }
      chart.rows.push_back(std::move(row));
    }
    all.charts.emplace_back(std::move(chart));
  }
  return all;
}

RowChart over_others(const Summary& summary) {
  RowChart chart{.title = "Warped-Slicer over", .notation = Notation::Gain, .digits = 1, .baseline = 1.0};
  for (const PublishedGain& of : kPublishedGains)
    if (const PolicyRatio* ratio = summary.find_ratio(of.over, "all"))
      chart.rows.push_back({policy_label(of.over), {{ratio->ipc_ratio, kNone, kNone, summary.of_pairs ? of.ipc_ratio : kNone}}});
  return chart;
}

RowChart means_by_policy(const ResultGrid& grid, const Summary& summary, std::string title, double PolicySummary::*figure,
                         Notation notation) {
  RowChart chart{.title = std::move(title), .notation = notation, .digits = notation == Notation::Gain ? 1 : 3, .sorted = true};
  if (notation == Notation::Gain) chart.baseline = 1.0;
  for (const std::string& policy : policies_of(grid, true))
    if (const PolicySummary* s = summary.find(policy, "all")) chart.rows.push_back({policy_label(policy), {{s->*figure}}});
  return chart;
}

/// Both figures are the ratio of total cycles where every kernel's target took the same time alone and the kernel that finished
/// last is the slowest-served.
bool repeats_normalized_ipc(const ResultGrid& grid) {
  bool any = false;
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun* base = grid.run(mix, kLeftOver);
    if (base == nullptr) continue;
    for (const EvalRun* run : mix.runs) {
      if (run == nullptr || run == base) continue;
      if (!(std::abs(run->min_speedup / base->min_speedup - run->normalized_ipc) < 1e-3)) return false;
      any = true;
    }
  }
  return any;
}

Section fairness_section(const ResultGrid& grid, const Summary& summary) {
  Section section{"fairness", "Fairness and turnaround (figure 9)", {}, "Fairness"};
  section.blocks.push_back(
      Multiples{{means_by_policy(grid, summary, "Minimum speed-up over Left-Over", &PolicySummary::fairness, Notation::Gain),
                 means_by_policy(grid, summary, "ANTT (less is better)", &PolicySummary::antt, Notation::Number),
                 means_by_policy(grid, summary, "STP (more is better)", &PolicySummary::stp, Notation::Number)}});
  if (repeats_normalized_ipc(grid))
    section.blocks.push_back(
        Paragraph{"In these results the minimum speed-up is normalised IPC again, mix by mix: every kernel's target takes the "
                  "same time alone, so both "
                  "figures compare the cycles until the last kernel is done. It is no evidence of its own."});
  RowChart beside{.title = "Minimum speed-up, Warped-Slicer over", .notation = Notation::Gain, .digits = 1, .baseline = 1.0};
  const PolicySummary* ours = summary.find(kWarpedSlicer, "all");
  for (const PublishedGain& of : kPublishedGains) {
    const PolicySummary* other = summary.find(of.over, "all");
    if (!summary.of_pairs || ours == nullptr || other == nullptr || ours->mixes != other->mixes || std::isnan(of.fairness_ratio))
      continue;
    beside.rows.push_back({policy_label(of.over), {{ours->min_speedup / other->min_speedup, kNone, kNone, of.fairness_ratio}}});
  }
  section.blocks.push_back(Large{beside});
  return section;
}

Section counters_section(const EvalResults& results, const ResultGrid& grid) {
  constexpr std::pair<const char*, double UtilizationFractions::*> kResources[] = {
      {"ALU", &UtilizationFractions::alu},         {"SFU", &UtilizationFractions::sfu},
      {"LDST", &UtilizationFractions::ldst},       {"registers", &UtilizationFractions::registers},
      {"threads", &UtilizationFractions::threads}, {"shared memory", &UtilizationFractions::shared_memory}};
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
  const std::vector<std::string> policies = policies_of(grid, true);
  RowChart use{.title = "Use of pipelines and of what an SM holds, mean of the mixes",
               .series = series_of(policies),
               .notation = Notation::Share,
               .digits = 1};
  for (const auto& [name, resource] : kResources) {
    RowChart::Row row{name, {}};
    for (const std::string& policy : policies)
      row.points.push_back(
          {policy_mean(results, policy, [member = resource](const EvalRun& run) { return run.utilization.*member; })});
    use.rows.push_back(std::move(row));
  }
  RowChart stalls{.title = "What SMs do in a cycle: it counts for what most warps wait for",
                  .series = {{"issuing", 3}},
                  .kind = RowChart::Kind::Stack,
                  .notation = Notation::Share,
                  .digits = 1};
  for (const Reason& reason : kReasons) stalls.series.push_back({reason.name, reason.colour});
  for (const std::string& policy : policies) {
    RowChart::Row row{label(results, grid, policy), {{1.0}}};
    for (const Reason& reason : kReasons) {
      row.points.push_back({policy_mean(results, policy, [&](const EvalRun& run) { return run.stalls.*reason.member; })});
      if (std::isfinite(row.points.back().value)) row.points.front().value -= row.points.back().value;
    }
    if (std::isfinite(row.points[1].value)) stalls.rows.push_back(std::move(row));
  }
  return {"counters",
          "Counters behind the results (figure 7)",
          {Large{use}, Large{stalls}, memory_table(results), Folded{"SM by SM: smallest to largest", sms_table(results)}},
          "Counters"};
}

Section alone_section(const EvalResults& results) {
  Section section{"alone", "Kernels alone", {}, "Kernels alone"};
  Multiples curves;
  for (const SoloRun& solo : results.solo) {
    if (solo.curve.empty()) continue;
    const double best = *std::ranges::max_element(solo.curve);
    if (!(best > 0)) continue;
    LineChart chart{.title = fmt::format("{} ({})", solo.kernel, to_string(solo.type)),
                    .x_label = "CTAs on an SM",
                    .y_label = "IPC over the best"};
    LineChart::Line line{{solo.kernel, 4}, {}};
    for (std::size_t i = 0; i < solo.curve.size(); ++i)
      line.points.emplace_back(static_cast<double>(i + 1), solo.curve[i] / best);
    chart.lines.push_back(std::move(line));
    curves.charts.emplace_back(std::move(chart));
  }
  section.blocks = {kernels_table(results), curves};
  return section;
}

std::string title(const EvalResults& results, const ResultGrid& grid, const Summary& summary) {
  const std::string workload = results.meta.value("workload", "");
  const bool one = grid.mixes().size() == 1;
  const std::string mixes =
      fmt::format("{} {}{}", grid.mixes().size(), summary.of_pairs ? (one ? "pair" : "pairs") : (one ? "mix" : "mixes"),
                  workload.empty() ? "" : " of " + workload);
  if (results.runs.empty()) return "No mix ran: kernels alone";
  const PolicyRatio* left = summary.find_ratio(kLeftOver, "all");
  if (left == nullptr) return mixes + " under " + fmt::format("{} policies", grid.policies().size());
  return fmt::format(
      "Warped-Slicer gains {} over Left-Over on {}{}",
      written(left->ipc_ratio, Notation::Gain, 1).substr(left->ipc_ratio >= 1 ? 1 : 0), mixes,
      summary.of_pairs ? fmt::format("; the paper has {:.0f} % on its 30", 100 * (kPublishedGains[0].ipc_ratio - 1)) : "");
}

}  // namespace

Page eval_page(const EvalResults& results) {
  const ResultGrid grid(results);
  const Summary summary = summarize(results);
  Page page{title(results, grid, summary), {}, {}, {}, results.meta};
  if (!results.runs.empty()) {
    page.lead = fmt::format("{} {} under {} policies on {}.", grid.mixes().size(), grid.mixes().size() == 1 ? "mix" : "mixes",
                            grid.policies().size(), results.meta.value("machine", "the model"));
    page.opening = {Large{policies_over_left_over(results, grid, summary)}};
    page.sections = {{"gains",
                      "What Warped-Slicer gains",
                      {Large{over_others(summary)}, Folded{"By category", gains_table(results)}},
                      "Gains"},
                     {"mixes",
                      "Every mix over Left-Over, sorted by what Warped-Slicer gains (figure 6)",
                      {mixes_by_category(grid), Folded{"All results", mixes_table(results)}},
                      "Mixes"},
                     {"partitions",
                      "CTAs on an SM of each kernel (table III)",
                      {Folded{"Every mix under every policy", partitions_table(results)}},
                      "Partitions"},
                     fairness_section(grid, summary),
                     counters_section(results, grid)};
    if (summary.ratios.empty()) std::erase_if(page.sections, [](const Section& s) { return s.id == "gains"; });
  }
  if (!results.solo.empty()) page.sections.push_back(alone_section(results));
  return page;
}

}  // namespace sluice
