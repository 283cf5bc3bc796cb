// SPDX-License-Identifier: Apache-2.0
// All five systems, two streams and MPS on the same pairs, from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "study/gpu_lines.h"
#include "sw/core/metrics.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

using figures::Figure;
using figures::gain_text;
using nlohmann::json;

namespace {

struct System {
  const char *name, *whose;
};
constexpr System kSystems[] = {
    {"sequential", "one stream"},
    {"streams", "two streams: hardware of today"},
    {"green_halves", "half of the SMs each, by green contexts"},
    {"processes", "two processes, time-sliced"},
    {"mps", "two processes under MPS"},
    {"mps_halves", "the same, half of the threads each"},
    {"arrival", "one after the other, under quotas"},
    {"piv", "EffiSha"},
    {"dprr", "EffiSha"},
    {"adaptive", "SiM"},
    {"kernelet", "Kernelet as printed: rates predicted from counters alone"},
    {"kernelet_opt", "Kernelet, by measured rates of pairs"},
    {"slate", "Slate as printed: table I from counters alone"},
    {"slate_measured", "Slate, by measured ranges"},
    {"warped_slicer", "Warped-Slicer, by curves alone"},
    {"even", "even shares of every SM"},
    {"spatial", "half of the SMs each"},
};

constexpr const char* kPrinted[] = {"kernelet", "slate"};  ///< of five_printed.jsonl

/// Of one system over all pairs.
struct Sums {
  Values gain, antt, stp;
};

double turnaround(const ScenarioOutcome::Launch& l) { return l.ended - l.arrived; }

/// What ran in both sessions: makespans of the later one over the earlier one's, geometric means.
nlohmann::ordered_json other_session(const ScenarioOutcomes& earlier, const ScenarioOutcomes& later) {
  nlohmann::ordered_json out;
  for (const char* system : {"sequential", "streams", "kernelet_opt", "slate_measured"}) {
    Values ratios;
    for (const auto& [pair, systems] : later)
      if (systems.contains(system) && earlier.contains(pair) && earlier.at(pair).contains(system))
        ratios.push_back(median(systems.at(system).makespans) / median(earlier.at(pair).at(system).makespans));
    if (!ratios.empty()) out[system] = geometric_mean(ratios);
  }
  return out;
}

}  // namespace

Figure five_service(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"service", "The same pairs as processes that know nothing of Sluice", "Not in a paper."};
  std::map<std::string, std::map<std::string, Values>> makespans;  // system, pair
  bool good = true;
  for (const json& line : lines(folder / "five_service.jsonl")) {
    if (line.contains("ended")) good = good && line.at("bit_identical").get<bool>() && line.at("launches").at("violations") == 0;
    if (!line.contains("scenario")) continue;
    double last = 0;
    for (const json& job : line.at("jobs")) last = std::max(last, job.at("ended_ms").get<double>());
    makespans[line.at("system")][line.at("scenario")].push_back(last);
  }
  if (!makespans.contains("mps")) return figure;
  report::RowChart chart =
      gains("Time under MPS over the time through the service, geometric means with 95 % intervals over the pairs");
  for (const auto& [system, pairs] : makespans) {
    if (system == "mps") continue;
    Values over;
    for (const auto& [pair, ms] : pairs) over.push_back(median(makespans["mps"].at(pair)) / median(ms));
    chart.rows.push_back({system, {mean_point(over)}});
    figure.measured += fmt::format("{}: {}, best {}, worst {}. ", system, gain_text(geometric_mean(over)),
                                   gain_text(std::ranges::max(over)), gain_text(std::ranges::min(over)));
    figure.data[system] = geometric_mean(over);
  }
  figure.measured += "The processes run under sluice run; each pair's launches of 15 ms begin together.";
  checks.that("pairs through the service: an output differs, or a quota was exceeded", good);
  figure.blocks = {report::Large{chart}};
  return figure;
}

