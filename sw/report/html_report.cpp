#include "sw/report/html_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sw/report/charts.h"
#include "sw/report/html_style.h"
#include "sw/report/summary.h"
#include "sw/report/svg.h"
#include "sw/report/terminal_table.h"

namespace sluice {

namespace {

using svg::escape;

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

/// A policy has the same colour in every chart of every report.
std::size_t policy_colour(const std::string& policy, std::size_t position) {
  constexpr const char* kOrder[] = {"left_over", "fcfs", "even", "spatial", "static", "warped_slicer", "oracle"};
  const auto* it = std::find(std::begin(kOrder), std::end(kOrder), policy);
  return it != std::end(kOrder) ? static_cast<std::size_t>(it - std::begin(kOrder)) : 7 + position % 3;
}

std::vector<charts::Series> policy_series(const Page& page, bool with_left_over) {
  std::vector<charts::Series> series;
  for (const std::string& policy : page.grid.policies())
    if (with_left_over || policy != "left_over") series.push_back({policy_label(policy), policy_colour(policy, series.size())});
  return series;
}

std::string cell(std::string_view tag, std::string_view text, std::string_view css = {}) {
  return css.empty() ? fmt::format("<{0}>{1}</{0}>", tag, escape(text))
                     : fmt::format("<{0} class=\"{2}\">{1}</{0}>", tag, escape(text), css);
}

/// Thousands apart: 1 234 567.
std::string grouped(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, "\u202f");
  return digits;
}

std::string percent(double value, int digits = 1) {
  return std::isfinite(value) ? fmt::format("{:.{}f} %", 100 * value, digits) : "–";
}

std::string ratio_cell(double value, int digits = 3) { return std::isfinite(value) ? format_ratio(value, digits) : "–"; }

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
           cell("td", fmt::format("{:+.0f} %", (gain.ipc_ratio - 1) * 100), "published") + "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

charts::GroupedBars::Bar mean_bar(const Page& page, const std::string& policy, const std::string& category,
                                  double PolicySummary::*figure) {
  const PolicySummary* s = page.summary.find(policy, category);
  if (s == nullptr) return {std::nan(""), false, ""};
  const std::size_t all = page.mixes_in(category);
  return {s->*figure, s->mixes < all, fmt::format(" ({} of {} mixes)", s->mixes, all)};
}

/// Policies x categories, and "all".
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
      if (with_left_over || policy != "left_over") group.bars.push_back(mean_bar(page, policy, category, figure));
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

bool any_partial(const Page& page) {
  return std::any_of(page.summary.policies.begin(), page.summary.policies.end(),
                     [&](const PolicySummary& s) { return s.mixes < page.mixes_in(s.category); });
}

std::string figure6_section(const Page& page) {
  if (!page.has("left_over"))
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
        if (policy == "left_over") continue;
        const EvalRun* run = page.grid.run(mix, policy);
        group.bars.push_back({run == nullptr ? std::nan("") : run->normalized_ipc, false,
                              run == nullptr ? "" : ", CTAs per SM: " + partition_label(run->partition)});
      }
      chart.groups.push_back(std::move(group));
    }
    charts::GroupedBars::Group mean{"GMEAN", true, {}};
    for (const std::string& policy : page.grid.policies())
      if (policy != "left_over") mean.bars.push_back(mean_bar(page, policy, category, &PolicySummary::normalized_ipc));
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

std::string mean_row(const Page& page, const std::string& name, const std::string& category, double PolicySummary::*figure) {
  std::string out = "<tr class=\"mean\">" + cell("td", name);
  for (const std::string& policy : page.grid.policies()) {
    const charts::GroupedBars::Bar bar = mean_bar(page, policy, category, figure);
    out += cell("td", ratio_cell(bar.value) + (bar.partial ? "*" : ""));
  }
  return out + "</tr>\n";
}

std::string table_section(const Page& page) {
  std::string out = "<h2>All results</h2>\n<p>Normalised IPC; the best policy of a mix is bold.";
  if (any_partial(page)) out += " * mean over fewer mixes than the others.";
  out += "</p>\n<div class=\"scroll\"><table><thead><tr>" + cell("th", "mix");
  for (const std::string& policy : page.grid.policies()) out += cell("th", policy_label(policy));
  out += "</tr></thead><tbody>\n";
  for (const std::string& category : page.grid.categories()) {
    out +=
        fmt::format("<tr class=\"group\"><th colspan=\"{}\">{}</th></tr>\n", page.grid.policies().size() + 1, escape(category));
    for (const ResultGrid::Mix& mix : page.grid.mixes()) {
      if (mix.category != category) continue;
      double best = 0;
      for (const EvalRun* run : mix.runs)
        if (run != nullptr && std::isfinite(run->normalized_ipc)) best = std::max(best, run->normalized_ipc);
      out += "<tr>" + cell("td", mix.name);
      for (const EvalRun* run : mix.runs)
        out += run == nullptr ? cell("td", "–")
                              : cell("td", ratio_cell(run->normalized_ipc), run->normalized_ipc >= best ? "best" : "");
      out += "</tr>\n";
    }
    out += mean_row(page, "GMEAN", category, &PolicySummary::normalized_ipc);
  }
  out += fmt::format("<tr class=\"group\"><th colspan=\"{}\">all mixes</th></tr>\n", page.grid.policies().size() + 1);
  out += mean_row(page, "GMEAN of mixes", "all", &PolicySummary::normalized_ipc);
  out += mean_row(page, "GMEAN of categories", "all", &PolicySummary::category_mean);
  out += mean_row(page, "STP (mean)", "all", &PolicySummary::stp);
  out += mean_row(page, "ANTT (mean, lower is better)", "all", &PolicySummary::antt);
  out += mean_row(page, "minimum speed-up (gmean)", "all", &PolicySummary::min_speedup);
  return out + "</tbody></table></div>\n";
}

