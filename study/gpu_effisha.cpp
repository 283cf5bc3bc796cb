// SPDX-License-Identifier: Apache-2.0
// EffiSha's tables and figures of single kernels, from what was measured on a GPU.
#include "study/gpu_effisha.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sw/gpu/apps/apps.h"

namespace sluice::gpu {

using figures::Figure;
using figures::TableRow;
using nlohmann::json;

namespace {

std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }
const PaperKernel& of(const std::string& app) { return *std::ranges::find(paper_kernels("effisha"), app, &PaperKernel::app); }
bool is_of(const std::string& app) {
  return std::ranges::find(paper_kernels("effisha"), app, &PaperKernel::app) != paper_kernels("effisha").end();
}
/// The experiments also take kernels of the other papers.
std::vector<json> lines_of_the_paper(const std::filesystem::path& file) {
  std::vector<json> out = lines(file);
  std::erase_if(out, [](const json& line) { return !is_of(line.at("app")); });
  return out;
}

}  // namespace

Figure effisha_kernels(const std::map<std::string, Alone>& alone) {
  Figure figure{"3", "Table 3: the kernels alone", "Times on a K40m.", {}, {}, {}};
  std::vector<TableRow> rows;
  double worst = 0;
  for (const PaperKernel& k : paper_kernels("effisha")) {
    const auto found = alone.find(k.name);
    if (found == alone.end()) continue;
    const double off = found->second.native / *k.milliseconds - 1;
    worst = std::max(worst, std::abs(off));
    rows.push_back({k.name, fmt::format("{:.2f}", *k.milliseconds), fmt::format("{:.2f}", found->second.native), percent(off),
                    fmt::format("{:.2f}", found->second.quota)});
    figure.data[k.name] = {
        {"published_ms", *k.milliseconds}, {"native_ms", found->second.native}, {"quota_ms", found->second.quota}};
  }
  figure.measured = fmt::format("Grids scaled so that a launch lasts as long on the GPU: within {:.1f} %.", 100 * worst);
  figure.html = figures::table({"kernel", "paper, ms", "untransformed, ms", "off", "under quotas, ms"}, rows);
  return figure;
}

