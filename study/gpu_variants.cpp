// SPDX-License-Identifier: Apache-2.0
#include "study/gpu_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sw/core/metrics.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/apps.h"

namespace sluice::gpu {

using figures::Figure;
using figures::TableRow;
using nlohmann::json;

namespace {

constexpr std::pair<const char*, const char*> kForms[] = {{"basic", "every thread reads host memory"},
                                                          {"leader", "one thread reads host memory"},
                                                          {"proxy", "proxy"},
                                                          {"adaptive", "proxy, adaptive"},
                                                          {"pushed", "pushed"}};

std::string name_of(const std::string& app) {
  const auto& all = paper_kernels("effisha");
  const auto found = std::ranges::find(all, app, &PaperKernel::app);
  return found == all.end() ? app : found->name;
}
double overhead(const json& form) {
  return median(form.at("under_ms").get<Values>()) / median(form.at("native_ms").get<Values>()) - 1;
}
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
/// "+3.1 %", "x 97".
std::string slower(double by) { return by < 10 ? fmt::format("{:+.1f} %", 100 * by) : fmt::format("x {:.0f}", by + 1); }

}  // namespace

Figure effisha_flags(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"10 flags",
                "The paper's own flags: overhead, and the median latency of an eviction",
                "Every thread reads host memory: up to x 97, x 10 on average. With the proxy 15 %, with adaptive checks too 4 %.",
                {},
                {},
                {}};
  std::map<std::string, Values> overheads, latencies;
  Values reads;
  std::vector<TableRow> rows;
  bool good = true;
  for (const json& line : lines(folder / "effisha_flags.jsonl")) {
    TableRow row = {name_of(line.at("app")), fmt::format("{}", line.at("between_looks").get<int>())};
    for (const auto& [form, title] : kForms) {
      const json& f = line.at("forms").at(form);
      const double by = overhead(f), us = median(f.at("grids_us").get<Values>());
      overheads[form].push_back(by);
      latencies[form].push_back(us);
      good = good && f.at("bit_identical").get<bool>() && f.at("violations") == 0;
      row.push_back(fmt::format("{}, {:.0f} us", slower(by), us));
      figure.data[row.front()][form] = {{"overhead", by}, {"evict_us", us}};
      if (std::string_view(form) == "basic")
        figure.data[row.front()][form]["host_reads_per_us"] = reads.emplace_back(reads_per_us(line.at("app"), f));
    }
    rows.push_back(row);
  }
  if (rows.empty()) return figure;
  TableRow head = {"kernel", "blocks between adaptive looks"}, means = {"mean", ""};
  for (const auto& [form, title] : kForms) {
    head.emplace_back(title);
    means.push_back(fmt::format("{}, {:.0f} us", slower(mean(overheads[form])), mean(latencies[form])));
  }
  rows.push_back(means);
  figure.html = figures::table(head, rows);
  figure.measured = fmt::format(
      "Means: {} and {} from host memory; proxy {}, adaptive {}, pushed {}. Warps begin a block together here in all five. Where "
      "every thread reads, {:.0f} reads a us cross PCIe.",
      slower(mean(overheads["basic"])), slower(mean(overheads["leader"])), slower(mean(overheads["proxy"])),
      slower(mean(overheads["adaptive"])), slower(mean(overheads["pushed"])), mean(reads));
  checks.that("flags: an output differs, or a quota was exceeded", good);
  return figure;
}

Figure effisha_service_latency(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"13 service",
                "Through the service: from the decision to the word that the last CTA has left",
                "0.08 ms on average, 0.4 ms at most (MD), within one process.",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  Values p50, p99, decide;
  bool good = true;
  for (const json& line : lines(folder / "effisha_service_latency.jsonl")) {
    const Values us = line.at("grids_us"), own = line.at("decide_us");
    decide.insert(decide.end(), own.begin(), own.end());
    p50.push_back(median(us));
    p99.push_back(percentile(us, 0.99));
    good = good && line.at("bit_identical").get<bool>() && line.at("counts").at("violations") == 0;
    const std::string name = name_of(line.at("app"));
    rows.push_back({name, with_interval(measured(us), "", 1), fmt::format("{:.0f}", p99.back()), fmt::format("{}", us.size())});
    figure.data[name] = {{"p50_us", p50.back()}, {"p99_us", p99.back()}, {"evictions", us.size()}};
  }
  if (rows.empty()) return figure;
  figure.html = figures::table({"kernel", "p50, us", "p99, us", "evictions"}, rows);
  figure.measured = fmt::format("Mean of p50 {:.1f} us; p99 at most {:.0f} us. A decision takes {:.1f} us (p99).", mean(p50),
                                *std::ranges::max_element(p99), percentile(decide, 0.99));
  checks.that("service: an output differs, or a quota was exceeded", good);
  return figure;
}

Figure slate_tasks(const std::filesystem::path& folder) {
  Figure figure{"5 tasks", "Overhead by the number of blocks that a worker takes at a time", "10 by default.", {}, {}, {}};
  std::vector<TableRow> rows;
  double furthest = 0;
  std::string furthest_of;
  std::vector<std::string> sizes = {"1", "2", "5", "10", "20", "50", "100"};
  for (const json& line : lines(folder / "slate_tasks.jsonl")) {
    const double native = median(line.at("native_ms").get<Values>());
    const std::string app = line.at("app");
    TableRow row = {app};
    const auto cell = [&](const std::string& size) {
      const double by = median(line.at("ms").at(size).get<Values>()) / native - 1;
      figure.data[app][size] = by;
      return slower(by);
    };
    for (const std::string& size : sizes) row.push_back(cell(size));
    row.push_back(cell("0"));
    double best = INFINITY;
    for (const std::string& size : sizes) best = std::min(best, figure.data[app][size].get<double>());
    if (const double off = figure.data[app]["0"].get<double>() - best; off >= furthest) {
      furthest = off;
      furthest_of = app;
    }
    rows.push_back(row);
  }
  if (rows.empty()) return figure;
  sizes.insert(sizes.begin(), "kernel");
  sizes.emplace_back("the runtime's choice");
  figure.html = figures::table(sizes, rows);
  figure.measured = fmt::format("The runtime's choice is at most {:.1f} points from the best of these sizes ({}).",
                                100 * furthest, furthest_of);
  return figure;
}

