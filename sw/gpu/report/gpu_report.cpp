#include "sw/gpu/report/gpu_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/raw_store.h"
#include "sw/gpu/stats.h"
#include "sw/report/atomic_file.h"
#include "sw/report/charts.h"
#include "sw/report/html_style.h"
#include "sw/report/svg.h"
#include "sw/report/terminal_table.h"

namespace sluice::gpu {

namespace {

using nlohmann::json;
using Values = std::vector<double>;

/// What the report collects on its way: tables for the terminal, sections for the page, and whether every check held.
struct Output {
  std::string terminal, html;
  json summary = json::object();
  bool good = true;
  void table(const std::string& title, const std::vector<std::vector<std::string>>& rows) {
    TextTable text(rows.front());
    html += "<h2>" + svg::escape(title) + "</h2>\n<div class=\"scroll\"><table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r > 0) text.add_row(rows[r]);
      html += "<tr>";
      for (const std::string& cell : rows[r]) html += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", svg::escape(cell));
      html += "</tr>\n";
    }
    html += "</table></div>\n";
    terminal += title + "\n" + text.str() + "\n";
  }
  void note(const std::string& text) {
    terminal += text + "\n\n";
    html += "<p>" + svg::escape(text) + "</p>\n";
  }
};

/// The last line of each key: a measurement that was interrupted and repeated counts once.
std::vector<json> lines(const std::filesystem::path& file) {
  std::map<std::string, std::size_t> at;
  std::vector<json> out;
  for (json& line : RawStore::read(file)) {
    const auto [place, fresh] = at.emplace(line["key"].get<std::string>(), out.size());
    if (fresh)
      out.push_back(std::move(line));
    else
      out[place->second] = std::move(line);
  }
  return out;
}

void write_json(const std::filesystem::path& file, const json& value) { write_file_atomically(file, value.dump(1) + "\n"); }

void verify_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "CPU reference", "bit-identical", "exactly once", "SMs at quota", "violations"}};
  json result = json::array();
  for (const json& j : lines(folder / "verify.jsonl")) {
    bool same = j.value("small_bit_identical", false), once = true;
    int exact = 0, sms = 0, violations = 0;
    for (const json& e : j.value("exactly_once", json::array())) {
      once = once && e["wrong_blocks"] == 0 && e["done"] == e["tasks"];
      same = same && e["bit_identical"].get<bool>();
      violations += e["violations"].get<int>();
    }
    for (const json& f : j.value("full", json::array())) {
      same = same && f["bit_identical"].get<bool>();
      exact += f["sms_exact"].get<int>();
      sms += f["sms"].get<int>();
      violations += f["violations"].get<int>();
    }
    const bool right = j["cpu_check"] == "";
    out.good = out.good && same && once && right && violations == 0;
    rows.push_back({j["app"], right ? "agrees" : j["cpu_check"].get<std::string>(), same ? "yes" : "NO", once ? "yes" : "NO",
                    fmt::format("{}/{}", exact, sms), std::to_string(violations)});
    result.push_back({{"kernel", j["app"]},
                      {"cpu_reference", right},
                      {"bit_identical", same},
                      {"exactly_once", once},
                      {"sms_at_quota", exact},
                      {"sms", sms},
                      {"quota_violations", violations}});
  }
  if (result.empty()) return;
  out.table("Results and placement: every run against the untransformed kernel", rows);
  write_json(folder / "verify.json", result);
}

