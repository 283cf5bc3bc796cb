// SPDX-License-Identifier: Apache-2.0
// Slate's tables and figures from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "study/gpu_lines.h"
#include "sw/core/metrics.h"

namespace sluice::gpu {

using figures::Figure;
using figures::gain_text;
using nlohmann::json;

namespace {

Figure alone(const std::filesystem::path& folder) {
  Figure figure{"5", "What quotas do to a kernel alone", "Slate +28 % on Gaussian, whose blocks have 16 threads."};
  report::RowChart chart = gains("Time of the kernel as it is over that under quotas, 95 % intervals");
  double worst = INFINITY, gaussian = report::kNone;
  std::string worst_app;
  const std::set<std::string> five = {"BLK", "GS", "MM", "RG", "TR"};
  for (const json& line : lines(folder / "slate_alone.jsonl")) {
    Values ratios;
    for (std::size_t r = 0; r < line.at("push_ms").size(); ++r)
      ratios.push_back(line.at("native_ms")[r].get<double>() / line.at("push_ms")[r].get<double>());
    report::Point m = median_point(ratios);
    const std::string app = line.at("app");
    figure.data[app] = m.value;
    if (!five.contains(app)) continue;
    if (m.value < worst) {
      worst = m.value;
      worst_app = app;
    }
    constexpr double kPaper = 1.28;
    if (app == "GS") {
      gaussian = m.value;
      m.published = kPaper;
    }
    chart.rows.push_back({name_in("slate", app), {m}});
  }
  if (chart.rows.empty()) return figure;
  figure.measured = fmt::format("Gaussian {}; least {} ({}).", gain_text(gaussian), gain_text(worst), worst_app);
  figure.blocks = {report::Large{chart}};
  return figure;
}

Figure resize(const std::filesystem::path& folder) {
  Figure figure{"resize", "How soon every SM is as ordered when ranges move", "Not printed."};
  Values all;
  std::size_t late = 0;
  report::RowChart chart = times("", "microseconds from the order", {{"median", 4}, {"99th percentile", 2}});
  for (const json& line : lines(folder / "slate_resize.jsonl")) {
    const Values us = line.at("us");
    all.insert(all.end(), us.begin(), us.end());
    const auto late_here = line.at("late").get<std::size_t>();
    late += late_here;
    chart.rows.push_back({fmt::format("{} {}{}", line.at("first").get<std::string>(), line.at("second").get<std::string>(),
                                      late_here > 0 ? fmt::format(", {} late", late_here) : ""),
                          {median_point(us), {percentile(us, 0.99)}}});
  }
  if (all.empty()) return figure;
  figure.data = {{"p50_us", median(all)}, {"p99_us", percentile(all, 0.99)}, {"late", late}, {"changes", all.size()}};
  figure.measured = fmt::format("p50 {:.1f} us, p99 {:.1f} us, {} of {} later than 10 ms.", median(all), percentile(all, 0.99),
                                late, all.size());
  figure.blocks = {report::Large{chart}};
  return figure;
}

constexpr std::tuple<const char*, const char*, std::size_t> kBaselines[] = {{"mps", "over MPS", 4},
                                                                            {"processes", "over time-sliced processes", 1},
                                                                            {"streams", "over two streams", 2},
                                                                            {"green_halves", "over halves of the SMs", 3},
                                                                            {"consecutive", "over one stream", 0}};

Figure pairings(const std::filesystem::path& folder, RunChecks& checks, std::vector<report::Block>& opening,
                std::string& finding) {
  Figure figure{"7", "Time until both are done, pair by pair, with equal work",
                "Slate +11 % over MPS, +18 % over CUDA, best +35 %."};
  ScenarioOutcomes all = read_outcomes(folder / "slate_pairs.jsonl", "pair");
  for (auto& [pair, systems] : read_outcomes(folder / "slate_processes.jsonl", "pair")) all[pair].merge(systems);
  report::RowChart chart = gains("The baseline's time over Slate's"),
                   means = gains("The baseline's time over Slate's, geometric means");
  for (const auto& [base, words, colour] : kBaselines) chart.series.push_back({words, colour});
  std::uint64_t violations = 0;
  constexpr double kBsRg = 1.3055;  // table IV, over MPS
  for (const auto& [pair, systems] : all) {
    if (!systems.contains("slate_measured")) continue;
    const double ours = median(systems.at("slate_measured").makespans);
    violations += systems.at("slate_measured").violations;
    report::RowChart::Row& row = chart.rows.emplace_back(report::RowChart::Row{pair, {}});
    for (const auto& [base, words, colour] : kBaselines) {
      report::Point& p = row.points.emplace_back();
      if (!systems.contains(base)) continue;
      p.value = median(systems.at(base).makespans) / ours;
      if (pair == "BS_RG" && std::string(base) == "mps") p.published = kBsRg;
    }
    for (const char* base : {"processes", "mps", "streams", "green_halves", "consecutive"})
      if (systems.contains(base)) figure.data[pair][base] = median(systems.at(base).makespans) / ours;
  }
  if (chart.rows.empty()) return figure;
  // Gaussian's blocks of 16 threads gain alone under quotas: what pairs without it gain is the sharing's own.
  const auto mean = [&](const char* base, const auto& counts) {
    Values over;
    for (const auto& [pair, of] : figure.data.items())
      if (of.contains(base) && counts(pair)) over.push_back(of.at(base));
    return over.empty() ? report::Point{} : mean_point(over);
  };
  const auto every = [](const std::string&) { return true; };
  const auto has_gaussian = [](const std::string& pair) { return pair.find("GS") != std::string::npos; };
  means.series = {{"all 15 pairs", 4}, {"with Gaussian", 1}, {"without Gaussian", 3}};
  means.sorted = false;
  for (const auto& [base, words, colour] : kBaselines) {
    report::RowChart::Row& row = means.rows.emplace_back(
        report::RowChart::Row{words, {mean(base, every), mean(base, has_gaussian), mean(base, std::not_fn(has_gaussian))}});
    row.points.front().published = std::string(base) == "mps" ? 1.11 : std::string(base) == "processes" ? 1.18 : report::kNone;
  }
  const auto text = [&](std::size_t row, std::size_t point) { return gain_text(means.rows[row].points[point].value); };
  figure.measured = fmt::format("Over two streams {}, over processes {}, over MPS {}.", text(2, 0), text(1, 0), text(0, 0));
  if (std::isfinite(means.rows[0].points[1].value) && std::isfinite(means.rows[0].points[2].value))
    figure.measured += fmt::format(" Over MPS, pairs with Gaussian {}, the others {}.", text(0, 1), text(0, 2));
  if (figure.data.contains("BS_RG") && figure.data["BS_RG"].contains("mps"))
    figure.measured += fmt::format(" BS-RG {} (the paper's table IV: +30.55 %).", gain_text(figure.data["BS_RG"]["mps"]));
  finding = fmt::format("Slate's ranges of SMs run pairs {} faster than MPS, but {} where Gaussian is in none of them",
                        text(0, 0), text(0, 2));
  opening = {report::Large{std::move(means)}};
  figure.blocks = {report::Large{std::move(chart)}};
  checks.that(fmt::format("{} violations", violations), violations == 0);
  return figure;
}

}  // namespace

bool write_slate_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  std::vector<report::Block> opening;
  std::string finding = "Slate's ranges of SMs";
  const Figure pairs = pairings(folder, checks, opening, finding);
  return write_page(folder, finding, std::move(opening), {pairs, alone(folder), resize(folder), model_beside_silicon(folder)},
                    machine, checks);
}

}  // namespace sluice::gpu
