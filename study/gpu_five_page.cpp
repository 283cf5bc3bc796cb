// SPDX-License-Identifier: Apache-2.0
// All five systems, two streams and MPS on the same pairs, from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "study/beside_scenes.h"
#include "study/gpu_lines.h"
#include "study/gpu_variants.h"
#include "sw/core/metrics.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

using figures::Figure;
using figures::TableRow;
using nlohmann::json;

namespace {

struct Row {
  const char *system, *whose;
};
constexpr Row kRows[] = {
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
  std::string best, worst;
};

double total(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }
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

bool write_five_page(const std::filesystem::path& folder, const json& machine) {
  const bool own = !has_packed(folder / "five_pairs.jsonl");  // what the GPU offers itself, and nothing of ours
  ScenarioOutcomes all = read_outcomes(folder / (own ? "five_own.jsonl" : "five_pairs.jsonl"), "scenario");
  // Of another session: what is there only is held against that session's own launches one after the other.
  const ScenarioOutcomes printed = read_outcomes(folder / "five_printed.jsonl", "scenario");
  for (auto& [pair, systems] : all)
    if (const auto found = printed.find(pair); found != printed.end())
      for (const char* system : kPrinted)
        if (found->second.contains(system)) systems[system] = found->second.at(system);
  std::vector<Row> known;
  for (const Row& r : kRows)
    if (std::ranges::any_of(all, [&](const auto& pair) { return pair.second.contains(r.system); })) known.push_back(r);
  Figure mean{"five", "The same 45 pairs under every system", "No paper makes this comparison.", {}, {}, {}};
  Figure each{"pairs", "Time of launches one after the other over the system's, by pair", "Not in a paper.", {}, {}, {}};
  std::map<std::string, Sums> sums;
  TableRow head = {"pair"};
  for (const Row& r : known)
    if (&r != known.data()) head.emplace_back(r.system);
  std::vector<TableRow> pairs;
  std::uint64_t violations = 0;
  for (const auto& [pair, systems] : all) {
    TableRow row = {pair};
    for (const Row& r : known) {
      const auto found = systems.find(r.system);
      if (found == systems.end()) {
        row.emplace_back("-");  // MPS is measured last
        continue;
      }
      const auto& session = std::ranges::count(kPrinted, std::string_view(r.system)) > 0 ? printed.at(pair) : systems;
      const double one_after_the_other = median(session.at("sequential").makespans);
      const std::array<double, 2> alone = {turnaround(session.at("alone_first").launches.front()),
                                           turnaround(session.at("alone_second").launches.front())};
      const ScenarioOutcome& o = found->second;
      Sums& s = sums[r.system];
      s.gain.push_back(one_after_the_other / median(o.makespans));
      if (s.gain.back() >= *std::ranges::max_element(s.gain)) s.best = pair;
      if (s.gain.back() <= *std::ranges::min_element(s.gain)) s.worst = pair;
      double slower = 0, progress = 0;
      for (std::size_t k = 0; k < 2; ++k) {
        slower += turnaround(o.launches.at(k)) / alone[k] / 2;
        progress += alone[k] / turnaround(o.launches.at(k));
      }
      s.antt.push_back(slower);
      s.stp.push_back(progress);
      violations += o.violations;
      each.data[pair][r.system] = s.gain.back();
      if (&r != known.data()) row.push_back(fmt::format("{:+.1f} %", 100 * (s.gain.back() - 1)));
    }
    pairs.push_back(row);
  }
  std::vector<TableRow> rows;
  for (const Row& r : known) {
    const Sums& s = sums[r.system];
    const auto n = static_cast<double>(s.gain.size());
    const double gain = geometric_mean(s.gain), antt = total(s.antt) / n, stp = total(s.stp) / n;
    rows.push_back({r.system, r.whose, fmt::format("{:+.1f} %", 100 * (gain - 1)),
                    fmt::format("{:+.1f} % ({})", 100 * (*std::ranges::max_element(s.gain) - 1), s.best),
                    fmt::format("{:+.1f} % ({})", 100 * (*std::ranges::min_element(s.gain) - 1), s.worst),
                    fmt::format("{:.3f}", stp), fmt::format("{:.3f}", antt)});
    mean.data[r.system] = {{"gain", gain}, {"stp", stp}, {"antt", antt}, {"pairs", s.gain.size()}};
  }
  mean.data["violations"] = violations;
  mean.measured = fmt::format("{} pairs of two kernels of 15 ms, both there from the start.", all.size());
  if (!own) mean.measured += fmt::format(" Violations of quotas: {}.", violations);
  mean.html =
      figures::table({"system", "whose", "faster than one after the other", "best pair", "worst pair", "STP", "ANTT"}, rows);
  if (!printed.empty()) mean.data["other_session"] = other_session(all, printed);
  for (const char* system :
       own ? std::vector{"streams", "green_halves", "mps"} : std::vector{"kernelet_opt", "warped_slicer", "adaptive"})
    each.measured += fmt::format("{}{} is faster in {}", each.measured.empty() ? "" : ", ", system,
                                 std::ranges::count_if(sums[system].gain, [](double gain) { return gain > 1; }));
  each.measured += fmt::format(" of {} pairs.", all.size());
  each.html = figures::table(head, pairs);
  RunChecks checks;
  checks.that(fmt::format("{} violations", violations), violations == 0);
  std::vector<Figure> figures = {five_service(folder, checks)};
  if (!all.empty()) figures.insert(figures.begin(), {mean, each});
  figures.push_back(five_beside(folder, machine));
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  write_page(folder, "Five systems on " + machine.value("name", "a GPU"), figures, machine);
  if (!all.empty()) fmt::print("{}\n", mean.measured);
  checks.print();
  return checks.right();
}

}  // namespace sluice::gpu