void overhead_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "untransformed ms", "overhead, group 1", "group 4", "registers", "occupancy"}};
  json result = json::array();
  Values best;
  for (const json& j : lines(folder / "overhead.jsonl")) {
    const double native = median(j["native_seconds"].get<Values>());
    json overhead = json::object();
    double least = 1e9;
    for (const auto& [group, times] : j["persistent_seconds"].items()) {
      const Values t = times.get<Values>();
      const Interval ci = bootstrap(t, [&](std::span<const double> s) { return median(s) / native - 1; });
      const double value = median(t) / native - 1;
      least = std::min(least, value);
      overhead[group] = {{"overhead", value}, {"ci", {ci.low, ci.high}}};
    }
    best.push_back(overhead["1"]["overhead"]);
    const auto percent = [](const json& v) { return fmt::format("{:+.2f} %", 100 * v.get<double>()); };
    const std::string registers =
        fmt::format("{} -> {}", j["native"]["registers"].get<int>(), j["persistent"]["registers"].get<int>());
    rows.push_back({j["app"], fmt::format("{:.3f}", native * 1e3), percent(overhead["1"]["overhead"]),
                    percent(overhead["4"]["overhead"]), registers,
                    fmt::format("{} -> {}", j["native_occupancy"].get<int>(), j["occupancy"].get<int>())});
    result.push_back({{"kernel", j["app"]},
                      {"native_seconds", native},
                      {"groups", overhead},
                      {"native", j["native"]},
                      {"persistent", j["persistent"]},
                      {"occupancy", j["occupancy"]},
                      {"native_occupancy", j["native_occupancy"]},
                      {"repetitions", j["native_seconds"].size()}});
  }
  if (result.empty()) return;
  double sum = 0, worst = -1;
  for (const double v : best) {
    sum += v;
    worst = std::max(worst, v);
  }
  const double mean = sum / static_cast<double>(best.size());
  out.table("Overhead of the transformation alone, medians", rows);
  out.note(fmt::format("Mean {:+.2f} %, worst {:+.2f} % (group 1). Targets 2 % and 5 %: {}.", 100 * mean, 100 * worst,
                       mean <= 0.02 && worst <= 0.05 ? "met" : "MISSED"));
  write_json(folder / "overhead.json", {{"mean", mean}, {"worst", worst}, {"kernels", result}});
  out.summary["overhead_mean"] = mean;
  out.summary["overhead_worst"] = worst;
}

void preemption_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "block us", "p50 us", "p99 us", "grids ended p50", "p99", "evictions"}};
  json result = json::array();
  double sum = 0;
  for (const json& j : lines(folder / "preemption.jsonl")) {
    const Values last = j["last_cta_us"].get<Values>(), grids = j["grids_us"].get<Values>();
    const auto us = [](double v) { return fmt::format("{:.1f}", v); };
    rows.push_back({j["app"], us(j["block_us"]), us(percentile(last, 0.5)), us(percentile(last, 0.99)),
                    us(percentile(grids, 0.5)), us(percentile(grids, 0.99)), std::to_string(last.size())});
    result.push_back({{"kernel", j["app"]},
                      {"block_us", j["block_us"]},
                      {"p50_us", percentile(last, 0.5)},
                      {"p99_us", percentile(last, 0.99)},
                      {"grids_p50_us", percentile(grids, 0.5)},
                      {"grids_p99_us", percentile(grids, 0.99)},
                      {"evictions", last.size()},
                      {"quota_violations", j["violations"]}});
    sum += percentile(last, 0.5);
  }
  if (result.empty()) return;
  const double mean = sum / static_cast<double>(result.size());
  out.table("Preemption: from the order until the last CTA has left", rows);
  out.note(fmt::format("Mean of the medians {:.1f} us; target 40 us: {}. Published: EffiSha 80 us on a K40m.", mean,
                       mean <= 40 ? "met" : "MISSED"));
  write_json(folder / "preemption.json", {{"p50_mean_us", mean}, {"kernels", result}});
  out.summary["preemption_p50_mean_us"] = mean;
}

