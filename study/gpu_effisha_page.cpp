// SPDX-License-Identifier: Apache-2.0
// EffiSha's tables and figures of single kernels and of schedules, from what was measured on a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "study/gpu_lines.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/apps.h"

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;
using report::written;

namespace {

constexpr double kTriad = 1.08, kMean = 1.04;          // figure 10: with proxy and adaptive checks
constexpr double kPaperMeanUs = 80, kPaperMdUs = 400;  // figure 13
constexpr std::pair<const char*, const char*> kForms[] = {{"basic", "every thread reads host memory"},
                                                          {"leader", "one thread reads host memory"},
                                                          {"proxy", "proxy"},
                                                          {"adaptive", "proxy, adaptive"},
                                                          {"pushed", "pushed"}};

std::string name_of(const std::string& app) { return name_in("effisha", app); }
std::string percent(double share) { return written(1 + share, report::Notation::Gain, 1); }
bool is_of(const std::string& app) {
  return std::ranges::find(paper_kernels("effisha"), app, &PaperKernel::app) != paper_kernels("effisha").end();
}
/// The experiments also take kernels of the other papers.
std::vector<json> lines_of_the_paper(const std::filesystem::path& file) {
  std::vector<json> out = lines(file);
  std::erase_if(out, [](const json& line) { return !is_of(line.at("app")); });
  return out;
}
/// Each repetition's overhead over the untransformed kernel.
Values overheads(const json& line, const char* key) {
  Values ratios;
  for (std::size_t r = 0; r < line.at(key).size(); ++r)
    ratios.push_back(line.at(key)[r].get<double>() / line.at("native_ms")[r].get<double>() - 1);
  return ratios;
}
/// "+3.1 %", "x 97".
std::string slower(double by) { return by < 10 ? percent(by) : fmt::format("x {:.0f}", by + 1); }
/// A read of host memory of every thread at the end of every block, in one pass of the grid, over the time that they add.
double reads_per_us(const std::string& app, const json& basic) {
  const auto& all = paper_kernels("effisha");
  const auto paper = std::ranges::find(all, app, &PaperKernel::app);
  AppSize size = measured_size(app, paper == all.end() ? kEqualLength : *paper->milliseconds);
  size.passes = 1;  // as in the experiment
  const LaunchSpec launch = make_app(app, size).launch;
  const double added = median(basic.at("under_ms").get<Values>()) - median(basic.at("native_ms").get<Values>());
  return static_cast<double>(launch.blocks() * launch.block_threads()) / (1e3 * added);
}
double paper_latency(const std::string& name) { return name == "MD" ? kPaperMdUs : report::kNone; }

constexpr const char* kOurs[] = {"rr", "prio_np", "piv", "dprr"};
/// What the GPU offers itself; the last three: our schedulers, other processes.
constexpr const char* kTheirs[] = {"processes",         "mps",          "mps_priorities", "fcfs",        "streams",
                                   "stream_priorities", "green_halves", "rr_service",     "piv_service", "dprr_service"};
constexpr const char* kDefaults[] = {"processes", "mps", "streams"};
bool is_ours(const std::string& system) { return std::ranges::find(kOurs, system) != std::end(kOurs); }

/// Median milliseconds of a launch alone.
struct Alone {
  double native = 0, quota = 0;
};
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

Figure effisha_kernels(const Times& alone) {
  Figure figure{"3", "How long each launch takes alone", "Times on a K40m."};
  report::RowChart chart = times("", "milliseconds alone, untransformed");
  chart.digits = 2;
  double worst = 0;
  for (const PaperKernel& k : paper_kernels("effisha")) {
    const auto found = alone.find(k.name);
    if (found == alone.end()) continue;
    worst = std::max(worst, std::abs(found->second.native / *k.milliseconds - 1));
    chart.rows.push_back({k.name, {{found->second.native, report::kNone, report::kNone, *k.milliseconds}}});
    figure.data[k.name] = {
        {"published_ms", *k.milliseconds}, {"native_ms", found->second.native}, {"quota_ms", found->second.quota}};
  }
  figure.measured = fmt::format(
      "Grids are scaled so that a launch lasts as long on an H200; here it is within {:.1f} % of the paper's time.", 100 * worst);
  if (!chart.rows.empty()) figure.blocks = {report::Large{chart}};
  return figure;
}

Figure effisha_overhead(const std::filesystem::path& folder) {
  Figure figure{"10", "What a kernel under quotas costs",
                "Average 4 %, worst 8 % (Triad, Stencil2D), with proxy and adaptive checks."};
  report::RowChart chart = gains("Time over the untransformed kernel's, 95 % intervals");
  Values ours;
  double worst = -1;
  std::string worst_name;
  for (const json& line : lines(folder / "effisha_overhead.jsonl")) {
    const report::Point m = median_point(overheads(line, "push_ms"));
    const std::string app = line.at("app"), name = name_of(app);
    figure.data[name] = {
        {"overhead", m.value}, {"low", m.low}, {"high", m.high}, {"native_ms", median(line.at("native_ms").get<Values>())}};
    if (!is_of(app)) continue;
    ours.push_back(m.value);
    if (m.value > worst) {
      worst = m.value;
      worst_name = name;
    }
    chart.rows.push_back(
        {name, {{1 + m.value, 1 + m.low, 1 + m.high, app == "TRIAD" || app == "ST2D" ? kTriad : report::kNone}}});
  }
  if (ours.empty()) return figure;
  add_mean(chart, "mean", arithmetic_mean, {kMean});
  const double mean = arithmetic_mean(ours);
  figure.measured = fmt::format("The pushed flag: mean {}, worst {} ({}).", percent(mean), percent(worst), worst_name);
  figure.blocks = {report::Large{chart}};
  return figure;
}

}  // namespace

