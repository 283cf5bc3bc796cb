// SPDX-License-Identifier: Apache-2.0
#include "sw/report/schedule_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "sw/report/table.h"

namespace sluice {

namespace {

double ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// The launches of one job in one run.
struct Launches {
  std::uint32_t count = 0;
  std::int32_t lowest = 0, highest = 0;
  double ntts = 0;  ///< their sum
  Time alone{};

  void add(const LaunchOutcome& launch) {
    lowest = count == 0 ? launch.priority : std::min(lowest, launch.priority);
    highest = count == 0 ? launch.priority : std::max(highest, launch.priority);
    ntts += launch.ntt();
    alone = launch.alone;
    ++count;
  }
};

std::map<std::string, Launches> by_job(const ScheduleRun& run) {
  std::map<std::string, Launches> all;
  for (const LaunchOutcome& launch : run.jobs) all[launch.name].add(launch);
  return all;
}

std::map<std::int32_t, std::uint64_t> evictions_by_priority(const ScheduleRun& run) {
  std::map<std::int32_t, std::uint64_t> all;
  for (const LaunchOutcome& launch : run.jobs) all[launch.priority] += launch.evictions;
  return all;
}

}  // namespace

nlohmann::ordered_json to_json(std::span<const ScheduleRun> runs) {
  nlohmann::ordered_json out = {{"runs", nlohmann::ordered_json::array()}};
  for (const ScheduleRun& run : runs) {
    nlohmann::ordered_json entry = {{"scheduler", run.scheduler}, {"executor", run.executor}, {"flavour", run.flavour}};
    if (run.wait) entry["wait_ms"] = ms(*run.wait);
    entry["jobs"] = nlohmann::ordered_json::array();
    for (const LaunchOutcome& launch : run.jobs)
      entry["jobs"].push_back({{"name", launch.name},
                               {"priority", launch.priority},
                               {"arrival_ms", ms(launch.arrival)},
                               {"alone_ms", ms(launch.alone)},
                               {"turnaround_ms", ms(launch.turnaround)},
                               {"ntt", launch.ntt()},
                               {"evictions", launch.evictions}});
    entry["antt"] = run.antt();
    entry["stp"] = run.stp();
    entry["makespan_ms"] = ms(run.makespan);
    entry["evictions"] = run.evictions();
    entry["decisions"] = run.decisions;
    if (run.copies) {
      entry["copies_ms"] = ms(run.copies->total);
      entry["copies_overlapped_ms"] = ms(run.copies->overlapped);
    }
    if (run.pruning)
      entry["pruning"] = {{"decisions", run.pruning->decisions},
                          {"pairs", run.pruning->pairs},
                          {"pruned", run.pruning->pruned},
                          {"lost_profit", run.pruning->lost_profit}};
    out["runs"].push_back(std::move(entry));
  }
  return out;
}

std::string schedule_table(std::span<const ScheduleRun> runs) {
  std::vector<report::Column> columns = {"NTT", "priority", {"alone ms", report::Notation::Number, 2}};
  std::vector<std::map<std::string, Launches>> jobs;
  for (const ScheduleRun& run : runs) {
    columns.emplace_back(run.wait ? fmt::format("{}, wait {} ms", run.scheduler, ms(*run.wait)) : run.scheduler,
                         report::Notation::Number, 2);
    jobs.push_back(by_job(run));
  }
  report::Table table(columns);
  std::vector<std::string> seen;
  for (const LaunchOutcome& launch : runs.front().jobs) {
    if (std::ranges::find(seen, launch.name) != seen.end()) continue;
    seen.push_back(launch.name);
    const Launches& first = jobs.front().at(launch.name);
    report::Row row = {
        launch.name,
        first.lowest == first.highest ? fmt::format("{}", first.lowest) : fmt::format("{}..{}", first.lowest, first.highest),
        ms(first.alone)};
    for (const auto& of_run : jobs) row.emplace_back(of_run.at(launch.name).ntts / of_run.at(launch.name).count);
    table.row(std::move(row));
  }
  const auto row = [&](const std::string& what, const auto& of) {
    report::Row cells = {what, "", ""};
    for (const ScheduleRun& run : runs) cells.emplace_back(of(run));
    table.row(std::move(cells));
  };
  table.rule();
  row("ANTT", [](const ScheduleRun& run) { return run.antt(); });
  row("STP", [](const ScheduleRun& run) { return run.stp(); });
  row("makespan, ms", [](const ScheduleRun& run) { return ms(run.makespan); });
  row("evictions", [](const ScheduleRun& run) { return std::uint64_t{run.evictions()}; });
  row("decisions", [](const ScheduleRun& run) { return std::uint64_t{run.decisions}; });
  if (runs.front().copies) {
    row("copies, ms", [](const ScheduleRun& run) { return ms(run.copies->total); });
    row("beside kernels, ms", [](const ScheduleRun& run) { return ms(run.copies->overlapped); });
  }
  if (runs.front().wait) {
    table.rule();
    for (const auto& [priority, count] : evictions_by_priority(runs.front()))
      row(fmt::format("evictions at {}", priority),
          [p = priority](const ScheduleRun& run) { return evictions_by_priority(run).at(p); });
  }
  return table.text();
}

}  // namespace sluice