void curves_section(const std::filesystem::path& folder, Output& out) {
  json result = json::array();
  std::string charts;
  for (const json& j : lines(folder / "curves.jsonl")) {
    const double native = median(j["native_blocks_per_second"].get<Values>());
    const auto runs = j["blocks_per_second"].get<std::vector<Values>>();
    charts::Lines chart{j["app"], "CTAs per SM", "of untransformed", {{{"quota", 4}, {}, ""}}};
    json curve = json::array();
    for (std::size_t c = 0; c < runs.front().size(); ++c) {
      Values at;
      for (const Values& run : runs) at.push_back(run[c]);
      chart.lines[0].values.push_back(median(at) / native);
      curve.push_back({{"ctas", c + 1},
                       {"relative", median(at) / native},
                       {"low", percentile(at, 0) / native},
                       {"high", percentile(at, 1) / native}});
    }
    out.good = out.good && j["violations"] == 0;
    charts += "<div class=\"multiple\">" + charts::line_chart(chart) + "</div>\n";
    result.push_back({{"kernel", j["app"]},
                      {"native_blocks_per_second", native},
                      {"curve", curve},
                      {"quota_violations", j["violations"]},
                      {"misplaced", j["misplaced"]},
                      {"demand", j["demand"]}});
  }
  if (result.empty()) return;
  out.html +=
      "<h2>Performance against CTAs per SM, each kernel alone</h2>\n<p>Relative to the untransformed kernel at full "
      "occupancy.</p>\n<div class=\"multiples\">" +
      charts + "</div>\n";
  write_json(folder / "curves.json", result);
}

/// Figures of one mix under one policy.
struct Cell {
  json kernels, ctas;
  Values stp, antt, fairness;
  int violations = 0;
};

void mixes_section(const std::filesystem::path& folder, const std::string& name, Output& out) {
  std::map<std::string, std::map<std::string, Cell>> cells;  // mix, policy
  std::vector<json> all = lines(folder / (name + ".jsonl"));
  for (json& j : lines(folder / "mps.jsonl")) all.push_back(std::move(j));
  const std::size_t size = name == "pairs" ? 2 : 3;
  for (const json& j : all) {
    if (!j.contains("blocks_per_second") || j["kernels"].size() != size) continue;
    const Values rate = j["blocks_per_second"].get<Values>(), solo = j["solo_blocks_per_second"].get<Values>();
    std::vector<Turnaround> turnaround;
    for (std::size_t k = 0; k < rate.size(); ++k) turnaround.push_back({1 / solo[k], rate[k] > 0 ? 1 / rate[k] : INFINITY});
    std::string policy = j["policy"];
    if (policy == "candidate") policy = fmt::format("candidate {}", j["ctas"].dump());
    Cell& c = cells[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][policy];
    c.kernels = j["kernels"];
    c.ctas = j.value("ctas", json::array());
    c.stp.push_back(stp(turnaround));
    c.antt.push_back(antt(turnaround));
    c.fairness.push_back(min_speedup(turnaround));
    c.violations += j.value("violations", 0);
  }
  if (cells.empty()) return;
  json result = json::array();
  const std::vector<std::string> shown = {"back_to_back",  "left_over",         "mps", "spatial", "even",
                                          "warped_slicer", "warped_slicer@0.08"};
  std::vector<std::vector<std::string>> rows = {{"mix"}};
  for (const std::string& p : shown) rows[0].push_back(p);
  rows[0].emplace_back("chosen");
  std::map<std::string, Values> by_policy;
  for (const auto& [mix, policies] : cells) {
    std::vector<std::string> row = {mix};
    for (const std::string& p : shown)
      row.push_back(policies.contains(p) ? fmt::format("{:.3f}", median(policies.at(p).stp)) : "-");
    row.push_back(policies.contains("warped_slicer") ? policies.at("warped_slicer").ctas.dump() : "-");
    rows.push_back(row);
    for (const auto& [policy, c] : policies) {
      const Interval ci = bootstrap(c.stp, [](std::span<const double> s) { return median(s); });
      const double fair = median(c.antt);
      result.push_back({{"kernels", c.kernels},
                        {"policy", policy},
                        {"ctas", c.ctas},
                        {"stp", median(c.stp)},
                        {"stp_ci", {ci.low, ci.high}},
                        {"antt", std::isfinite(fair) ? json(fair) : json()},
                        {"min_speedup", median(c.fairness)},
                        {"quota_violations", c.violations},
                        {"repetitions", c.stp.size()}});
      out.good = out.good && c.violations == 0;
    }
  }
  out.table(fmt::format("STP of the {}, medians (sum of rates over each kernel's own alone, untransformed)", name), rows);
  for (const char* over : {"left_over", "mps", "even", "spatial"}) {
    Values ratios;
    for (const auto& [mix, policies] : cells)
      if (policies.contains("warped_slicer") && policies.contains(over))
        ratios.push_back(median(policies.at("warped_slicer").stp) / median(policies.at(over).stp));
    if (ratios.empty()) continue;
    const Interval ci = bootstrap(ratios, [](std::span<const double> s) { return geometric_mean(s); });
    out.note(
        fmt::format("Warped-Slicer over {}: {:.3f} [{:.3f}, {:.3f}] over {} {} (geometric mean of STP ratios, 95 % bootstrap "
                    "over the mixes).",
                    over, geometric_mean(ratios), ci.low, ci.high, ratios.size(), name));
    out.summary[name + "_warped_slicer_over_" + over] = {
        {"geometric_mean", geometric_mean(ratios)}, {"ci", {ci.low, ci.high}}, {"mixes", ratios.size()}};
  }
  write_json(folder / (name + ".json"), result);
}