bool write_five_page(const std::filesystem::path& folder, const json& machine) {
  const bool own = !has_packed(folder / "five_pairs.jsonl");  // what the GPU offers itself, and nothing of ours
  ScenarioOutcomes all = read_outcomes(folder / (own ? "five_own.jsonl" : "five_pairs.jsonl"), "scenario");
  // Of another session: what is there only is held against that session's own launches one after the other.
  const ScenarioOutcomes printed = read_outcomes(folder / "five_printed.jsonl", "scenario");
  for (auto& [pair, systems] : all)
    if (const auto found = printed.find(pair); found != printed.end())
      for (const char* system : kPrinted)
        if (found->second.contains(system)) systems[system] = found->second.at(system);
  Figure mean{"five", "Throughput and turnaround under every system", "No paper makes this comparison."};
  Figure each{"pairs", "Which pairs gain", "Not in a paper."};
  std::map<std::string, Sums> sums;
  report::RowChart
      opening =
          gains("Time of launches one after the other over the system's: geometric means with 95 % intervals over the pairs"),
      pairs = gains("Time of launches one after the other over the system's, by pair"),
      stps = times("Throughput (STP)", "launches' worth of progress"),
      antts = times("Mean of turnaround over time alone (ANTT)", "times as long as alone");
  stps.log = antts.log = false;
  stps.digits = antts.digits = 3;
  constexpr std::pair<const char*, std::size_t> kShown[] = {{"warped_slicer", 4},  {"even", 1},         {"adaptive", 3},
                                                            {"slate_measured", 6}, {"kernelet_opt", 8}, {"mps", 0},
                                                            {"green_halves", 5},   {"streams", 2}};
  for (const auto& [system, colour] : kShown)
    if (std::ranges::any_of(all, [&](const auto& pair) { return pair.second.contains(system); }))
      pairs.series.push_back({system, colour});
  std::uint64_t violations = 0;
  for (const auto& [pair, systems] : all) {
    for (const System& r : kSystems) {
      const auto found = systems.find(r.name);
      if (found == systems.end()) continue;  // MPS is measured last
      const ScenarioOutcome& o = found->second;
      Sums& s = sums[r.name];
      const auto& session = std::ranges::count(kPrinted, std::string_view(r.name)) > 0 ? printed.at(pair) : systems;
      const std::array<double, 2> alone = {turnaround(session.at("alone_first").launches.front()),
                                           turnaround(session.at("alone_second").launches.front())};
      s.gain.push_back(median(session.at("sequential").makespans) / median(o.makespans));
      double slower = 0, progress = 0;
      for (std::size_t k = 0; k < 2; ++k) {
        slower += turnaround(o.launches.at(k)) / alone[k] / 2;
        progress += alone[k] / turnaround(o.launches.at(k));
      }
      s.antt.push_back(slower);
      s.stp.push_back(progress);
      violations += o.violations;
      each.data[pair][r.name] = s.gain.back();
    }
    report::RowChart::Row& row = pairs.rows.emplace_back(report::RowChart::Row{pair, {}});
    for (const report::Series& s : pairs.series) row.points.push_back({each.data[pair].value(s.name, report::kNone)});
  }
  const System* best = nullptr;
  for (const System& r : kSystems) {
    if (!sums.contains(r.name)) continue;
    const Sums& s = sums[r.name];
    const double gain = geometric_mean(s.gain), antt = arithmetic_mean(s.antt), stp = arithmetic_mean(s.stp);
    opening.rows.push_back({fmt::format("{}: {}", r.name, r.whose), {mean_point(s.gain)}});
    stps.rows.push_back({r.name, {{stp}}});
    antts.rows.push_back({r.name, {{antt}}});
    mean.data[r.name] = {{"gain", gain}, {"stp", stp}, {"antt", antt}, {"pairs", s.gain.size()}};
    if (best == nullptr || gain > geometric_mean(sums[best->name].gain)) best = &r;
  }
  mean.data["violations"] = violations;
  if (!printed.empty()) mean.data["other_session"] = other_session(all, printed);
  mean.measured = fmt::format("{} pairs of two kernels of 15 ms, both there from the start.", all.size());
  if (!own) mean.measured += fmt::format(" Violations of quotas: {}.", violations);
  mean.blocks = {report::Multiples{{stps, antts}}};
  for (const char* system :
       own ? std::vector{"streams", "green_halves", "mps"} : std::vector{"kernelet_opt", "warped_slicer", "adaptive"})
    each.measured += fmt::format("{}{} is faster in {}", each.measured.empty() ? "" : ", ", system,
                                 std::ranges::count_if(sums[system].gain, [](double gain) { return gain > 1; }));
  each.measured += fmt::format(" of {} pairs.", all.size());
  each.blocks = {report::Large{pairs}};
  RunChecks checks;
  checks.that(fmt::format("{} violations", violations), violations == 0);
  std::vector<Figure> figures = {five_service(folder, checks), model_beside_silicon(folder)};
  if (!all.empty()) figures.insert(figures.begin(), {each, mean});
  std::string finding = "pairs of processes through the service";
  if (best != nullptr) {
    const double gain = geometric_mean(sums[best->name].gain);
    finding = gain < 1.001 ? fmt::format("none of {} ways that the GPU offers runs {} pairs faster than one after the other",
                                         sums.size() - 1, all.size())
                           : fmt::format("of {} ways to share the GPU {} runs {} pairs fastest, {} over one after the other",
                                         sums.size(), best->name, all.size(), gain_text(gain));
  }
  return write_page(folder, finding, {report::Large{std::move(opening)}}, std::move(figures), machine, checks);
}

}  // namespace sluice::gpu
