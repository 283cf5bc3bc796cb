// SPDX-License-Identifier: Apache-2.0
// EffiSha's schedules on a GPU, and the page of all its figures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "study/beside_scenes.h"
#include "study/gpu_effisha.h"
#include "study/gpu_variants.h"

namespace sluice::gpu {

using figures::Figure;
using figures::TableRow;
using nlohmann::json;

namespace {

constexpr const char* kOurs[] = {"rr", "prio_np", "piv", "dprr"};
/// What the GPU offers itself, in the order of the columns.
constexpr const char* kTheirs[] = {
    "processes",    "mps",        "mps_priorities", "fcfs",        "streams", "stream_priorities",
    "green_halves", "rr_service", "piv_service",    "dprr_service"};  // the last three: our schedulers, other processes
bool is_ours(const std::string& system) { return std::ranges::find(kOurs, system) != std::end(kOurs); }

std::map<std::string, Alone> read_alone(const std::filesystem::path& folder) {
  std::map<std::string, Alone> alone;
  for (const json& line : lines(folder / "effisha_schedules.jsonl"))
    if (line.contains("alone"))
      for (const auto& [name, times] : line.at("alone").items())
        alone[name] = {median(times.at("native_ms").get<Values>()), median(times.at("quota_ms").get<Values>())};
  return alone;
}

std::map<std::string, double> part(const std::map<std::string, Alone>& alone, double Alone::*which) {
  std::map<std::string, double> out;
  for (const auto& [name, times] : alone) out[name] = times.*which;
  return out;
}

}  // namespace

Figure effisha_schedules(const std::string& setting, const std::map<std::string, ScenarioOutcome>& systems,
                         const std::map<std::string, Alone>& alone, const HandoverCosts& costs,
                         RunChecks& checks) {
  Figure figure{"14 " + setting,
                fmt::format("Figures 12, 14, 15: normalised turnaround times, priorities \"{}\"", setting),
                {},
                {},
                {},
                {}};
  figure.published = setting == "group"
                         ? "Default (processes): ANTT 5.08; Scan 9.16, Triad 8.07, FFT 10.8. piv: Reduction 38, Sort 14, Scan "
                           "39. Overhead below 5 %."
                         : "piv and dprr below the default; STP of all preemptive schedulers above it. Overhead below 5 %.";
  const auto native = part(alone, &Alone::native), quota = part(alone, &Alone::quota);
  std::vector<std::string> order;
  for (const char* s : kTheirs)
    if (systems.contains(s)) order.emplace_back(s);
  for (const char* s : kOurs)
    if (systems.contains(s)) order.emplace_back(s);
  TableRow head = {"kernel", "priority"};
  const auto& launches = systems.at(order.front()).launches;
  std::vector<std::size_t> rows_of(launches.size());
  for (std::size_t i = 0; i < rows_of.size(); ++i) rows_of[i] = i;
  std::ranges::stable_sort(rows_of, {}, [&](std::size_t i) { return launches[i].priority; });
  std::vector<TableRow> rows;
  for (const std::size_t i : rows_of) rows.push_back({launches[i].name, fmt::format("{}", launches[i].priority)});
  std::array<TableRow, 5> foot{
      TableRow{"ANTT", ""}, {"STP", ""}, {"makespan, ms", ""}, {"over the better default", ""}, {"evictions", ""}};
  double base = INFINITY;
  std::string defaults;  // which were measured
  for (const char* s : {"processes", "mps", "streams"})
    if (systems.contains(s)) defaults += (defaults.empty() ? "" : ", ") + std::string(s);
  for (const char* s : {"processes", "mps", "streams"})
    if (systems.contains(s)) base = std::min(base, median(systems.at(s).makespans));
  std::vector<std::string> later;  // than the better default: ours
  unsigned near = 0, near_with_costs = 0, compared = 0;
  const auto is_near = [](double ours, double other) { return std::abs(ours - other) <= std::max(0.1 * other, 0.2); };
  double sum_native = 0, sum_quota = 0;
  for (const auto& [name, times] : alone) {
    sum_native += times.native;
    sum_quota += times.quota;
  }
  Values decide, send;
  std::uint64_t violations = 0;
  bool same = true;
  for (const std::string& s : order) {
    const ScenarioOutcome& o = systems.at(s);
    head.push_back(s);
    std::optional<ScheduleRun> fake, with_costs;
    if (is_ours(s)) {
      fake = on_fake_executor(o, quota, s);
      with_costs = on_fake_executor(o, quota, s, costs);
    }
    double evictions = 0;
    for (std::size_t r = 0; r < rows_of.size(); ++r) {
      const auto& launch = o.launches[rows_of[r]];
      const double ntt = launch.turnaround / native.at(launch.name);
      std::string cell = fmt::format("{:.2f}", ntt);
      if (fake) {
        const double other = static_cast<double>(fake->jobs[rows_of[r]].turnaround.count()) * 1e-9;
        cell += fmt::format(" ({:.2f})", other / native.at(launch.name));
        ++compared;
        near += is_near(launch.turnaround, other) ? 1 : 0;
        near_with_costs +=
            is_near(launch.turnaround, static_cast<double>(with_costs->jobs[rows_of[r]].turnaround.count()) * 1e-9) ? 1 : 0;
        evictions += launch.evictions;
      }
      rows[r].push_back(cell);
      figure.data[s]["ntt"][launch.name] = ntt;
    }
    const double makespan = median(o.makespans), over = makespan / base - 1;
    foot[0].push_back(fmt::format("{:.2f}", antt(o, native)) + (fake ? fmt::format(" ({:.2f})", fake->antt()) : ""));
    foot[1].push_back(fmt::format("{:.2f}", stp(o, native)) + (fake ? fmt::format(" ({:.2f})", fake->stp()) : ""));
    foot[2].push_back(with_interval(measured(o.makespans), "", 1));
    foot[3].push_back(fmt::format("{:+.1f} %", 100 * over));
    foot[4].push_back(fake ? fmt::format("{:.0f} ({})", evictions, fake->evictions()) : "-");
    figure.data[s].update(
        {{"antt", antt(o, native)}, {"stp", stp(o, native)}, {"makespan_ms", makespan}, {"evictions", evictions}});
    if (fake) {
      later.push_back(fmt::format("{} {:+.1f} %", s, 100 * over));
      figure.data[s]["makespan_over_default"] = over;
      decide.insert(decide.end(), o.decide_us.begin(), o.decide_us.end());
      send.insert(send.end(), o.send_us.begin(), o.send_us.end());
      violations += o.violations;
      same = same && o.identical;
    }
  }
  for (TableRow& row : foot) rows.push_back(row);
  figure.html = figures::table(head, rows);
  std::vector<std::string> said;
  for (const std::string& s : order) said.push_back(fmt::format("{} {:.2f}", s, antt(systems.at(s), native)));
  figure.measured =
      fmt::format("ANTT: {}. In brackets: the fake executor with the times alone under quotas.", fmt::join(said, ", "));
  if (decide.empty()) return figure;
  if (systems.contains("stream_priorities") && systems.contains("piv")) {
    const double streams = antt(systems.at("stream_priorities"), native), piv = antt(systems.at("piv"), native);
    figure.measured += streams <= piv ? " Stream priorities in one process are better than piv here."
                                      : " piv is better than stream priorities in one process.";
  }
  figure.measured += fmt::format(" Until all are done, over the better of {}: {}.", defaults, fmt::join(later, ", "));
  figure.data["all"] = {{"alone_quota_over_native", sum_quota / sum_native},
                        {"near_fake_executor", {{"launches", near}, {"with_costs", near_with_costs}, {"of", compared}}},
                        {"decide_p99_us", percentile(decide, 0.99)},
                        {"send_p99_us", percentile(send, 0.99)}};
  checks.that(setting + ": an output differs", same);
  checks.that(fmt::format("{}: {} violations", setting, violations), violations == 0);
  return figure;
}

Figure effisha_evictions(const std::filesystem::path& folder) {
  Figure figure{"9",
                "Evictions by priority under piv, 100 launches a kernel",
                "Fewer with a larger wait and with a higher priority (1,000 launches).",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  std::vector<double> totals;
  double worst = -1;
  for (const json& line : lines(folder / "effisha_priorities.jsonl")) {
    std::array<double, 9> by{}, launches{};
    for (const json& job : line.at("jobs")) {
      by[job.at("priority").get<std::size_t>() - 1] += job.at("evictions").get<double>();
      launches[job.at("priority").get<std::size_t>() - 1] += 1;
    }
    Values priority, rate;
    TableRow row = {fmt::format("{:g}", line.at("wait_ms").get<double>())};
    double all = 0;
    for (std::size_t p = 0; p < by.size(); ++p) {
      priority.push_back(static_cast<double>(p));
      rate.push_back(by[p] / std::max(launches[p], 1.0));
      row.push_back(fmt::format("{:.0f}", by[p]));
      all += by[p];
    }
    const double correlation = rank_correlation(priority, rate);
    worst = std::max(worst, correlation);
    row.insert(row.end(), {fmt::format("{:.0f}", all), fmt::format("{:.2f}", correlation)});
    rows.push_back(row);
    totals.push_back(all);
    figure.data[row.front()] = {{"by_priority", by}, {"total", all}, {"correlation", correlation}};
  }
  if (rows.empty()) return figure;
  figure.measured = fmt::format("Totals {}; rank correlation with the priority at most {:.2f}.", fmt::join(totals, ", "), worst);
  figure.html = figures::table({"wait, ms", "1", "2", "3", "4", "5", "6", "7", "8", "9", "all", "correlation"}, rows);
  return figure;
}

bool write_effisha_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  const auto alone = read_alone(folder);
  ScenarioOutcomes outcomes = read_outcomes(folder / "effisha_schedules.jsonl", "setting");
  for (const char* file : {"effisha_processes.jsonl", "effisha_service.jsonl"})
    for (auto& [setting, systems] : read_outcomes(folder / file, "setting")) outcomes[setting].merge(systems);
  std::vector<Figure> figures = {
      effisha_kernels(alone),         effisha_overhead(folder), effisha_flags(folder, checks),
      effisha_slices(folder, checks), effisha_latency(folder),  effisha_service_latency(folder, checks)};
  for (const char* setting : {"group", "sjf", "random"})
    if (outcomes.contains(setting))
      figures.push_back(effisha_schedules(setting, outcomes.at(setting), alone, handover_costs(folder), checks));
  figures.push_back(effisha_evictions(folder));
  figures.push_back(effisha_beside(folder));
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  write_page(folder, "EffiSha on " + machine.value("name", "a GPU"), figures, machine);
  checks.print();
  return checks.right();
}

}  // namespace sluice::gpu