std::string figure3_section(const Page& page) {
  std::string charts_html;
  for (const KernelType type : {KernelType::Compute, KernelType::Memory, KernelType::Cache}) {
    charts::Lines chart{fmt::format("{} kernels", to_string(type)), "CTAs per SM", "IPC / best IPC", {}};
    // The policies' order of colours would begin with grey: start at the second.
    constexpr std::size_t kColours[] = {4, 5, 3, 1, 6, 2, 9, 8, 7, 0};
    for (const SoloRun& solo : page.results.solo) {
      if (solo.type != type || solo.curve.empty()) continue;
      const double best = *std::max_element(solo.curve.begin(), solo.curve.end());
      if (!(best > 0)) continue;
      charts::Lines::Line line{{solo.kernel, kColours[chart.lines.size() % std::size(kColours)]}, {}, {}};
      for (const double ipc : solo.curve) line.values.push_back(ipc / best);
      line.unit_note = fmt::format(" of {:.1f} instructions per cycle", best);
      chart.lines.push_back(std::move(line));
    }
    if (!chart.lines.empty()) charts_html += charts::line_chart(chart);
  }
  if (charts_html.empty()) return "";
  return "<h2>Performance against CTAs per SM (figure 3a)</h2>\n<p>Each kernel alone, with at most so many CTAs on every SM; IPC "
         "over "
         "the kernel's own best. These curves come from runs of their own, not from the profiling windows.</p>\n<div "
         "class=\"multiples\">\n" +
         charts_html + "</div>\n";
}

std::string partition_section(const Page& page) {
  std::vector<std::string> shown;
  for (const char* policy : {"even", "static", "warped_slicer", "oracle"})
    if (page.has(policy)) shown.emplace_back(policy);
  if (shown.empty()) return "";
  std::string out =
      "<h2>Chosen partitions (table III)</h2>\n<p>CTAs per SM of each kernel, in the order of the mix's name. \"Spatial\": each "
      "kernel has "
      "SMs of its own. Bold: Warped-Slicer differs from Even.</p>\n<div class=\"scroll\"><table><thead><tr>" +
      cell("th", "mix");
  for (const std::string& policy : shown) out += cell("th", policy_label(policy), "centre");
  out += cell("th", "decided at (cycle)") + "</tr></thead><tbody>\n";
  for (const std::string& category : page.grid.categories()) {
    out += fmt::format("<tr class=\"group\"><th colspan=\"{}\">{}</th></tr>\n", shown.size() + 2, escape(category));
    for (const ResultGrid::Mix& mix : page.grid.mixes()) {
      if (mix.category != category) continue;
      const EvalRun* even = page.grid.run(mix, "even");
      out += "<tr>" + cell("td", mix.name);
      for (const std::string& policy : shown) {
        const EvalRun* run = page.grid.run(mix, policy);
        const bool differs =
            policy == "warped_slicer" && run != nullptr && even != nullptr && !(run->partition == even->partition);
        out += cell("td", run == nullptr ? "–" : partition_label(run->partition), differs ? "centre differs" : "centre");
      }
      const EvalRun* ours = page.grid.run(mix, "warped_slicer");
      out +=
          cell("td", ours == nullptr || ours->decisions.empty() ? "–" : grouped(ours->decisions.front().decided_at)) + "</tr>\n";
    }
  }
  return out + "</tbody></table></div>\n";
}

