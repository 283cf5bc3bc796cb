// SPDX-License-Identifier: Apache-2.0
// Slate's tables and figures from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "study/beside_scenes.h"
#include "study/gpu_lines.h"
#include "study/gpu_variants.h"
#include "sw/core/metrics.h"

namespace sluice::gpu {

using figures::Figure;
using figures::gain_text;
using figures::TableRow;
using nlohmann::json;

namespace {

Figure alone(const std::filesystem::path& folder) {
  Figure figure{"5",
                "Alone: time of the kernel as it is over that under quotas",
                "Slate +28 % on Gaussian, whose blocks have 16 threads.",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  double worst = INFINITY, gaussian = 0;
  std::string worst_app;
  const std::set<std::string> five = {"BLK", "GS", "MM", "RG", "TR"};
  for (const json& line : lines(folder / "slate_alone.jsonl")) {
    Values ratios;
    for (std::size_t r = 0; r < line.at("push_ms").size(); ++r)
      ratios.push_back(line.at("native_ms")[r].get<double>() / line.at("push_ms")[r].get<double>());
    const Measured m = measured(ratios);
    const std::string app = line.at("app");
    if (five.contains(app) && m.value < worst) {
      worst = m.value;
      worst_app = app;
    }
    if (app == "GS") gaussian = m.value;
    rows.push_back({app, five.contains(app) ? "Slate" : "Kernelet",
                    fmt::format("{:.2f}", median(line.at("native_ms").get<Values>())), gain_text(m.value),
                    fmt::format("[{}, {}]", gain_text(m.interval.low), gain_text(m.interval.high))});
    figure.data[app] = m.value;
  }
  if (rows.empty()) return figure;
  figure.measured = fmt::format("Gaussian {}; least {} ({}).", gain_text(gaussian), gain_text(worst), worst_app);
  figure.html = figures::table({"kernel", "of", "alone, ms", "gain", "95 %"}, rows);
  return figure;
}

Figure resize(const std::filesystem::path& folder) {
  Figure figure{"resize", "Ranges that move: from the order until every SM is as ordered", "Not printed.", {}, {}, {}};
  Values all;
  std::size_t late = 0;
  std::vector<TableRow> rows;
  for (const json& line : lines(folder / "slate_resize.jsonl")) {
    const Values us = line.at("us");
    all.insert(all.end(), us.begin(), us.end());
    late += line.at("late").get<std::size_t>();
    rows.push_back({line.at("first").get<std::string>() + " " + line.at("second").get<std::string>(),
                    with_interval(measured(us), "", 1), fmt::format("{:.1f}", percentile(us, 0.99)),
                    fmt::format("{} of {}", line.at("late").get<std::size_t>(), us.size())});
  }
  if (all.empty()) return figure;
  figure.data = {{"p50_us", median(all)}, {"p99_us", percentile(all, 0.99)}, {"late", late}, {"changes", all.size()}};
  figure.measured = fmt::format("p50 {:.1f} us, p99 {:.1f} us, {} of {} later than 10 ms.", median(all), percentile(all, 0.99),
                                late, all.size());
  figure.html = figures::table({"pair", "p50, us", "p99, us", "later than 10 ms"}, rows);
  return figure;
}

Figure pairings(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"7",
                "Figure 7: time until both are done, 15 pairings with equal work",
                "Slate +11 % over MPS, +18 % over CUDA, best +35 %.",
                {},
                {},
                {}};
  ScenarioOutcomes all = read_outcomes(folder / "slate_pairs.jsonl", "pair");
  for (auto& [pair, systems] : read_outcomes(folder / "slate_processes.jsonl", "pair")) all[pair].merge(systems);
  std::vector<TableRow> rows;
  const std::vector<std::string> baselines = {"processes", "mps", "streams", "green_halves", "consecutive"};
  std::uint64_t violations = 0;
  for (const auto& [pair, systems] : all) {
    if (!systems.contains("slate_measured")) continue;
    const double ours = median(systems.at("slate_measured").makespans);
    violations += systems.at("slate_measured").violations;
    TableRow row = {pair, with_interval(measured(systems.at("slate_measured").makespans), "", 1)};
    for (const std::string& base : baselines) {
      if (!systems.contains(base)) {
        row.emplace_back("-");
        continue;
      }
      const double gain = median(systems.at(base).makespans) / ours;
      row.push_back(gain_text(gain));
      figure.data[pair][base] = gain;
    }
    rows.push_back(row);
  }
  if (rows.empty()) return figure;
  // Gaussian's blocks of 16 threads gain alone under quotas: what pairs without it gain is the sharing's own.
  const auto mean_row = [&](const char* title, const auto& counts) {
    TableRow row = {title, ""};
    for (const std::string& base : baselines) {
      Values gains;
      for (const auto& [pair, of] : figure.data.items())
        if (of.contains(base) && counts(pair)) gains.push_back(of.at(base));
      row.push_back(gains.empty() ? "-" : gain_text(geometric_mean(gains)));
    }
    rows.push_back(row);
    return row;
  };
  const auto has_gaussian = [](const std::string& pair) { return pair.find("GS") != std::string::npos; };
  const TableRow all_row = mean_row("geometric mean of all", [](const std::string&) { return true; }),
                 with_row = mean_row("of pairs with Gaussian", has_gaussian),
                 without_row = mean_row("of pairs without", std::not_fn(has_gaussian));
  figure.html = figures::table(
      {"pair", "slate_measured, ms", "over processes", "over MPS", "over streams", "over halves of the SMs", "over one stream"},
      rows);
  figure.measured = fmt::format("Over two streams {}, over processes {}, over MPS {}.", all_row[4], all_row[2], all_row[3]);
  if (with_row[3] != "-" && without_row[3] != "-")
    figure.measured += fmt::format(" Over MPS, pairs with Gaussian {}, the others {}.", with_row[3], without_row[3]);
  if (figure.data.contains("BS_RG") && figure.data["BS_RG"].contains("mps"))
    figure.measured += fmt::format(" BS-RG {} (the paper's table IV: +30.55 %).", gain_text(figure.data["BS_RG"]["mps"]));
  checks.that(fmt::format("{} violations", violations), violations == 0);
  return figure;
}

}  // namespace

bool write_slate_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  std::vector<Figure> figures = {alone(folder),  slate_tasks(folder),      slate_service(folder),
                                 resize(folder), pairings(folder, checks), slate_beside(folder, machine)};
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  write_page(folder, "Slate on " + machine.value("name", "a GPU"), figures, machine);
  checks.print();
  return checks.right();
}

}  // namespace sluice::gpu
