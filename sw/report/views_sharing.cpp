// SPDX-License-Identifier: Apache-2.0
// SiM's figures, and Slate's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/views.h"

namespace sluice::figures {

using namespace report;

namespace {

std::string sim_title(const Json& f, const std::string& /*workload*/) {
  return fmt::format(
      "SiM gains {} over sequential execution on pairs with a kernel that leaves issue slots, {} on the others; the paper says "
      "9.8 and 0.3 %",
      gained(number(f, "/10/data/mean/adaptive")), gained(number(f, "/11/data/mean/adaptive")));
}

Blocks sim_opening(const Json& f) {
  const auto n = [&](const char* figure, const char* who) { return number(f, fmt::format("/{}/data/mean/{}", figure, who)); };
  return {Large{beside("Throughput over sequential execution, mean of the pairs",
                       {{"SiM, one kernel leaves issue slots", n("10", "adaptive"), 1.098},
                        {"PT, the same pairs", n("10", "pt"), 1.053},
                        {"Even, the same pairs", n("10", "even")},
                        {"SiM, no kernel leaves issue slots", n("11", "adaptive"), 1.003},
                        {"PT, the same pairs", n("11", "pt"), 0.995},
                        {"Even, the same pairs", n("11", "even")}})}};
}

Blocks held(const Json& data) {
  Table table({"resource", Column("held by an SM", Notation::Number, 0)});
  for (const auto& [resource, count] : data.items()) table.row({resource, count.get<double>()});
  return {table};
}

Blocks fitted(const Json& data) {
  return {Multiples{{rows_of({.title = "Time of a launch, ms", .sorted = true}, data,
                             {{"time", "/time_ms", Notation::Number, 4, "/published_time_ms"}}),
                     rows_of({.title = "Issue-slot utilisation", .sorted = true}, data,
                             {{"ISU", "/issue_utilization", Notation::Share, 1, "/published_issue_utilization"}})}}};
}

Blocks occupied(const Json& data) {
  return {Large{rows_of({.title = "Share of an SM that a kernel fills, %"}, data, fields_of(data, Notation::Number, 1))}};
}
Blocks used(const Json& data) {
  return {Large{rows_of({.title = "Use of each unit, of 10"}, data, fields_of(data, Notation::Number, 1))}};
}

Blocks example(const Json& data) {
  Table table({Column("from, us", Notation::Number, 0), "CTAs of A on an SM", "CTAs of B"});
  for (const Json& step : data) {
    Row row{step.at("us").get<double>()};
    for (const char* kernel : {"A", "B"}) row.emplace_back(static_cast<std::uint64_t>(step.at("ctas").value(kernel, 0)));
    table.row(std::move(row));
  }
  return {table};
}

Blocks performance(const Json& data) { return {curves(data, "/performance", "CTAs on an SM", "over the best")}; }

Blocks sim_pairs_view(const Json& data) {
  Json pairs = data.value("pairs", Json::object());
  if (data.contains("mean"))
    for (const auto& [who, value] : data.at("mean").items()) value.is_number() ? pairs["mean"][who] = {{"stp", value}} : Json();
  std::vector<Field> fields = {{"SiM (adaptive)", "/adaptive/stp", Notation::Gain, 1},
                               {"PT", "/pt/stp", Notation::Gain, 1},
                               {"Even", "/even/stp", Notation::Gain, 1},
                               {"no schedule is above", "/bound", Notation::Gain, 1}};
  return {Large{rows_of({.title = "Sequential span over span", .baseline = 1.0, .sorted = true}, pairs, fields)},
          Folded{"Turnaround of every pair", table_of("pair", pairs,
                                                      {{"ANTT, SiM", "/adaptive/antt", Notation::Number, 2},
                                                       {"ANTT, PT", "/pt/antt", Notation::Number, 2},
                                                       {"ANTT, Even", "/even/antt", Notation::Number, 2},
                                                       {"worst NTT, SiM", "/adaptive/worst_ntt", Notation::Number, 2}},
                                                      {"mean"})}};
}

Blocks sim_turnaround(const Json& data) {
  Multiples all;
  for (const auto& [group, schedulers] : data.items())
    all.charts.emplace_back(rows_of(
        {.title = (group == "low" ? "A kernel leaves issue slots" : "No kernel leaves issue slots"), .baseline = 1.0}, schedulers,
        {{"ANTT over alone", "/antt", Notation::Gain, 1}, {"over sequential", "/antt_over_sequential", Notation::Gain, 1}}));
  return {all};
}

std::string slate_title(const Json& f, const std::string& /*workload*/) {
  return fmt::format("Slate gains {} over Left-Over on 15 pairs, {} with measured ranges; the paper says 11 % over MPS",
                     gained(number(f, "/7/data/mean/slate")), gained(number(f, "/7/data/mean/slate_measured")));
}

Blocks slate_opening(const Json& f) {
  const auto n = [&](const char* pointer) { return number(f, pointer); };
  return {Large{beside("Throughput over Left-Over, geometric mean of 15 pairs",
                       {{"Slate, by its table of classes", n("/7/data/mean/slate"), 1.11},
                        {"Slate, by measured ranges", n("/7/data/mean/slate_measured"), 1.11},
                        {"one after the other", n("/7/data/mean/arrival")},
                        {"BS beside RG", n("/table4/data/left_over/ms") / n("/table4/data/slate/ms"), 1.3055}})}};
}

Blocks bandwidth(const Json& data) {
  LineChart chart{.title = "Global loads and stores over the kernel's best",
                  .x_label = "SMs",
                  .y_label = "of its best",
                  .y_notation = Notation::Share,
                  .marks = {{"paper: Stream's peak", 9}}};
  for (const auto& [kernel, d] : data.items()) {
    double best = 0;
    for (const Json& v : d.at("gigabytes")) best = v.is_number() ? std::max(best, v.get<double>()) : best;
    LineChart::Line line{{kernel, chart.lines.size() + 1}, {}};
    for (std::size_t i = 0; i < d.at("gigabytes").size(); ++i)
      if (d.at("gigabytes")[i].is_number())
        line.points.emplace_back(static_cast<double>(i + 1), d.at("gigabytes")[i].get<double>() / best);
    chart.lines.push_back(std::move(line));
  }
  return {Large{chart}};
}

Blocks classes(const Json& data) {
  std::vector<Column> columns{"running \\ candidate"};
  for (const auto& [name, row] : data.items()) columns.emplace_back(name);
  Table table(columns);
  for (const auto& [name, cells] : data.items()) {
    Row row{name};
    for (const auto& [other, may] : cells.items()) row.emplace_back(may.get<bool>() ? "together" : "alone");
    table.row(std::move(row));
  }
  return {table};
}

Blocks rates(const Json& data) {
  return {Multiples{{rows_of({.title = "GB/s", .sorted = true}, data,
                             {{"GB/s", "/gigabytes", Notation::Number, 0, "/published_gigabytes"}}),
                     rows_of({.title = "GFLOP/s", .sorted = true}, data,
                             {{"GFLOP/s", "/gflops", Notation::Number, 0, "/published_gflops"}})}},
          table_of("kernel", data,
                   {{"class: compute", "/compute"},
                    {"memory", "/memory"},
                    {"IPC of an SM", "/ipc", Notation::Number, 2},
                    {"time, ms", "/ms", Notation::Number, 4}})};
}

Blocks gaussian(const Json& data) { return {table_of("", data, {{"in blocks", "/blocks"}, {"in tasks of ten", "/tasks"}})}; }
Blocks bs_rg(const Json& data) {
  return {table_of("", data,
                   {{"both done after, ms", "/ms", Notation::Number, 4},
                    {"IPC of an SM", "/ipc", Notation::Number, 2},
                    {"GB/s", "/gigabytes", Notation::Number, 1}})};
}

Blocks added(const Json&) {
  Table table({"operation", words("in software, as published"), words("with the partition unit")});
  table.row({"test of the SM, loop over blocks", "3 % more instructions (BS)", "none: quota and mask of a kernel slot"})
      .row({"pull of a task", "an atomic", "the dispatcher's CTA counter"})
      .row({"change of a range", "retreat flag, workers launched anew", "a write of the mask; CTAs that are out of it drain"})
      .row({"injection and compilation", "1.5 % of the application", "none"})
      .row({"client and daemon", "4 % of the application", "not modelled"})
      .row({"profiling", "offline", "offline"});
  return {table};
}

Blocks task_sizes(const Json& data) {
  Multiples all;
  for (const auto& [kernel, sizes] : data.items()) {
    LineChart chart{
        .title = kernel, .x_label = "blocks a task", .y_label = "time over single blocks", .from_zero = false, .log_x = true};
    LineChart::Line line{{kernel, 4}, {}};
    for (const auto& [size, ratio] : sizes.items()) line.points.emplace_back(std::stod(size), ratio.get<double>());
    chart.lines.push_back(std::move(line));
    all.charts.emplace_back(std::move(chart));
  }
  return {all};
}

Blocks slate_pairs(const Json& data) {
  Json pairs = data.at("pairs");
  pairs["mean"] = data.at("mean");
  RowChart chart = rows_of({.title = "Throughput over Left-Over", .baseline = 1.0, .sorted = true}, pairs,
                           {{"Slate", "/slate", Notation::Gain, 1},
                            {"Slate, measured ranges", "/slate_measured", Notation::Gain, 1},
                            {"one after the other", "/arrival", Notation::Gain, 1}});
  for (auto& row : chart.rows)  // what the text prints
    row.points.front().published = row.label == "mean"
                                       ? 1.11
                                       : (row.label == "RG_GS" || row.label == "GS_RG"
                                              ? 1.35
                                              : (row.label == "BS_MM" ? 0.98 : (row.label == "BS_RG" ? 1.3055 : kNone)));
  return {Large{chart}};
}

Blocks set_up(const Json& data) {
  const Json rows = keyed(data, {"cycles"});
  return {Large{rows_of({.title = "Mean of 15 pairs, by the cycles that setting up a CTA takes", .baseline = 1.0}, rows,
                        {{"gain", "/mean", Notation::Gain, 1}})},
          table_of("cycles a CTA", rows,
                   {{"mean", "/mean", Notation::Gain, 1}, {"pairs with the published sign, of 15", "/published_sign"}})};
}

}  // namespace

const PageView& sim_view() {
  static const PageView view{
      "sim",
      sim_title,
      "Pairs of seven kernels, fitted in length and issue-slot utilisation, in both orders of arrival on a K40.",
      sim_opening,
      {{"table2", held},
       {"table3", fitted},
       {"2", occupied},
       {"6", example},
       {"7", used},
       {"9", performance},
       {"10", sim_pairs_view},
       {"11", sim_pairs_view},
       {"antt", sim_turnaround},
       {"10_equal", sim_pairs_view},
       {"11_equal", sim_pairs_view},
       {"antt_equal", sim_turnaround}}};
  return view;
}

const PageView& slate_view() {
  static const PageView view{"slate",
                             slate_title,
                             "Five kernels on a Titan Xp, alone and in pairs that start together.",
                             slate_opening,
                             {{"1", bandwidth},
                              {"table1", classes},
                              {"table2", rates},
                              {"table3", gaussian},
                              {"table4", bs_rg},
                              {"table5", added, true},
                              {"5", task_sizes},
                              {"7", slate_pairs},
                              {"7-set-up", set_up}}};
  return view;
}

}  // namespace sluice::figures
