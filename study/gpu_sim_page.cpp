// SPDX-License-Identifier: Apache-2.0
// SiM's tables and figures from what was measured on a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "study/gpu_lines.h"
#include "sw/core/metrics.h"

namespace sluice::gpu {

using figures::Figure;
using figures::gain_text;
using nlohmann::json;

namespace {

constexpr std::pair<const char*, std::size_t> kShown[] = {{"adaptive", 4}, {"even", 1}, {"pt", 3}, {"streams", 2}, {"mps", 6}};

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
  Figure figure{"9", "More CTAs on every SM make some kernels slower",
                "BO and NB have points that are slower than one with fewer CTAs; such are pruned."};
  std::vector<std::string> pruned;
  std::vector<std::pair<double, report::LineChart>> charts;
  for (const json& line : lines(folder / "sim_curves.jsonl")) {
    const auto runs = line.at("ms").get<std::vector<Values>>();
    const std::string name = line.at("name");
    report::LineChart chart{name, "CTAs per SM", ""};
    report::LineChart::Line& drawn = chart.lines.emplace_back();
    drawn.series = {"ms", 4};
    Values times;
    for (std::size_t c = 0; c < runs.front().size(); ++c) {
      Values one;
      for (const Values& run : runs) one.push_back(run[c]);
      times.push_back(median(one));
      drawn.points.emplace_back(c + 1, times[c]);
      drawn.notes.push_back(fmt::format("{} CTAs: {:.2f} ms", c + 1, times[c]));
      if (c > 0 && times[c] > *std::ranges::min_element(times)) pruned.push_back(fmt::format("{} {}", name, c + 1));
    }
    charts.emplace_back(times.back() / *std::ranges::min_element(times), std::move(chart));
    figure.data[name] = times;
  }
  if (charts.empty()) return figure;
  std::ranges::stable_sort(charts, std::greater{}, [](const auto& c) { return c.first; });
  report::Multiples multiples;
  for (auto& [effect, chart] : charts) multiples.charts.emplace_back(std::move(chart));
  figure.measured = pruned.empty() ? "No point is slower than one with fewer CTAs."
                                   : fmt::format(
                                         "Slower than one with fewer CTAs: {}. Milliseconds of a grid; the kernels that "
                                         "lose most with all their CTAs come first.",
                                         fmt::join(pruned, ", "));
  figure.blocks = {std::move(multiples)};
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

Figure throughput(const std::filesystem::path& folder, const ScenarioOutcomes& all, report::RowChart& opening) {
  Figure figure{
      "10", "Which pairs gain: 21 pairs, both orders and together",
      "SiM +9.8 % with a kernel that leaves slots free (up to +22.4 %), +0.3 % without; persistent threads +5.3 % and -0.5 %."};
  std::set<std::string> systems;
  for (const auto& [scenario, runs] : all)
    for (const auto& [system, run] : runs)
      if (system != "sequential") systems.insert(system);
  const ScenarioOutcomes baseline = read_outcomes(folder / "sim_pt.jsonl", "scenario");  // a session of its own
  if (!baseline.empty()) systems.insert("pt");
  std::map<std::string, std::map<std::string, double>> by_pair;
  std::map<std::string, Gain> of;
  for (const std::string& system : systems) {
    const Gain g = of[system] = gain(system == "pt" ? baseline : all, system, by_pair[system]);
    figure.data[system] = {{"low", g.low}, {"high", g.high}, {"best", g.best}, {"worst", g.worst}, {"by_pair", by_pair[system]}};
    struct Told {
      const char *system, *words;
      double low, high;  // published
    };
    constexpr Told kTold[] = {{"adaptive", "adaptive (SiM)", 1.098, 1.003},
                              {"pt", "persistent threads (the paper's baseline)", 1.053, 0.995},
                              {"arrival", "one after the other under quotas", report::kNone, report::kNone}};
    const auto* told = std::ranges::find(kTold, system, &Told::system);
    const bool known = told != std::end(kTold);
    opening.rows.push_back({known ? told->words : system,
                            {{g.low, report::kNone, report::kNone, known ? told->low : report::kNone},
                             {g.high, report::kNone, report::kNone, known ? told->high : report::kNone}}});
  }
  if (!of.contains("adaptive")) return figure;
  report::RowChart each = gains("Time of launches one after the other over the system's, by pair");
  for (const auto& [system, colour] : kShown)
    if (systems.contains(system)) each.series.push_back({system, colour});
  for (const auto& [pair, value] : by_pair["adaptive"]) {
    report::RowChart::Row& row =
        each.rows.emplace_back(report::RowChart::Row{pair + (leaves_slots(pair) ? "" : ", no free slots"), {}});
    for (const report::Series& s : each.series) {
      const auto found = by_pair[s.name].find(pair);
      row.points.push_back({found == by_pair[s.name].end() ? report::kNone : found->second});
    }
  }
  const Gain& ours = of["adaptive"];
  figure.measured = fmt::format("adaptive {} with such a kernel, best {} ({}), {} without.", gain_text(ours.low),
                                gain_text(ours.best), ours.best_pair, gain_text(ours.high));
  figure.blocks = {report::Large{each}};
  /// adaptive's gain over another system's in each pair, or in those that leave slots only.
  const auto over = [&](const std::string& other, bool only_low) {
    Values ratios;
    for (const auto& [pair, value] : by_pair["adaptive"])
      if ((leaves_slots(pair) || !only_low) && by_pair[other].contains(pair)) ratios.push_back(value / by_pair[other].at(pair));
    return ratios;
  };
  nlohmann::ordered_json& compared = figure.data["compared"];
  compared["adaptive_over_arrival_low"] = geometric_mean(over("arrival", true));
  if (of.contains("pt")) {
    compared["adaptive_over_pt_low"] = geometric_mean(over("pt", true));
    std::map<std::string, double> again;
    compared["arrival_in_the_session_of_pt"] = gain(baseline, "arrival", again).low;
  }
  compared["transformation_alone"] = costs_alone(folder, all);
  if (of.contains("mps"))
    compared["adaptive_above_mps"] = {{"pairs", std::ranges::count_if(over("mps", false), [](double r) { return r > 1; })},
                                      {"of", by_pair["adaptive"].size()}};
  if (of.contains("even")) compared["adaptive_over_even"] = geometric_mean(over("even", false));
  return figure;
}

/// Ten kernels of one length: what SiM's counts are worth where nothing hides them.
Figure equal_lengths(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"equal", "Ten kernels that all last 15 ms: 45 pairs", "Not in the paper."};
  constexpr std::pair<const char*, std::size_t> kCompared[] = {{"adaptive", 4}, {"even", 1}, {"streams", 2}, {"arrival", 0}};
  report::RowChart chart = gains("Time of launches one after the other over the system's, by pair");
  for (const auto& [system, colour] : kCompared) chart.series.push_back({system, colour});
  std::uint64_t violations = 0;
  for (const auto& [pair, systems] : read_outcomes(folder / "sim_equal.jsonl", "scenario")) {
    if (!systems.contains("adaptive") || !systems.contains("even") || !systems.contains("sequential")) continue;
    report::RowChart::Row& row = chart.rows.emplace_back(report::RowChart::Row{pair, {}});
    for (const auto& [system, colour] : kCompared)
      row.points.push_back({median(systems.at("sequential").makespans) / median(systems.at(system).makespans)});
    for (const char* system : {"streams", "arrival", "even", "adaptive"})
      figure.data[pair][system] = median(systems.at("sequential").makespans) / median(systems.at(system).makespans);
    violations += systems.at("adaptive").violations;
  }
  if (chart.rows.empty()) return figure;
  const std::size_t pairs = chart.rows.size();
  add_mean(chart, "geometric mean", geometric);
  const auto& mean = chart.rows.back().points;
  figure.measured = fmt::format("{} pairs: adaptive {}, Even {}, two streams {}.", pairs, gain_text(mean[0].value),
                                gain_text(mean[1].value), gain_text(mean[2].value));
  checks.that("violations, equal lengths", violations == 0);
  figure.blocks = {report::Large{chart}};
  return figure;
}

Figure decisions(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"events", "What a decision takes, and how soon a newcomer runs", "Not printed."};
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
  report::RowChart chart = times("", "microseconds", {{"median", 4}, {"99th percentile", 2}});
  for (const auto& [what, us] :
       {std::pair("a decision", &decide), {"sending all orders", &send}, {"arrival to the first CTA", &growth}})
    chart.rows.push_back({what, {median_point(*us), {percentile(*us, 0.99)}}});
  figure.blocks = {report::Large{chart}};
  checks.that(fmt::format("{} of {} launches lost", lost, launches), lost == 0);
  checks.that(fmt::format("{} violations", violations), violations == 0);
  return figure;
}

}  // namespace

bool write_sim_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  ScenarioOutcomes all = read_outcomes(folder / "sim_pairs.jsonl", "scenario");
  for (auto& [scenario, systems] : read_outcomes(folder / "sim_processes.jsonl", "scenario")) all[scenario].merge(systems);
  report::RowChart opening = gains("Time of launches one after the other over the system's, geometric means",
                                   {{"pairs with a kernel that leaves issue slots free", 4}, {"pairs without", 1}});
  const Figure ten = throughput(folder, all, opening);
  std::string finding = "SiM's unequal shares";
  if (ten.data.contains("adaptive"))
    finding = fmt::format("SiM's unequal shares run pairs {} faster where a kernel leaves issue slots free, {} elsewhere",
                          gain_text(ten.data["adaptive"]["low"]), gain_text(ten.data["adaptive"]["high"]));
  return write_page(folder, finding, {report::Large{std::move(opening)}},
                    {ten, equal_lengths(folder, checks), curves(folder), decisions(folder, checks), model_beside_silicon(folder)},
                    machine, checks);
}

}  // namespace sluice::gpu