Figure slate_service(const std::filesystem::path& folder) {
  Figure figure{"service",
                "Alone under the service: time of 100 launches over that under MPS alone",
                "Communication 4 % of the application's time.",
                {},
                {},
                {}};
  std::map<std::string, std::map<std::string, Values>> ms;
  for (const json& line : lines(folder / "slate_service.jsonl"))
    if (line.contains("kernel")) ms[line.at("kernel")][line.at("system")].push_back(line.at("ms"));
  std::vector<TableRow> rows;
  double worst = -1;
  std::string worst_of;
  for (const auto& [kernel, systems] : ms) {
    if (!systems.contains("mps") || !systems.contains("service")) continue;
    const double by = median(systems.at("service")) / median(systems.at("mps")) - 1;
    if (by > worst) {
      worst = by;
      worst_of = kernel;
    }
    rows.push_back({kernel, fmt::format("{:.1f}", median(systems.at("mps"))),
                    fmt::format("{:.1f}", median(systems.at("service"))), slower(by)});
    figure.data[kernel] = by;
  }
  if (rows.empty()) return figure;
  figure.html = figures::table({"kernel", "MPS, ms", "service, ms", ""}, rows);
  figure.measured = fmt::format("At most {} ({}).", slower(worst), worst_of);
  return figure;
}

Figure kernelet_copies(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"8",
                "Copies beside kernels, kernels beside each other: milliseconds until the last output is back",
                "Both over the worst: 9.2, 13.0, 16.8, 17.5 % less time. 99, 95, 97, 97 % of the copies' time overlapped.",
                {},
                {},
                {}};
  std::map<std::string, std::map<std::string, Values>> end, covered;
  std::map<std::string, double> share;
  bool good = true;
  for (const json& line : lines(folder / "kernelet_copies.jsonl")) {
    end[line.at("group")][line.at("variant")].push_back(line.at("end_ms"));
    covered[line.at("group")][line.at("variant")].push_back(line.at("covered"));
    good = good && line.at("bit_identical").get<bool>() && line.at("violations") == 0;
    if (line.at("variant") == "N,N")
      share[line.at("group")] = line.at("copies_ms").get<double>() / line.at("end_ms").get<double>();
  }
  std::vector<TableRow> rows;
  for (const char* group : {"ci", "mi", "mix", "all"}) {
    if (!end.contains(group)) continue;
    TableRow row = {group};
    double worst = 0;
    for (const char* variant : {"Y,Y", "Y,N", "N,Y", "N,N"}) {
      const double ms = median(end[group].at(variant));
      worst = std::max(worst, ms);
      row.push_back(fmt::format("{:.0f}", ms));
      figure.data[group][variant] = ms;
    }
    const double less = 1 - median(end[group]["Y,Y"]) / worst, over = median(covered[group]["Y,Y"]);
    row.insert(row.end(), {fmt::format("{:.1f} %", 100 * less), fmt::format("{:.0f} %", 100 * over),
                           fmt::format("{:.0f} %", 100 * share[group])});
    figure.data[group]["covered"] = over;
    rows.push_back(row);
  }
  if (rows.empty()) return figure;
  figure.html =
      figures::table({"queue", "copies overlap, kernels share", "copies overlap", "kernels share", "neither",
                      "less time than the worst", "of the copies' time overlapped", "copies' share where nothing overlaps"},
                     rows);
  double least = 1, most = 0;
  for (const auto& [group, part] : share) {
    least = std::min(least, part);
    most = std::max(most, part);
  }
  figure.measured =
      fmt::format("Inputs and outputs of the paper's sizes: where nothing overlaps, copies take {:.0f} to {:.0f} % of the time.",
                  100 * least, 100 * most);
  checks.that("copies: an output differs, or a quota was exceeded", good);
  return figure;
}

Figure five_service(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{
      "service", "The same pairs as processes: time under MPS over the time through the service", "Not in a paper.", {}, {}, {}};
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
  std::vector<TableRow> rows;
  for (const auto& [system, pairs] : makespans) {
    if (system == "mps") continue;
    Values gains;
    std::pair<double, std::string> least = {INFINITY, ""}, most = {0, ""};
    for (const auto& [pair, ms] : pairs) {
      gains.push_back(median(makespans["mps"].at(pair)) / median(ms));
      least = std::min(least, std::pair(gains.back(), pair));
      most = std::max(most, std::pair(gains.back(), pair));
    }
    const double all = geometric_mean(gains);
    rows.push_back({system, figures::gain_text(all), fmt::format("{} {}", figures::gain_text(most.first), most.second),
                    fmt::format("{} {}", figures::gain_text(least.first), least.second)});
    figure.data[system] = all;
  }
  figure.html = figures::table({"system", "geometric mean", "best", "worst"}, rows);
  figure.measured = "Processes that know nothing of Sluice, under sluice run; each pair's launches of 15 ms begin together.";
  checks.that("pairs through the service: an output differs, or a quota was exceeded", good);
  return figure;
}

}  // namespace sluice::gpu