Figure effisha_overhead(const std::filesystem::path& folder) {
  Figure figure{"10",
                "Overhead of the transformation",
                "Average 4 %, worst 8 % (Triad, Stencil2D), with proxy and adaptive checks; 15 % with the proxy alone; 10X with "
                "every thread reading host memory.",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  Values ours;
  double worst = -1;
  std::string worst_name;
  for (const json& line : lines(folder / "effisha_overhead.jsonl")) {
    const Values native = line.at("native_ms"), push = line.at("push_ms");
    Values ratios;
    for (std::size_t r = 0; r < push.size(); ++r) ratios.push_back(push[r] / native[r] - 1);
    const Measured m = measured(ratios);
    const std::string app = line.at("app");
    const bool own = is_of(app);
    if (own) {
      ours.push_back(m.value);
      if (m.value > worst) {
        worst = m.value;
        worst_name = of(app).name;
      }
    }
    const std::string name = own ? of(app).name : app;
    rows.push_back({name, own ? "EffiSha" : "SiM", fmt::format("{:.3f}", median(native)), percent(m.value),
                    fmt::format("[{}, {}]", percent(m.interval.low), percent(m.interval.high)),
                    fmt::format("{}", line.at("blocks").get<std::uint64_t>()),
                    fmt::format("{} / {}", line.at("native_registers").get<int>(), line.at("registers").get<int>())});
    figure.data[name] = {
        {"overhead", m.value}, {"low", m.interval.low}, {"high", m.interval.high}, {"native_ms", median(native)}};
  }
  if (ours.empty()) return figure;
  figure.measured = fmt::format("The pushed flag: mean {}, worst {} ({}).", percent(mean(ours)), percent(worst), worst_name);
  figure.html = figures::table({"kernel", "of", "alone, ms", "overhead", "95 %", "blocks", "registers"}, rows);
  return figure;
}

Figure effisha_slices(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{
      "11", "Slices instead (PKM)", "45 % mean at 0.0625 ms, up to 98 %; 58 % at EffiSha's own latency, up to 140 %.", {}, {},
      {}};
  std::map<double, std::map<int, Values>> by_response;
  std::map<std::string, std::map<double, double>> by_kernel;  // one slice queued
  bool same = true;
  std::map<std::string, double> push;
  for (const json& line : lines(folder / "effisha_overhead.jsonl")) {
    Values ratios;
    for (std::size_t r = 0; r < line.at("push_ms").size(); ++r)
      ratios.push_back(line.at("push_ms")[r].get<double>() / line.at("native_ms")[r].get<double>() - 1);
    push[line.at("app")] = median(ratios);
  }
  for (const json& line : lines_of_the_paper(folder / "effisha_pkm.jsonl")) {
    same = same && line.at("bit_identical").get<bool>();
    for (const json& p : line.at("points")) {
      Values ratios;
      for (std::size_t r = 0; r < p.at("pkm_ms").size(); ++r)
        ratios.push_back(p.at("pkm_ms")[r].get<double>() / p.at("native_ms")[r].get<double>() - 1);
      by_response[p.at("response_ms")][p.at("queued")].push_back(median(ratios));
      if (p.at("queued") == 1) by_kernel[line.at("app")][p.at("response_ms")] = median(ratios);
    }
  }
  if (by_response.empty()) return figure;
  std::vector<TableRow> rows, kernels;
  for (auto at = by_response.rbegin(); at != by_response.rend(); ++at) {
    rows.push_back({fmt::format("{:g}", at->first), percent(mean(at->second[1])),
                    percent(*std::ranges::max_element(at->second[1])), percent(mean(at->second[2])),
                    percent(*std::ranges::max_element(at->second[2]))});
    figure.data[fmt::format("{:g}", at->first)] = {{"one_queued", mean(at->second[1])}, {"two_queued", mean(at->second[2])}};
  }
  unsigned lower = 0;
  Values flags, slices;
  std::vector<std::string> lost;
  const double equal = by_response.begin()->first;
  for (const auto& [app, points] : by_kernel) {
    if (!push.contains(app)) continue;
    const double cut = points.at(equal);
    lower += push[app] < cut ? 1 : 0;
    if (push[app] >= cut) lost.push_back(of(app).name);
    flags.push_back(push[app]);
    slices.push_back(cut);
    kernels.push_back({of(app).name, percent(push[app]), percent(cut)});
  }
  figure.measured = fmt::format("Slices of {:g} ms: mean {}, at 0.0625 ms {}. Outputs {}.", equal, percent(mean(slices)),
                                percent(mean(by_response.at(0.0625)[1])), same ? "bit-identical" : "DIFFER");
  figure.html = figures::table({"response, ms", "one slice queued", "worst", "two queued", "worst"}, rows) +
                figures::table({"kernel", "pushed flag", fmt::format("slices of {:g} ms", equal)}, kernels);
  figure.data["flag_is_cheaper"] = {{"kernels", lower}, {"of", kernels.size()}, {"not", lost}};
  if (!flags.empty()) figure.data["slices_over_flag"] = mean(slices) / mean(flags);
  checks.that("slices: an output differs", same);
  return figure;
}

HandoverCosts handover_costs(const std::filesystem::path& folder) {
  Values launch, evict;
  for (const json& line : lines_of_the_paper(folder / "effisha_latency.jsonl")) {
    launch.push_back(median(line.at("back_us").get<Values>()) * 1e-3);
    evict.push_back(median(line.at("grids_us").get<Values>()) * 1e-3);
  }
  return launch.empty() ? HandoverCosts{} : HandoverCosts{mean(launch), mean(evict)};
}

Figure effisha_latency(const std::filesystem::path& folder) {
  Figure figure{"13",
                "Preemption latency",
                "0.08 ms mean from the flag to the end of the kernel, MD 0.4 ms; below 0.015 ms for BFS, FFT, NeuralNet, Triad.",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  Values middle;
  double worst = 0;
  std::string worst_name;
  for (const json& line : lines_of_the_paper(folder / "effisha_latency.jsonl")) {
    if (!is_of(line.at("app"))) continue;
    const Values last = line.at("last_cta_us"), grids = line.at("grids_us"), back = line.at("back_us");
    const std::string name = of(line.at("app")).name;
    middle.push_back(median(grids));
    if (percentile(grids, 0.99) > worst) {
      worst = percentile(grids, 0.99);
      worst_name = name;
    }
    rows.push_back({name, with_interval(measured(last), "", 1), fmt::format("{:.1f}", percentile(last, 0.99)),
                    with_interval(measured(grids), "", 1), fmt::format("{:.1f}", percentile(grids, 0.99)),
                    fmt::format("{:.1f}", median(back))});
    figure.data[name] = {{"last_cta_p50_us", median(last)},
                         {"grids_p50_us", median(grids)},
                         {"grids_p99_us", percentile(grids, 0.99)},
                         {"back_p50_us", median(back)}};
  }
  if (rows.empty()) return figure;
  figure.measured = fmt::format("Order to grids ended: p50 {:.1f} us in the mean, largest p99 {:.1f} us ({}).", mean(middle),
                                worst, worst_name);
  figure.html = figures::table({"kernel", "last CTA p50, us", "p99", "grids ended p50, us", "p99", "CTAs again p50, us"}, rows);
  return figure;
}

}  // namespace sluice::gpu
