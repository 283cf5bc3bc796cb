// SPDX-License-Identifier: Apache-2.0
// EffiSha's schedules on a GPU, and the page of all its figures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "study/gpu_effisha.h"

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;

namespace {

constexpr const char* kOurs[] = {"rr", "prio_np", "piv", "dprr"};
/// What the GPU offers itself; the last three: our schedulers, other processes.
constexpr const char* kTheirs[] = {"processes",         "mps",          "mps_priorities", "fcfs",        "streams",
                                   "stream_priorities", "green_halves", "rr_service",     "piv_service", "dprr_service"};
constexpr const char* kDefaults[] = {"processes", "mps", "streams"};
bool is_ours(const std::string& system) { return std::ranges::find(kOurs, system) != std::end(kOurs); }

using Times = std::map<std::string, Alone>;

Times read_alone(const std::filesystem::path& folder) {
  Times alone;
  for (const json& line : lines(folder / "effisha_schedules.jsonl"))
    if (line.contains("alone"))
      for (const auto& [name, times] : line.at("alone").items())
        alone[name] = {median(times.at("native_ms").get<Values>()), median(times.at("quota_ms").get<Values>())};
  return alone;
}

/// Figures 12 and 14: what the paper prints of the normalised turnaround times with priorities "group".
double published(const std::string& system, const std::string& kernel) {
  const std::map<std::pair<std::string, std::string>, double> known = {
      {{"processes", "Scan"}, 9.16}, {{"processes", "Triad"}, 8.07}, {{"processes", "FFT"}, 10.8}, {{"piv", "Reduction"}, 38},
      {{"piv", "Sort"}, 14},         {{"piv", "Scan"}, 39},          {{"processes", "ANTT"}, 5.08}};
  const auto found = known.find({system, kernel});
  return found == known.end() ? report::kNone : found->second;
}

/// Figures 12, 14, 15 of one setting of priorities.
Figure schedules(const std::string& setting, const std::map<std::string, ScenarioOutcome>& systems, const Times& alone,
                 RunChecks& checks) {
  Figure figure{"14 " + setting, fmt::format("Turnaround times with priorities \"{}\" ", setting), {}};
  const bool group = setting == "group";
  figure.published = group ? "Default (processes): ANTT 5.08; Scan 9.16, Triad 8.07, FFT 10.8. piv: Reduction 38, Sort 14, Scan "
                             "39. Overhead below 5 %."
                           : "piv and dprr below the default; STP of all preemptive schedulers above it. Overhead below 5 %.";
  std::map<std::string, double> native;
  for (const auto& [name, times] : alone) native[name] = times.native;
  std::vector<std::string> order, later, defaults, said;
  for (const char* s : kTheirs)
    if (systems.contains(s)) order.emplace_back(s);
  for (const char* s : kOurs)
    if (systems.contains(s)) order.emplace_back(s);
  double base = INFINITY;
  for (const char* s : kDefaults) {
    if (!systems.contains(s)) continue;
    defaults.emplace_back(s);
    base = std::min(base, median(systems.at(s).makespans));
  }
  std::uint64_t violations = 0;
  bool same = true;
  report::RowChart antts = times("Mean of turnaround over time alone (ANTT)", "times as long as alone"),
                   makespans = gains("Until all are done, over the better default"),
                   stps = times("Throughput (STP)", "launches' worth of progress");
  antts.digits = stps.digits = 2;
  stps.log = false;
  std::vector<report::Column> columns = {"kernel", "priority"};
  const auto& launches = systems.at(order.front()).launches;
  std::vector<report::Row> rows(launches.size());
  for (std::size_t k = 0; k < launches.size(); ++k)
    rows[k] = {launches[k].name, static_cast<std::uint64_t>(launches[k].priority)};
  for (const std::string& s : order) {
    const ScenarioOutcome& o = systems.at(s);
    columns.emplace_back(s, report::Notation::Number, 2);
    double evictions = 0;
    for (std::size_t k = 0; k < launches.size(); ++k) {
      const double ntt = o.launches[k].turnaround / native.at(o.launches[k].name);
      rows[k].emplace_back(ntt);
      if (is_ours(s)) evictions += o.launches[k].evictions;
      figure.data[s]["ntt"][o.launches[k].name] = ntt;
    }
    const double makespan = median(o.makespans), over = makespan / base - 1, slow = antt(o, native);
    antts.rows.push_back({s, {{slow, report::kNone, report::kNone, group ? published(s, "ANTT") : report::kNone}}});
    stps.rows.push_back({s, {{stp(o, native)}}});
    makespans.rows.push_back({s, {median_point(o.makespans, base)}});
    said.push_back(fmt::format("{} {:.2f}", s, slow));
    figure.data[s].update({{"antt", slow}, {"stp", stp(o, native)}, {"makespan_ms", makespan}, {"evictions", evictions}});
    if (!is_ours(s)) continue;
    later.push_back(fmt::format("{} {:+.1f} %", s, 100 * over));
    figure.data[s]["makespan_over_default"] = over;
    violations += o.violations;
    same = same && o.identical;
  }
  report::RowChart each = times("Turnaround over time alone, kernel by kernel", "times as long as alone");
  each.sorted = false;
  std::vector<std::size_t> by_priority(launches.size());
  for (std::size_t k = 0; k < by_priority.size(); ++k) by_priority[k] = k;
  std::ranges::stable_sort(by_priority, {}, [&](std::size_t k) { return launches[k].priority; });
  report::Table table(columns);
  for (const std::size_t k : by_priority) {
    table.row(rows[k]);
    each.rows.push_back({fmt::format("{} ({})", launches[k].name, launches[k].priority), {}});
  }
  constexpr std::pair<const char*, std::size_t> kShown[] = {{"processes", 0}, {"stream_priorities", 1}, {"piv", 4}, {"dprr", 2}};
  for (const auto& [s, colour] : kShown) {
    if (!systems.contains(s)) continue;
    each.series.push_back({s, colour});
    for (std::size_t r = 0; r < by_priority.size(); ++r) {
      const std::string& name = launches[by_priority[r]].name;
      each.rows[r].points.push_back(
          {figure.data[s]["ntt"][name], report::kNone, report::kNone, group ? published(s, name) : report::kNone});
    }
  }
  figure.measured = fmt::format("ANTT: {}.", fmt::join(said, ", "));
  figure.blocks = {report::Large{each}, report::Multiples{{antts, makespans, stps}},
                   report::Folded{"Every kernel under every system; behind a kernel its priority, 1 is the highest", table}};
  if (later.empty()) return figure;
  if (systems.contains("stream_priorities") && systems.contains("piv")) {
    const double streams = antt(systems.at("stream_priorities"), native), piv = antt(systems.at("piv"), native);
    figure.measured += streams <= piv ? " Stream priorities in one process are better than piv here."
                                      : " piv is better than stream priorities in one process.";
  }
  figure.measured +=
      fmt::format(" Until all are done, over the better of {}: {}.", fmt::join(defaults, ", "), fmt::join(later, ", "));
  checks.that(setting + ": an output differs", same);
  checks.that(fmt::format("{}: {} violations", setting, violations), violations == 0);
  return figure;
}

Figure evictions(const std::filesystem::path& folder) {
  Figure figure{"9", "Kernels of higher priority are evicted less, and all less with a larger wait",
                "Fewer with a larger wait and with a higher priority (1,000 launches)."};
  std::vector<double> totals;
  double worst = -1;
  report::LineChart chart{"Evictions under piv, 100 launches of each kernel", "priority, 1 is the highest", "evictions"};
  for (const json& line : lines(folder / "effisha_priorities.jsonl")) {
    std::array<double, 9> by{}, launches{};
    for (const json& job : line.at("jobs")) {
      by[job.at("priority").get<std::size_t>() - 1] += job.at("evictions").get<double>();
      launches[job.at("priority").get<std::size_t>() - 1] += 1;
    }
    Values priority, rate;
    const std::string wait = fmt::format("{:g}", line.at("wait_ms").get<double>());
    double all = 0;
    report::LineChart::Line& drawn = chart.lines.emplace_back();
    drawn.series = {"wait of " + wait + " ms", chart.lines.size()};
    for (std::size_t p = 0; p < by.size(); ++p) {
      priority.push_back(static_cast<double>(p));
      rate.push_back(by[p] / std::max(launches[p], 1.0));
      drawn.points.emplace_back(p + 1, by[p]);
      all += by[p];
    }
    const double correlation = rank_correlation(priority, rate);
    worst = std::max(worst, correlation);
    totals.push_back(all);
    figure.data[wait] = {{"by_priority", by}, {"total", all}, {"correlation", correlation}};
  }
  if (totals.empty()) return figure;
  figure.measured = fmt::format("Totals {}; rank correlation with the priority at most {:.2f}.", fmt::join(totals, ", "), worst);
  figure.blocks = {report::Large{chart}};
  return figure;
}

}  // namespace