Figure effisha_flags(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{
      "10 flags", "The paper's own flags beside the pushed one",
      "Every thread reads host memory: up to x 97, x 10 on average. With the proxy 15 %, with adaptive checks too 4 %."};
  report::RowChart cost = times("", "time over the untransformed kernel's"),
                   latency = times("", "microseconds until an eviction is done, medians");
  constexpr std::size_t kColours[] = {5, 1, 2, 3, 4};
  for (std::size_t f = 0; f < std::size(kForms); ++f) cost.series.push_back({kForms[f].second, kColours[f]});
  latency.series = cost.series;
  std::map<std::string, Values> slowdowns;
  Values reads;
  bool good = true;
  for (const json& line : lines(folder / "effisha_flags.jsonl")) {
    const std::string name = name_of(line.at("app"));
    report::RowChart::Row own{name, {}}, evict{name, {}};
    for (const auto& [form, title] : kForms) {
      const json& f = line.at("forms").at(form);
      const double by = median(f.at("under_ms").get<Values>()) / median(f.at("native_ms").get<Values>()) - 1,
                   us = median(f.at("grids_us").get<Values>());
      slowdowns[form].push_back(by);
      good = good && f.at("bit_identical").get<bool>() && f.at("violations") == 0;
      own.points.push_back({1 + by});
      evict.points.push_back({us});
      figure.data[name][form] = {{"overhead", by}, {"evict_us", us}};
      if (std::string_view(form) == "basic")
        figure.data[name][form]["host_reads_per_us"] = reads.emplace_back(reads_per_us(line.at("app"), f));
    }
    cost.rows.push_back(own);
    latency.rows.push_back(evict);
  }
  if (cost.rows.empty()) return figure;
  add_mean(cost, "mean", arithmetic_mean, {10, report::kNone, 1.15, 1.04});
  add_mean(latency, "mean", arithmetic_mean);
  const auto mean = [&](const char* form) { return slower(arithmetic_mean(slowdowns[form])); };
  figure.measured = fmt::format(
      "Means: {} and {} from host memory; proxy {}, adaptive {}, pushed {}. Warps begin a block together in all five. "
      "Where every thread reads, {:.0f} reads a us cross PCIe.",
      mean("basic"), mean("leader"), mean("proxy"), mean("adaptive"), mean("pushed"), arithmetic_mean(reads));
  checks.that("flags: an output differs, or a quota was exceeded", good);
  figure.blocks = {report::Large{cost}, report::Large{latency}};
  return figure;
}

