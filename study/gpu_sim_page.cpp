// SPDX-License-Identifier: Apache-2.0
// SiM's tables and figures from what was measured on a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "study/beside_scenes.h"
#include "study/gpu_lines.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/apps.h"

namespace sluice::gpu {

using figures::Figure;
using figures::gain_text;
using figures::TableRow;
using nlohmann::json;

namespace {

/// Table 3: kernels that leave issue slots free, below 50 %.
bool leaves_slots(const std::string& pair) {
  for (const char* name : {"FD", "PF", "TP"})
    for (std::size_t at = pair.find(name); at != std::string::npos; at = pair.find(name, at + 1))
      if (at == 0 || pair[at - 1] == '_') return true;
  return false;
}

/// The two names of "A_B" and "A_B_together", in the order of the alphabet.
std::string pair_of(const std::string& scenario) {
  const std::size_t middle = scenario.find('_'), end = scenario.find('_', middle + 1);
  std::string a = scenario.substr(0, middle), b = scenario.substr(middle + 1, end - middle - 1);
  if (b < a) std::swap(a, b);
  return a + "_" + b;
}

Figure curves(const std::filesystem::path& folder) {
  Figure figure{"9",
                "Time of a grid over CTAs per SM",
                "BO and NB have points that are slower than one with fewer CTAs; such are pruned.",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  std::vector<std::string> pruned;
  for (const json& line : lines(folder / "sim_curves.jsonl")) {
    const auto runs = line.at("ms").get<std::vector<Values>>();
    TableRow row = {line.at("name"), fmt::format("{:.2f}", median(line.at("native_ms").get<Values>()))};
    Values times;
    for (std::size_t c = 0; c < runs.front().size(); ++c) {
      Values one;
      for (const Values& run : runs) one.push_back(run[c]);
      times.push_back(median(one));
      if (c > 0 && times[c] > *std::ranges::min_element(times))
        pruned.push_back(fmt::format("{} {}", line.at("name").get<std::string>(), c + 1));
    }
    std::string all;
    for (const double t : times) all += fmt::format("{:.1f} ", t);
    row.push_back(all);
    rows.push_back(row);
    figure.data[line.at("name").get<std::string>()] = times;
  }
  if (rows.empty()) return figure;
  figure.measured = pruned.empty() ? "No point is slower than one with fewer CTAs."
                                   : fmt::format("Slower than one with fewer CTAs: {}.", fmt::join(pruned, ", "));
  figure.html = figures::table({"kernel", "untransformed, ms", "with 1, 2, ... CTAs on every SM, ms"}, rows);
  return figure;
}

struct Gain {
  double low = 0, high = 0, best = 0, worst = 0;
  std::string best_pair, worst_pair;
};

/// Time of the sequential launches over the system's; of both orders and together the geometric mean for each pair.
Gain gain(const ScenarioOutcomes& all, const std::string& system, std::map<std::string, double>& by_pair) {
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& [scenario, systems] : all)
    if (systems.contains(system) && systems.contains("sequential"))
      ratios[pair_of(scenario)].push_back(median(systems.at("sequential").makespans) / median(systems.at(system).makespans));
  std::vector<double> low, high;
  Gain g;
  for (const auto& [pair, values] : ratios) {
    const double mean = geometric_mean(values);
    by_pair[pair] = mean;
    (leaves_slots(pair) ? low : high).push_back(mean);
    if (g.best_pair.empty() || mean > g.best) {
      g.best = mean;
      g.best_pair = pair;
    }
    if (g.worst_pair.empty() || mean < g.worst) {
      g.worst = mean;
      g.worst_pair = pair;
    }
  }
  g.low = geometric_mean(low);
  g.high = geometric_mean(high);
  return g;
}

/// What the transformation costs the pairs' kernels alone, at all CTAs of an SM: share of the time.
json costs_alone(const std::filesystem::path& folder, const ScenarioOutcomes& all) {
  json out = json::object();
  for (const json& line : lines(folder / "sim_curves.jsonl")) {
    const std::string name = line.at("name");
    Values whole;
    for (const json& run : line.at("ms")) whole.push_back(run.back());
    const double cost = median(whole) / median(line.at("native_ms").get<Values>()) - 1;
    const auto has = [&](const auto& pair) { return pair.first.starts_with(name + "_"); };
    if (std::ranges::any_of(all, has)) out[name] = cost;
  }
  return out;
}

Figure throughput(const std::filesystem::path& folder, const ScenarioOutcomes& all) {
  Figure figure{
      "10",
      "Figure 10: time of sequential launches over the system's, 21 pairs, both orders and together",
      "SiM +9.8 % with a kernel that leaves slots free (up to +22.4 %), +0.3 % without; persistent threads +5.3 % and -0.5 %.",
      {},
      {},
      {}};
  std::set<std::string> systems;
  for (const auto& [scenario, runs] : all)
    for (const auto& [system, run] : runs)
      if (system != "sequential") systems.insert(system);
  const ScenarioOutcomes baseline = read_outcomes(folder / "sim_pt.jsonl", "scenario");  // a session of its own
  if (!baseline.empty()) systems.insert("pt");
  std::vector<TableRow> rows;
  std::map<std::string, std::map<std::string, double>> by_pair;
  std::map<std::string, Gain> gains;
  for (const std::string& system : systems) {
    const Gain g = gains[system] = gain(system == "pt" ? baseline : all, system, by_pair[system]);
    rows.push_back({system == "pt" ? "pt, the paper's baseline" : system == "arrival" ? "arrival, one after the other under quotas" : system,
                    gain_text(g.low), gain_text(g.high), fmt::format("{} ({})", gain_text(g.best), g.best_pair),
                    fmt::format("{} ({})", gain_text(g.worst), g.worst_pair)});
    figure.data[system] = {{"low", g.low}, {"high", g.high}, {"best", g.best}, {"worst", g.worst}, {"by_pair", by_pair[system]}};
  }
  if (!gains.contains("adaptive")) return figure;
  TableRow head = {"pair"};
  head.insert(head.end(), systems.begin(), systems.end());
  std::vector<TableRow> pairs;
  for (const auto& [pair, value] : by_pair["adaptive"]) {
    TableRow row = {pair + (leaves_slots(pair) ? "" : " (no free slots)")};
    for (const std::string& system : systems)
      row.push_back(by_pair[system].contains(pair) ? gain_text(by_pair[system][pair]) : "-");
    pairs.push_back(row);
  }
  const Gain& ours = gains["adaptive"];
  figure.measured = fmt::format("adaptive {} with such a kernel, best {} ({}), {} without.", gain_text(ours.low),
                                gain_text(ours.best), ours.best_pair, gain_text(ours.high));
  figure.html = figures::table({"system", "with a kernel that leaves slots", "without", "best pair", "worst pair"}, rows) +
                figures::table(head, pairs);
  std::vector<double> over_arrival;
  for (const auto& [pair, value] : by_pair["adaptive"])
    if (leaves_slots(pair)) over_arrival.push_back(value / by_pair["arrival"].at(pair));
  nlohmann::ordered_json& compared = figure.data["compared"];
  compared["adaptive_over_arrival_low"] = geometric_mean(over_arrival);
  if (gains.contains("pt")) {
    std::vector<double> over_pt;
    for (const auto& [pair, value] : by_pair["adaptive"])
      if (leaves_slots(pair) && by_pair["pt"].contains(pair)) over_pt.push_back(value / by_pair["pt"].at(pair));
    compared["adaptive_over_pt_low"] = geometric_mean(over_pt);
    std::map<std::string, double> again;
    compared["arrival_in_the_session_of_pt"] = gain(baseline, "arrival", again).low;
  }
  compared["transformation_alone"] = costs_alone(folder, all);
  if (gains.contains("mps")) {
    std::size_t above = 0;
    for (const auto& [pair, value] : by_pair["adaptive"]) above += value > by_pair["mps"][pair] ? 1 : 0;
    compared["adaptive_above_mps"] = {{"pairs", above}, {"of", by_pair["adaptive"].size()}};
  }
  if (gains.contains("even")) {
    std::vector<double> over;
    for (const auto& [pair, value] : by_pair["adaptive"]) over.push_back(value / by_pair["even"][pair]);
    compared["adaptive_over_even"] = geometric_mean(over);
  }
  return figure;
}

/// Ten kernels of one length: what SiM's counts are worth where nothing hides them.
Figure equal_lengths(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"equal",
                "Table II's ten kernels, all 15 ms: time of sequential launches over the system's, 45 pairs",
                "Not in the paper.",
                {},
                {},
                {}};
  const ScenarioOutcomes all = read_outcomes(folder / "sim_equal.jsonl", "scenario");
  std::map<std::string, std::vector<double>> ratios;
  std::size_t compared = 0;
  std::vector<TableRow> rows;
  std::uint64_t violations = 0;
  for (const auto& [pair, systems] : all) {
    if (!systems.contains("adaptive") || !systems.contains("even") || !systems.contains("sequential")) continue;
    TableRow row = {pair};
    for (const char* system : {"streams", "arrival", "even", "adaptive"}) {
      const double ratio = median(systems.at("sequential").makespans) / median(systems.at(system).makespans);
      ratios[system].push_back(ratio);
      row.push_back(gain_text(ratio));
      figure.data[pair][system] = ratio;
    }
    ++compared;
    violations += systems.at("adaptive").violations;
    rows.push_back(row);
  }
  if (rows.empty()) return figure;
  TableRow mean = {"geometric mean"};
  for (const char* system : {"streams", "arrival", "even", "adaptive"}) mean.push_back(gain_text(geometric_mean(ratios[system])));
  rows.push_back(mean);
  figure.measured = fmt::format("{} pairs: adaptive {}, Even {}, two streams {}.", compared, mean[4], mean[3], mean[1]);
  figure.html = figures::table({"pair", "two streams", "one after the other, under quotas", "Even", "adaptive"}, rows);
  checks.that("violations, equal lengths", violations == 0);
  return figure;
}

Figure decisions(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"events", "Decisions and growth", "Not printed.", {}, {}, {}};
  Values decide, send, growth;
  std::size_t lost = 0, launches = 0, violations = 0;
  for (const json& line : lines(folder / "sim_pairs.jsonl")) {
    if (line.at("system") != "adaptive") continue;
    violations += line.at("violations").get<std::size_t>();
    for (const json& d : line.at("decisions")) {
      decide.push_back(d.at("decide_us"));
      send.push_back(d.at("send_us"));
    }
    for (const json& job : line.at("jobs")) {
      ++launches;
      lost += job.at("ended_ms").get<double>() > 0 ? 0 : 1;
      growth.push_back((job.at("began_ms").get<double>() - job.at("arrived_ms").get<double>()) * 1e3);
    }
  }
  if (decide.empty()) return figure;
  figure.data = {{"decide_p50_us", median(decide)}, {"decide_p99_us", percentile(decide, 0.99)}, {"send_p50_us", median(send)},
                 {"began_p50_us", median(growth)},  {"began_p99_us", percentile(growth, 0.99)},  {"launches", launches}};
  figure.measured = fmt::format(
      "{} decisions: p50 {:.1f} us, p99 {:.1f} us; orders sent in {:.1f} us; first CTA seen {:.1f} us after the arrival (p50).",
      decide.size(), median(decide), percentile(decide, 0.99), median(send), median(growth));
  figure.html = figures::table(
      {"what", "p50, us", "p99, us"},
      {{"decision", fmt::format("{:.1f}", median(decide)), fmt::format("{:.1f}", percentile(decide, 0.99))},
       {"sending all orders", fmt::format("{:.1f}", median(send)), fmt::format("{:.1f}", percentile(send, 0.99))},
       {"arrival to the first CTA", fmt::format("{:.1f}", median(growth)), fmt::format("{:.1f}", percentile(growth, 0.99))}});
  checks.that(fmt::format("{} of {} launches lost", lost, launches), lost == 0);
  checks.that(fmt::format("{} violations", violations), violations == 0);
  return figure;
}

}  // namespace

bool write_sim_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  ScenarioOutcomes all = read_outcomes(folder / "sim_pairs.jsonl", "scenario");
  for (auto& [scenario, systems] : read_outcomes(folder / "sim_processes.jsonl", "scenario")) all[scenario].merge(systems);
  std::vector<Figure> figures = {curves(folder), throughput(folder, all), equal_lengths(folder, checks),
                                 decisions(folder, checks), sim_beside(folder, machine)};
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  write_page(folder, "SiM on " + machine.value("name", "a GPU"), figures, machine);
  checks.print();
  return checks.right();
}

}  // namespace sluice::gpu
