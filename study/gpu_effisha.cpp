// SPDX-License-Identifier: Apache-2.0
// EffiSha's tables and figures of single kernels, from what was measured on a GPU.
#include "study/gpu_effisha.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

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

}  // namespace

Figure effisha_kernels(const std::map<std::string, Alone>& alone) {
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

}  // namespace sluice::gpu