std::string figure9_section(const Page& page) {
  std::string out =
      "<h2>Fairness and turnaround (figure 9)</h2>\n<p>Minimum speed-up: the smallest T<sub>alone</sub> / T<sub>corun</sub> of a "
      "mix, over "
      "that of Left-Over (geometric mean). ANTT: mean T<sub>corun</sub> / T<sub>alone</sub> of a mix (arithmetic mean).</p>\n" +
      charts::legend(policy_series(page, true));
  if (page.has("left_over")) {
    charts::GroupedBars chart =
        means_chart(page, &PolicySummary::fairness, "Minimum speed-up over Left-Over", "min. speed-up / Left-Over", true);
    chart.baseline = 1;
    out += "<h3>Minimum speed-up over Left-Over (higher is better)</h3>\n" + charts::grouped_bars(chart);
  }
  out += "<h3>Average normalised turnaround time (lower is better)</h3>\n" +
         charts::grouped_bars(
             means_chart(page, &PolicySummary::antt, "Average normalised turnaround time", "ANTT (T corun / T alone)", true));
  const PolicySummary* ours = page.summary.find("warped_slicer", "all");
  const PolicySummary* even = page.summary.find("even", "all");
  if (ours != nullptr && even != nullptr && ours->mixes == even->mixes)
    out += fmt::format(
        "<p>Minimum speed-up, Warped-Slicer over Even: {} in this model; <em>published</em>, two kernels: {:+.0f} %.</p>\n",
        format_gain(ours->min_speedup / even->min_speedup), (kPublishedGains[1].fairness_ratio - 1) * 100);
  return out;
}

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

std::string counters_section(const Page& page) {
  std::string out = "<h2>Counters behind the results (figure 7)</h2>\n<p>Arithmetic means over all mixes that the policy ran.";
  if (any_partial(page)) out += " Hollow bars, and rows that say so, cover fewer mixes.";
  out += "</p>\n<h3>Utilisation of pipelines and of SM resources</h3>\n" + utilization_chart(page) + stall_chart(page) +
         "<h3>Caches and memory</h3>\n<div class=\"scroll\"><table><thead><tr>" + cell("th", "policy") +
         cell("th", "L1 miss rate") + cell("th", "L2 miss rate") + cell("th", "DRAM (bytes/cycle)") + cell("th", "IPC (mean)") +
         "</tr></thead><tbody>\n";
  for (const std::string& policy : page.grid.policies())
    out += "<tr>" + cell("td", policy_row_label(page, policy)) +
           cell("td", percent(policy_mean(page, policy, [](const EvalRun& r) { return r.l1_miss_rate; }))) +
           cell("td", percent(policy_mean(page, policy, [](const EvalRun& r) { return r.l2_miss_rate; }))) +
           cell("td", ratio_cell(policy_mean(page, policy, [](const EvalRun& r) { return r.dram_bytes_per_cycle; }), 1)) +
           cell("td", ratio_cell(policy_mean(page, policy, [](const EvalRun& r) { return r.ipc; }), 1)) + "</tr>\n";
  return out + "</tbody></table></div>\n";
}

std::string solo_section(const Page& page) {
  if (page.results.solo.empty()) return "";
  const bool published =
      std::any_of(page.results.solo.begin(), page.results.solo.end(), [](const SoloRun& s) { return s.reference.has_value(); });
  const char* const figures[] = {"IPC", "ALU", "SFU", "LDST", "L2 MPKI"};
  std::string out =
      fmt::format(
          "<h2>Kernels alone</h2>\n<p>IPC in thread instructions per cycle of the whole GPU; utilisation of pipelines; L2 "
          "misses per thousand warp instructions.{}</p>\n<div class=\"scroll\"><table><thead><tr>",
          published ? " Ref.: the reference figures of the workload file, published or measured on a real GPU." : "") +
      cell("th", "kernel") + cell("th", "type", "centre");
  for (const char* name : figures) {
    out += cell("th", name);
    if (published) out += cell("th", "ref.", "published");
  }
  out += "</tr></thead><tbody>\n";
  for (const SoloRun& s : page.results.solo) {
    const SoloReference r = s.reference.value_or(SoloReference{});
    const double nan = std::nan("");
    const bool known = s.reference.has_value();
    const std::string pairs[][2] = {
        {ratio_cell(s.ipc, 1), ratio_cell(known && r.cycles > 0 ? r.instructions / static_cast<double>(r.cycles) : nan, 1)},
        {percent(s.alu_utilization, 0), percent(known ? r.alu_utilization : nan, 0)},
        {percent(s.sfu_utilization, 0), percent(known ? r.sfu_utilization : nan, 0)},
        {percent(s.ldst_utilization, 0), percent(known ? r.ldst_utilization : nan, 0)},
        {ratio_cell(s.l2_mpki, 2), ratio_cell(known ? r.l2_mpki : nan, 2)}};
    out += "<tr>" + cell("td", s.kernel) + cell("td", to_string(s.type), "centre");
    for (const auto& [model, reference] : pairs) {
      out += cell("td", model);
      if (published) out += cell("td", reference, "published");
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string html_report(const EvalResults& results) {
  const Page page(results);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escape(title(page)), kReportStyle);
  out += head_section(page);
  if (results.runs.empty())
    out += "<p>No mix ran.</p>\n";
  else
    out += gains_section(page) + figure6_section(page) + table_section(page) + partition_section(page) + figure9_section(page) +
           counters_section(page);
  out += figure3_section(page) + solo_section(page);
  return out + "</body>\n</html>\n";
}

}  // namespace sluice
