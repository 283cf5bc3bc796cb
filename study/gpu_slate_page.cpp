// SPDX-License-Identifier: Apache-2.0
// Slate's tables and figures from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

Figure alone(const std::filesystem::path& folder, std::vector<Requirement>& required) {
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
  required.push_back({"alone, every kernel of Slate's", "not below -2 %", fmt::format("{} ({})", gain_text(worst), worst_app),
                      worst >= 0.98, "a block's end waits for a trip to the L2 and a barrier, and Transpose's blocks are short"});
  return figure;
}

Figure resize(const std::filesystem::path& folder, std::vector<Requirement>& required) {
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
  required.push_back({"resize, p50", "at most 60 us", fmt::format("{:.1f} us", median(all)), median(all) <= 60,
                      "the blocks that run end first, and a look at the counters takes some 10 us"});
  required.push_back({"resize, p99", "at most 300 us", fmt::format("{:.1f} us", percentile(all, 0.99)),
                      percentile(all, 0.99) <= 300, "as above"});
  required.push_back({"resize, later than 10 ms", "0", fmt::format("{}", late), late == 0,
                      "CTAs of one kernel hold room that the other's need"});
  return figure;
}

Figure pairings(const std::filesystem::path& folder, std::vector<Requirement>& required) {
  Figure figure{"7",
                "Figure 7: time until both are done, 15 pairings with equal work",
                "Slate +11 % over MPS, +18 % over CUDA, best +35 %.",
                {},
                {},
                {}};
  ScenarioOutcomes all = read_outcomes(folder / "slate_pairs.jsonl", "pair");
  for (auto& [pair, systems] : read_outcomes(folder / "slate_processes.jsonl", "pair")) all[pair].merge(systems);
  std::vector<TableRow> rows;
  std::map<std::string, std::vector<double>> over;
  std::map<std::string, std::pair<double, std::string>> least, best;
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
      over[base].push_back(gain);
      auto [at, fresh] = least.try_emplace(base, gain, pair);
      if (!fresh && gain < at->second.first) at->second = {gain, pair};
      auto [top, first] = best.try_emplace(base, gain, pair);
      if (!first && gain > top->second.first) top->second = {gain, pair};
      row.push_back(gain_text(gain));
      figure.data[pair][base] = gain;
    }
    rows.push_back(row);
  }
  if (rows.empty()) return figure;
  TableRow mean = {"geometric mean", ""};
  for (const std::string& base : baselines) mean.push_back(over.contains(base) ? gain_text(geometric_mean(over[base])) : "-");
  rows.push_back(mean);
  figure.html = figures::table(
      {"pair", "slate_measured, ms", "over processes", "over MPS", "over streams", "over halves of the SMs", "over one stream"},
      rows);
  figure.measured = fmt::format("Over two streams {}, over processes {}, over MPS {}.", mean[4], mean[2], mean[3]);
  const std::string why = "pairs without Gaussian end as they do one after the other";
  constexpr std::size_t kPairs = 15;  // a part of them is no evidence for all
  for (const auto& [base, target] : {std::pair<std::string, double>("mps", 1.11), {"processes", 1.18}}) {
    const std::size_t pairs = over.contains(base) ? over[base].size() : 0;
    const std::string left = pairs == kPairs ? why : fmt::format("{} of {} pairs were not measured", kPairs - pairs, kPairs);
    const std::string gain =
        pairs == 0 ? "not measured" : fmt::format("{} ({} pairs)", gain_text(geometric_mean(over[base])), pairs);
    required.push_back({"15 pairings over " + base, fmt::format("at least {}", gain_text(target)), gain,
                        pairs == kPairs && geometric_mean(over[base]) >= target, left});
    const std::string worst =
        pairs == 0 ? "not measured" : fmt::format("{} ({})", gain_text(least[base].first), least[base].second);
    required.push_back(
        {"15 pairings, none below, over " + base, "-2 %", worst, pairs == kPairs && least[base].first >= 0.98, left});
  }
  required.push_back({"violations", "0", fmt::format("{}", violations), violations == 0, ""});
  return figure;
}

}  // namespace

bool write_slate_page(const std::filesystem::path& folder, const json& machine) {
  std::vector<Requirement> required;
  std::vector<Figure> figures = {alone(folder, required),  slate_tasks(folder),        slate_service(folder, required),
                                 resize(folder, required), pairings(folder, required), slate_beside(folder, machine)};
  figures.insert(figures.begin(), requirements(required));
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  write_page(folder, "Slate on " + machine.value("name", "a GPU"), figures, machine);
  print(required);
  return std::ranges::all_of(required, &Requirement::holds);
}

}  // namespace sluice::gpu
