// SPDX-License-Identifier: Apache-2.0
// Kernelet's figures 5 to 9, and what its choices rest on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "sw/report/views.h"

namespace sluice::figures {

using namespace report;

namespace {

constexpr std::array kWorkloads = {"CI", "MI", "MIX", "ALL"};

/// "faster than Base on 3 of 4 workloads of a C2050 (up to 48 %)"
std::string gains(const Json& f, const char* figure, const char* machine) {
  int faster = 0;
  double most = 0;
  for (const char* workload : kWorkloads) {
    const double gain = number(f, fmt::format("/{}/data/{}/over_base", figure, workload));
    faster += gain > 0.005 ? 1 : 0;
    most = std::fmax(most, gain);
  }
  return fmt::format("on {} of {} workloads of a {} (up to {})", faster, kWorkloads.size(), machine, gained(1 + most, 0));
}

std::string kernelet_title(const Json& f, const std::string& /*workload*/) {
  return fmt::format("Kernelet is faster than Base {} and {}; in the paper on all, by 5 to 31 and by 7 to 23 %",
                     gains(f, "6a", "C2050"), gains(f, "6b", "GTX 680"));
}

Blocks kernelet_opening(const Json& f) {
  RowChart chart{.title = "Kernelet and OPT over Base: time of a workload",
                 .series = {{"Kernelet", 5}, {"OPT", 4}},
                 .notation = Notation::Gain,
                 .digits = 1,
                 .baseline = 1.0};
  for (const auto& [figure, machine] : {std::pair{"6a", "C2050, "}, {"6b", "GTX 680, "}})
    for (const char* workload : kWorkloads) {
      const auto n = [&](const char* what) { return number(f, fmt::format("/{}/data/{}/{}", figure, workload, what)); };
      chart.rows.push_back({std::string(machine) + workload, {{n("base_s") / n("kernelet_s")}, {n("base_s") / n("opt_s")}}});
    }
  return {Large{chart}};
}

Blocks alone(const Json& data) {
  return {Multiples{{rows_of({.title = "IPC of peak", .sorted = true}, data, {{"IPC", "/ipc", Notation::Share, 1}}),
                     rows_of({.title = "DRAM bandwidth used", .sorted = true}, data,
                             {{"DRAM", "/memory_utilisation", Notation::Share, 1}}),
                     rows_of({.title = "Gain with fewer CTAs than fit", .baseline = 1.0, .sorted = true}, data,
                             {{"gain", "/best", Notation::Gain, 1}})}},
          Folded{"Numbers", table_of("kernel", data,
                                     {{"IPC of peak", "/ipc"},
                                      {"DRAM bandwidth", "/memory_utilisation", Notation::Share, 1},
                                      {"CTAs on an SM", "/ctas"},
                                      {"fastest with", "/best_ctas"},
                                      {"and then faster by", "/best", Notation::Gain, 1}})}};
}

Blocks predicted(const Json& data) {
  LineChart chosen{
      .title = "The ratio that Kernelet chooses", .x_label = "simulated IPC, of peak", .y_label = "predicted", .diagonal = true},
      all = chosen;
  all.title = "Every slice ratio";
  LineChart::Line few{{"pair", 4}, {}, false}, many{{"pair", 4}, {}, false};
  for (const Json& p : data.at("pairs")) {
    const std::string note = fmt::format("{} {} beside {} {}: {:.3f} simulated, {:.3f} predicted", p.at("ctas")[0].get<int>(),
                                         p.at("kernels")[0].get<std::string>(), p.at("ctas")[1].get<int>(),
                                         p.at("kernels")[1].get<std::string>(), number(p, "/simulated"), number(p, "/predicted"));
    for (LineChart::Line* line : {&few, &many}) {
      if (line == &few && !p.value("chosen", false)) continue;
      line->points.emplace_back(number(p, "/simulated"), number(p, "/predicted"));
      line->notes.push_back(note);
    }
  }
  chosen.lines.push_back(std::move(few));
  all.lines.push_back(std::move(many));
  return {Multiples{{chosen, all}}};
}

/// "Kernelet" for kernelet_s.
std::string scheduler(std::string key) {
  key.resize(key.size() - 2);
  std::ranges::replace(key, '_', ' ');
  if (key == "opt") return "OPT";
  key[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(key[0])));
  return key;
}

Blocks totals(const Json& data) {
  RowChart chart{.title = "Over Base", .notation = Notation::Gain, .digits = 1, .baseline = 1.0};
  std::vector<Field> columns;
  for (const auto& [key, value] : data.begin().value().items()) {
    if (!key.ends_with("_s")) continue;
    columns.push_back({scheduler(key) + ", s", "/" + key, Notation::Number, 1});
    if (key != "base_s") chart.series.push_back({scheduler(key), chart.series.size() + 1});
  }
  for (const auto& [workload, d] : data.items()) {
    RowChart::Row row{workload, {}};
    for (const auto& [key, value] : d.items())
      if (key.ends_with("_s") && key != "base_s") row.points.push_back({number(d, "/base_s") / number(value)});
    chart.rows.push_back(std::move(row));
  }
  columns.insert(columns.end(), {{"from OPT", "/from_opt", Notation::Share, 1},
                                 {"pairs pruned", "/pruned", Notation::Share, 0},
                                 {"profit lost by pruning", "/lost_profit", Notation::Number, 4}});
  return {Large{chart}, Folded{"Seconds", table_of("workload", data, columns)}};
}

/// What each part of the prediction costs: of pages made when the parts were studied.
Blocks causes_view(const Json& data) {
  return {table_of("workload, rates", keyed(data, {"workload", "what"}),
                   {{"seconds", "/seconds", Notation::Number, 1},
                    {"over Base", "/over_base", Notation::Share, 1},
                    {"from OPT", "/from_opt", Notation::Share, 1}})};
}

Blocks random(const Json& data) {
  std::vector<double> seconds = data.at("seconds").get<std::vector<double>>();
  std::ranges::sort(seconds);
  LineChart chart{.title = "Share of random schedules that take at most so long",
                  .x_label = "seconds",
                  .y_notation = Notation::Share,
                  .marks = {{"Kernelet", number(data, "/kernelet_s")}, {"Base", number(data, "/base_s")}}};
  LineChart::Line line{{"random schedules", 4}, {}};
  for (std::size_t i = 0; i < seconds.size(); ++i)
    line.points.emplace_back(seconds[i], static_cast<double>(i + 1) / static_cast<double>(seconds.size()));
  chart.lines.push_back(std::move(line));
  return {Large{chart}};
}

/// Every variant over the time of Y,Y, by workload and scale.
Blocks variants(const Json& data) {
  Json groups = Json::object();
  for (const Json& run : data)
    groups[fmt::format("{}, scale {:g}", run.at("workload").get<std::string>(), run.at("scale").get<double>())]
          [run.at("variant").get<std::string>()] = run;
  static const std::map<std::string, std::string> names = {
      {"Y,Y", "both"}, {"N,Y", "co-scheduling alone"}, {"Y,N", "copies beside kernels alone"}, {"N,N", "neither"}};
  RowChart chart{.title = "Time over that with copies beside kernels and co-scheduling",
                 .notation = Notation::Gain,
                 .digits = 1,
                 .baseline = 1.0};
  for (const auto& [variant, name] : names) chart.series.push_back({name, chart.series.size() + 1});
  for (const auto& [group, runs] : groups.items()) {
    RowChart::Row row{group, {}};
    for (const auto& [variant, name] : names)
      row.points.push_back({number(runs, "/" + variant + "/seconds") / number(runs, "/Y,Y/seconds")});
    chart.rows.push_back(std::move(row));
  }
  return {Large{chart}, Folded{"Seconds", table_of("workload, scale, variant", keyed(data, {"workload", "scale", "variant"}),
                                                   {{"total, s", "/seconds", Notation::Number, 1},
                                                    {"copies beside kernels", "/overlapped", Notation::Share, 1}})}};
}

Blocks thresholds(const Json& data) {
  return {Folded{"Every pair of thresholds",
                 table_of("issue slots, DRAM alike below", keyed(data, {"issue", "memory"}),
                          {{"pairs", "/pairs"}, {"pruned", "/pruned"}, {"profit lost", "/lost_profit"}})}};
}

}  // namespace

const PageView& kernelet_view() {
  static const PageView view{
      "kernelet",
      kernelet_title,
      "Eight kernels on two machines: predicted and simulated pairs, and schedules of four workloads with their rates.",
      kernelet_opening,
      {{"alone", alone},
       {"5a", predicted},
       {"5b", predicted},
       {"6a", totals},
       {"6b", totals},
       {"6a-causes", causes_view},
       {"7", random},
       {"8", variants},
       {"9", variants},
       {"pruning", thresholds}}};
  return view;
}

}  // namespace sluice::figures
