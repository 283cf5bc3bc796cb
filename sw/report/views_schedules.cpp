// SPDX-License-Identifier: Apache-2.0
// EffiSha's figures, and every scheduler on the same work.
#include <fmt/format.h>

#include <cmath>

#include "sw/report/views.h"

namespace sluice::figures {

using namespace report;

namespace {

std::string effisha_title(const Json& f, const std::string& /*workload*/) {
  return fmt::format(
      "Preempting costs {} of a kernel's time in hardware and {} in adaptive software; the paper's software costs 4 %",
      written(number(f, "/10/data/mean/hardware"), Notation::Share, 2),
      written(number(f, "/10/data/mean/adaptive"), Notation::Share, 1));
}

Blocks effisha_opening(const Json& f) {
  const auto mean = [&](const char* mechanism) { return number(f, std::string("/10/data/mean/") + mechanism); };
  return {Large{beside("Time that a kernel alone loses by being preemptible, mean of eleven kernels",
                       {{"hardware: the dispatcher stops refilling", mean("hardware")},
                        {"adaptive: a proxy polls, every k-th time", mean("adaptive"), 0.04},
                        {"proxy: one CTA polls for all", mean("proxy"), 0.15},
                        {"basic: every warp polls (paper: ten times)", mean("basic")}},
                       Notation::Share, 2)}};
}

Blocks kernels_alone_view(const Json& data) {
  RowChart chart = rows_of({.title = "Time alone, ms", .sorted = true, .log = true}, data,
                           {{"full size", "/full_size_ms", Notation::Number, 2, "/published_ms"}});
  return {Large{chart}, Folded{"Times", table_of("kernel", data,
                                                 {{"published, ms", "/published_ms", Notation::Number, 2},
                                                  {"full size, ms", "/full_size_ms", Notation::Number, 2},
                                                  {"as scheduled, ms", "/scaled_ms", Notation::Number, 2}})}};
}

Blocks tasks(const Json& data) {
  return {Multiples{{rows_of({.title = "Mean length of a block-task, ms", .kind = RowChart::Kind::Bars, .sorted = true}, data,
                             {{"ms", "", Notation::Number, 3}})}}};
}

Blocks evictions_view(const Json& data) {
  LineChart chart{
      .title = "Evictions by priority; a line for each wait between launches", .x_label = "priority", .y_label = "evictions"};
  for (const auto& [wait, counts] : data.items()) {
    LineChart::Line line{{wait + " ms", chart.lines.size()}, {}};
    for (std::size_t p = 0; p < counts.size(); ++p) line.points.emplace_back(static_cast<double>(p + 1), counts[p].get<double>());
    chart.lines.push_back(std::move(line));
  }
  return {Large{chart}};
}

Blocks overheads(const Json& data) {
  std::vector<Field> fields = fields_of(data, Notation::Share, 2);
  std::vector<Field> drawn = fields;  // with the measured rate of reads basic takes many times as long
  std::erase_if(drawn, [](const Field& f) { return f.at.find("basic_by") != std::string::npos; });
  RowChart chart = rows_of({.title = "Overhead alone", .sorted = true}, data, drawn);
  for (auto& row : chart.rows)
    for (std::size_t s = 0; row.strong && s < row.points.size(); ++s)
      row.points[s].published = drawn[s].name == "proxy" ? 0.15 : (drawn[s].name == "adaptive" ? 0.04 : kNone);
  return {Large{chart}, Folded{"Overheads", table_of("kernel", data, fields)}};
}

/// A chart of the schedulers for each setting of priorities.
Multiples by_setting(const Json& data, const std::string& what, Notation notation, int digits) {
  Multiples all;
  for (const auto& [setting, values] : data.items())
    if (values.is_object())
      all.charts.emplace_back(rows_of({.title = what + setting, .sorted = true}, values, {{"", "", notation, digits}}));
  return all;
}

Blocks makespans(const Json& data) { return {by_setting(data, "Longer than arrival order, ", Notation::Share, 2)}; }
Blocks throughputs(const Json& data) { return {by_setting(data, "STP, ", Notation::Number, 2)}; }

Blocks latencies(const Json& data) {
  return {Large{rows_of({.title = "Mean latency, ms", .sorted = true, .log = true}, data,
                        fields_of(data, Notation::Number, 3, "/mean_ms"))},
          Folded{"Longest latencies, ms", table_of("kernel", data, fields_of(data, Notation::Number, 3, "/max_ms"))}};
}

Blocks turnarounds(const Json& data) {
  Blocks blocks;
  Multiples all;
  for (const auto& [setting, schedulers] : data.items()) {
    if (!schedulers.is_object()) continue;
    Json by_kernel = Json::object();
    for (const auto& [scheduler, kernels] : schedulers.items())
      for (const auto& [kernel, ntt] : kernels.items())
        if (ntt.is_object()) by_kernel[kernel][scheduler] = ntt.at("model");
    all.charts.emplace_back(rows_of({.title = "Turnaround over time alone, " + setting, .log = true}, by_kernel,
                                    fields_of(by_kernel, Notation::Number, 2)));
    blocks.push_back(Folded{"Turnaround over time alone, " + setting,
                            table_of("kernel", by_kernel, fields_of(by_kernel, Notation::Number, 2))});
  }
  blocks.insert(blocks.begin(), all);
  return blocks;
}

Blocks mechanisms(const Json& data) { return {table_of("mechanism", data, fields_of(data, Notation::Number, 3))}; }

double most(const Json& schedulers, const char* pointer, bool least, std::string& who) {
  double found = kNone;
  for (const auto& [scheduler, d] : schedulers.items()) {
    const double value = number(d, pointer);
    if (std::isfinite(value) && (!std::isfinite(found) || (least ? value < found : value > found)))
      found = value, who = scheduler;
  }
  return found;
}

std::string five_title(const Json& f, const std::string& /*workload*/) {
  std::string pairs, turnaround, arrivals;
  const double stp = most(f.at("pairs").at("data"), "/stp", false, pairs),
               antt = most(f.at("pairs").at("data"), "/antt", true, turnaround);
  const double later = f.contains("arrivals") ? most(f.at("arrivals").at("data"), "/stp", false, arrivals) : kNone;
  std::string out = fmt::format("On pairs that start together {} has the highest throughput (STP {:.2f})", pairs, stp);
  if (pairs != turnaround) out += fmt::format(", {} the shortest turnaround ({:.2f})", turnaround, antt);
  if (std::isfinite(later))
    out += fmt::format("; on jobs that arrive one after the other it is {} (STP {:.2f})", arrivals, later);
  return out;
}

RowChart compared(const Json& data, const char* title, const char* pointer, Notation notation, int digits) {
  RowChart chart{.title = title, .notation = notation, .digits = digits, .sorted = true};
  if (notation == Notation::Gain) chart.baseline = 1.0;
  for (const auto& [scheduler, d] : data.items()) {  // there is no room for what follows a colon; the table has it
    const std::string system = d.value("system", "");
    chart.rows.push_back({fmt::format("{}: {}", scheduler, system.substr(0, system.find(": "))), {{number(d, pointer)}}});
  }
  return chart;
}

/// A point for each scheduler, in the colour of its system.
LineChart throughput_over_waiting(const Json& data) {
  LineChart chart{.title = "Throughput over waiting: up and to the left is better",
                  .x_label = "ANTT",
                  .y_label = "times as fast as one after the other",
                  .from_zero = false,
                  .log_x = true};
  for (const auto& [scheduler, d] : data.items()) {
    std::string system = d.value("system", "");
    system = system.substr(0, system.find_first_of(" :'"));
    const bool baseline = system != "ours" && std::islower(static_cast<unsigned char>(system.front())) != 0;
    if (baseline || system.empty()) system = "baselines";
    auto line = std::ranges::find(chart.lines, system, [](const LineChart::Line& l) { return l.series.name; });
    if (line == chart.lines.end()) {
      chart.lines.push_back({.series = {system, chart.lines.size()}, .points = {}, .joined = false});
      line = std::prev(chart.lines.end());
    }
    line->points.emplace_back(number(d, "/antt"), 1 / number(d, "/makespan"));
    line->notes.push_back(scheduler);
  }
  return chart;
}

Blocks five_opening(const Json& f) {
  return {
      Large{compared(f.at("pairs").at("data"), "STP on pairs: what both kernels get done, of 2", "/stp", Notation::Number, 3)}};
}

Blocks compared_view(const Json& data) {
  return {Large{throughput_over_waiting(data)},
          Multiples{{compared(data, "STP (more is better)", "/stp", Notation::Number, 2),
                     compared(data, "ANTT (less is better)", "/antt", Notation::Number, 2),
                     compared(data, "Makespan over one after the other", "/makespan", Notation::Gain, 1)}},
          Folded{"All figures", table_of("scheduler", data,
                                         {{"system", "/system"},
                                          {"STP", "/stp"},
                                          {"ANTT", "/antt", Notation::Number, 2},
                                          {"worst NTT", "/worst_ntt", Notation::Number, 2},
                                          {"makespan over one after the other", "/makespan"},
                                          {"SM time stalled", "/stalled", Notation::Share, 1},
                                          {"SM time without a warp", "/empty", Notation::Share, 1}})}};
}

}  // namespace

const PageView& effisha_view() {
  static const PageView view{
      "effisha",
      effisha_title,
      "Eleven SHOC kernels, fitted to table 3, on a K40: alone and in schedules of launches with priorities.",
      effisha_opening,
      {{"table3", kernels_alone_view},
       {"3", tasks},
       {"9", evictions_view},
       {"10", overheads},
       {"12", makespans},
       {"13", latencies},
       {"14", turnarounds},
       {"15", throughputs},
       {"flavours", mechanisms}}};
  return view;
}

const PageView& five_view() {
  static const PageView view{
      "five",
      five_title,
      "Every scheduler and policy on the same kernels and the same arrivals. No paper makes this comparison.",
      five_opening,
      {{"pairs", compared_view}, {"arrivals", compared_view}}};
  return view;
}

}  // namespace sluice::figures