void repartition_section(const std::filesystem::path& folder, Output& out) {
  json result = json::array();
  Values arrives, ends;
  for (const json& j : lines(folder / "repartition.jsonl")) {
    const double a = median(j["arrives_us"].get<Values>()), e = median(j["ends_us"].get<Values>());
    arrives.push_back(a);
    ends.push_back(e);
    result.push_back({{"kernels", j["kernels"]},
                      {"arrives_p50_us", a},
                      {"ends_p50_us", e},
                      {"settled", j["settled"]},
                      {"quota_violations", j["violations"]}});
  }
  if (result.empty()) return;
  out.note(
      fmt::format("Repartition, until every SM holds its new quota: a kernel arrives {:.0f} us, a kernel ends {:.0f} us (medians "
                  "over {} pairs).",
                  median(arrives), median(ends), result.size()));
  write_json(folder / "repartition.json", result);
}

}  // namespace

int write_report(const std::filesystem::path& folder, bool as_json) {
  if (!std::filesystem::exists(folder / "machine.json"))
    throw InputError(fmt::format("{}: holds no machine.json: not a folder of `sluice gpu experiment`", folder.string()));
  const json machine = json::parse(read_file(folder / "machine.json"), nullptr, false);
  if (!machine.is_object()) throw InputError(fmt::format("{}: must be a JSON object", (folder / "machine.json").string()));
  Output out;
  try {
    verify_section(folder, out);
    overhead_section(folder, out);
    preemption_section(folder, out);
    curves_section(folder, out);
    mixes_section(folder, "pairs", out);
    mixes_section(folder, "triples", out);
    repartition_section(folder, out);
  } catch (const json::exception& e) {
    throw InputError(fmt::format("{}: a measurement lacks a field or has one of another type: {}", folder.string(), e.what()));
  }
  const std::string title = fmt::format("Sluice on {}", machine.value("name", "a GPU"));
  write_file_atomically(
      folder / "index.html",
      fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta "
                  "charset=\"utf-8\"><title>{0}</title>\n<style>{1}</style></head><body>\n<h1>{0}</h1>\n{2}</body></html>\n",
                  svg::escape(title), kReportStyle, out.html));
  if (as_json)
    fmt::print("{}\n", out.summary.dump());
  else
    fmt::print("{}report: {}\n", out.terminal, (folder / "index.html").string());
  return out.good ? 0 : 1;
}

}  // namespace sluice::gpu
