// SPDX-License-Identifier: Apache-2.0
// Kernelet's queues from what was measured on a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "study/gpu_lines.h"
#include "study/kernelet_prediction.h"

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;

namespace {

std::string over(double base, double other) { return report::written(base / other, report::Notation::Gain, 1); }

/// Milliseconds until the last launch ended, by queue and system.
using QueueTimes = std::map<std::string, std::map<std::string, Values>>;

Figure queues(const QueueTimes& times, report::RowChart& chart) {
  Figure figure{"6", "Time of a queue: base over the system's",
                "Kernelet over Base 5 to 31 % on a C2050, 7 to 23 % on a GTX 680; within 1 to 3 % and 4 to 15 % of OPT."};
  report::Table table({"queue",
                       {"one after the other, ms", report::Notation::Number, 1},
                       {"base, ms", report::Notation::Number, 1},
                       {"Kernelet, ms", report::Notation::Number, 1},
                       {"OPT, ms", report::Notation::Number, 1}});
  chart.series = {{"Kernelet", 4}, {"OPT", 1}, {"one after the other", 0}};
  for (const auto& entry : times) {
    const std::string& queue = entry.first;
    const auto& systems = entry.second;
    if (queue == "mix_short" || !systems.contains("kernelet_opt")) continue;
    const auto of = [&](const char* system) { return median(systems.at(system)); };
    const double base = of("base"), ours = of("kernelet"), opt = of("kernelet_opt");
    chart.rows.push_back({queue, {{base / ours}, {base / opt}, {base / of("sequential")}}});
    table.row({queue, of("sequential"), base, ours, opt});
    figure.data[queue] = {{"sequential_ms", of("sequential")}, {"base_ms", base}, {"kernelet_ms", ours}, {"opt_ms", opt}};
    figure.measured += fmt::format("{}{} {}", figure.measured.empty() ? "Over base: " : ", ", queue, over(base, ours));
  }
  if (!table.empty()) figure.blocks = {table};
  return figure;
}

Figure random_plans(const QueueTimes& times) {
  Figure figure{"7", "Random plans of the queue MIX, three launches of each kernel",
                "Of 1,000 plans none is better than Kernelet."};
  const auto found = times.find("mix_short");
  if (found == times.end() || !found->second.contains("monte_carlo")) return figure;
  const auto& systems = found->second;
  Values plans = systems.at("monte_carlo");
  const double ours = median(systems.at("kernelet")), opt = median(systems.at("kernelet_opt")), base = median(systems.at("base"));
  const auto better = [&](double than) { return std::ranges::count_if(plans, [&](double ms) { return ms < than; }); };
  figure.data = {{"plans", plans.size()},
                 {"better_than_kernelet", better(ours)},
                 {"better_than_opt", better(opt)},
                 {"best_ms", *std::ranges::min_element(plans)},
                 {"median_ms", median(plans)}};
  figure.measured = fmt::format("{} of {} plans are better than Kernelet ({:.1f} ms), {} than OPT ({:.1f} ms).", better(ours),
                                plans.size(), ours, better(opt), opt);
  report::LineChart chart{"", "milliseconds until the queue is done", "part of the plans that are done"};
  chart.y_notation = report::Notation::Share;
  chart.marks = {{"Kernelet", ours}, {"OPT", opt}, {"Base", base}};
  std::ranges::sort(plans);
  report::LineChart::Line& line = chart.lines.emplace_back();
  line.series = {"random plans", 0};
  for (std::size_t i = 0; i < plans.size(); ++i)
    line.points.emplace_back(plans[i], static_cast<double>(i + 1) / static_cast<double>(plans.size()));
  figure.blocks = {report::Large{chart}};
  return figure;
}

/// How exact quotas were, and what deciding took.
void decision_costs(const std::filesystem::path& folder, Figure& figure, RunChecks& checks) {
  std::uint64_t violations = 0, random = 0;
  double most = 0;
  bool any = false;
  for (const json& line : lines(folder / "kernelet_queues.jsonl")) {
    if (!line.contains("decide_ms")) continue;
    any = true;
    (line.at("system") == "monte_carlo" ? random : violations) += line.at("violations").get<std::uint64_t>();
    most = std::max(most, line.at("decide_ms").get<double>() / line.at("end_ms").get<double>());
  }
  if (!any) return;
  checks.that(fmt::format("{} violations under Kernelet and OPT", violations), violations == 0);
  checks.that(fmt::format("{} violations under random plans", random), random == 0);
  figure.measured += fmt::format(". Decisions take {:.2f} % of a queue's time at most.", 100 * most);
}

}  // namespace

bool write_kernelet_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  QueueTimes times;
  for (const json& line : lines(folder / "kernelet_queues.jsonl"))
    times[line.at("queue")][line.at("system")].push_back(line.at("end_ms"));
  report::RowChart opening = gains("Base's time over the system's, by queue");
  std::vector<Figure> figures = {queues(times, opening), random_plans(times)};
  decision_costs(folder, figures.front(), checks);
  std::string finding = "Kernelet's queues";
  if (!opening.rows.empty()) {
    const auto ours = [](const report::RowChart::Row& row) { return row.points[0].value; };
    const auto [least, most] = std::ranges::minmax(opening.rows, {}, ours);
    finding = fmt::format("Kernelet's pairs of slices run queues {} to {} faster than Base",
                          report::written(ours(least), report::Notation::Gain, 1),
                          report::written(ours(most), report::Notation::Gain, 1));
  }
  figures.push_back(kernelet_prediction(folder, machine));
  figures.push_back(model_beside_silicon(folder));
  return write_page(folder, finding, {report::Large{std::move(opening)}}, std::move(figures), machine, checks);
}

}  // namespace sluice::gpu