Figure effisha_latency(const std::filesystem::path& folder) {
  Figure figure{"13", "How soon an eviction is done",
                "0.08 ms mean from the flag to the end of the kernel, MD 0.4 ms; below 0.015 ms for BFS, FFT, NeuralNet, Triad."};
  report::RowChart chart = times("", "microseconds from the order",
                                 {{"grids ended, median", 4}, {"99th percentile", 2}, {"last CTA left, median", 1}});
  Values middle;
  double worst = 0;
  std::string worst_name;
  for (const json& line : lines_of_the_paper(folder / "effisha_latency.jsonl")) {
    const Values last = line.at("last_cta_us"), grids = line.at("grids_us"), back = line.at("back_us");
    const std::string name = name_of(line.at("app"));
    middle.push_back(median(grids));
    if (percentile(grids, 0.99) > worst) {
      worst = percentile(grids, 0.99);
      worst_name = name;
    }
    report::Point ended = median_point(grids);
    ended.published = paper_latency(name);
    chart.rows.push_back({name, {ended, {percentile(grids, 0.99)}, median_point(last)}});
    figure.data[name] = {{"last_cta_p50_us", median(last)},
                         {"grids_p50_us", median(grids)},
                         {"grids_p99_us", percentile(grids, 0.99)},
                         {"back_p50_us", median(back)}};
  }
  if (chart.rows.empty()) return figure;
  add_mean(chart, "mean", arithmetic_mean, {kPaperMeanUs});
  figure.measured = fmt::format("Order to grids ended: p50 {:.1f} us in the mean, largest p99 {:.1f} us ({}).",
                                arithmetic_mean(middle), worst, worst_name);
  figure.blocks = {report::Large{chart}};
  return figure;
}

Figure effisha_service_latency(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"13 service",
                "How soon an eviction through the service is done: from the decision to the word that the last CTA has left",
                "0.08 ms on average, 0.4 ms at most (MD), within one process."};
  report::RowChart chart = times("", "microseconds from the decision", {{"median", 4}, {"99th percentile", 2}});
  Values p50, p99, decide;
  bool good = true;
  for (const json& line : lines(folder / "effisha_service_latency.jsonl")) {
    const Values us = line.at("grids_us"), own = line.at("decide_us");
    decide.insert(decide.end(), own.begin(), own.end());
    p50.push_back(median(us));
    p99.push_back(percentile(us, 0.99));
    good = good && line.at("bit_identical").get<bool>() && line.at("counts").at("violations") == 0;
    const std::string name = name_of(line.at("app"));
    report::Point middle = median_point(us);
    middle.published = paper_latency(name);
    chart.rows.push_back({name, {middle, {p99.back()}}});
    figure.data[name] = {{"p50_us", p50.back()}, {"p99_us", p99.back()}, {"evictions", us.size()}};
  }
  if (chart.rows.empty()) return figure;
  add_mean(chart, "mean", arithmetic_mean, {kPaperMeanUs});
  const double most = *std::ranges::max_element(p99);
  figure.measured = fmt::format("Mean of p50 {:.1f} us; p99 at most {:.0f} us. A decision takes {:.1f} us (p99).",
                                arithmetic_mean(p50), most, percentile(decide, 0.99));
  checks.that("service: an output differs, or a quota was exceeded", good);
  figure.blocks = {report::Large{chart}};
  return figure;
}

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