bool write_effisha_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  const auto alone = read_alone(folder);
  ScenarioOutcomes outcomes = read_outcomes(folder / "effisha_schedules.jsonl", "setting");
  for (const char* file : {"effisha_processes.jsonl", "effisha_service.jsonl"})
    for (auto& [setting, systems] : read_outcomes(folder / file, "setting")) outcomes[setting].merge(systems);
  std::vector<report::Block> opening;
  for (const json& line : lines(folder / "effisha_schedules.jsonl"))
    if (opening.empty() && line.value("system", "") == "piv" && line.contains("decisions"))
      opening.emplace_back(report::Large{
          schedule(line, fmt::format("One run under piv, priorities \"{}\": behind a kernel its priority, 1 is the highest",
                                     line.at("setting").get<std::string>()))});
  std::vector<Figure> figures;
  for (const char* setting : {"group", "sjf", "random"})
    if (outcomes.contains(setting)) figures.push_back(schedules(setting, outcomes.at(setting), alone, checks));
  const Figure latency = effisha_latency(folder), overhead = effisha_overhead(folder);
  std::string finding = "EffiSha's schedulers";
  const auto mean_of = [](const Figure& f) {  // the last row of its chart
    return std::get<report::RowChart>(std::get<report::Large>(f.blocks.front()).chart).rows.back().points.front().value;
  };
  if (!latency.blocks.empty() && !overhead.blocks.empty())
    finding = fmt::format("EffiSha's evictions take {:.1f} us and its flag costs {}, in the mean", mean_of(latency),
                          report::written(mean_of(overhead) - 1, report::Notation::Share, 1));
  if (!figures.empty() && figures.front().measured.find("Stream priorities in one process are better") != std::string::npos)
    finding += "; the GPU's own stream priorities do better where all launches are of one process";
  for (Figure& f : std::vector<Figure>{latency, effisha_service_latency(folder, checks), overhead, effisha_flags(folder, checks),
                                       evictions(folder), effisha_kernels(alone), model_beside_silicon(folder)})
    figures.push_back(std::move(f));
  return write_page(folder, finding, std::move(opening), std::move(figures), machine, checks);
}

}  // namespace sluice::gpu
