// SPDX-License-Identifier: Apache-2.0
// One kernel at a time: results and placement, overhead, preemption, curves.
#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"
#include "sw/gpu/rewrite/counterweight.h"
#include "sw/report/charts.h"

namespace sluice::gpu {

using nlohmann::json;

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

void user_kernels_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "runs", "bit-identical", "evictions", "registers", "warps", "not possible because"}};
  for (const json& j : lines(folder / "user_kernels.jsonl")) {
    const auto number = [&](const char* key) { return j.contains(key) ? j[key].dump() : "-"; };
    if (!j.contains("refusal")) out.good = out.good && j["runs"] == j["bit_identical"] && j["violations"] == 0;
    rows.push_back({j["kernel"], number("runs"), number("bit_identical"), number("evictions"),
                    j.contains("refusal") ? "-" : number("native_registers") + " -> " + number("registers"),
                    j.contains("refusal")           ? "-"
                    : j.value("warps_apart", false) ? "apart"
                                                    : "together",
                    j.value("refusal", "")});
  }
  if (rows.size() > 1) out.table("Kernels as users write them, unchanged, under quotas and evictions", rows);
}

void overhead_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "untransformed ms", "overhead", "95 %", "of it start and end",
                                                 "tasks claimed singly", "warps", "the other loop", "counterweight", "registers",
                                                 "CTAs per SM"}};
  json result = json::array();
  Values all;
  const auto percent = [](double v) { return fmt::format("{:+.2f} %", 100 * v); };
  for (const json& j : lines(folder / "overhead.jsonl")) {
    const double native = median(j["native_seconds"].get<Values>());
    json variants = json::object();
    for (const auto& [name, v] : j["variants"].items()) {
      const Values t = v["seconds"].get<Values>();
      const Interval ci = bootstrap(t, [&](std::span<const double> s) { return median(s) / native - 1; });
      variants[name] = {{"overhead", median(t) / native - 1},
                        {"ci", {ci.low, ci.high}},
                        {"empty_launch_seconds", median(v["empty_seconds"].get<Values>())}};
    }
    const json& standard = variants["default"];
    const bool apart = j.value("warps_apart", false);
    const char* other = apart ? "warps_together" : "warps_apart";
    const double value = standard["overhead"];
    all.push_back(value);
    rows.push_back({j["app"], fmt::format("{:.3f}", native * 1e3), percent(value),
                    fmt::format("{} .. {}", percent(standard["ci"][0]), percent(standard["ci"][1])),
                    percent(standard["empty_launch_seconds"].get<double>() / native),
                    percent(variants["one_task_claims"]["overhead"]), apart ? "apart" : "together",
                    variants.contains(other) ? percent(variants[other]["overhead"]) : j.value("warps_together_because", "-"),
                    variants.contains("usual_counterweight")
                        ? fmt::format("{} ({}: {})", j.value("counterweight", kCounterweight), kCounterweight,
                                      percent(variants["usual_counterweight"]["overhead"]))
                        : fmt::format("{}", j.value("counterweight", kCounterweight)),
                    fmt::format("{} -> {}", j["native"]["registers"].get<int>(), j["persistent"]["registers"].get<int>()),
                    fmt::format("{} -> {}", j["native_occupancy"].get<int>(), j["occupancy"].get<int>())});
    result.push_back({{"kernel", j["app"]},
                      {"native_seconds", native},
                      {"overhead", value},
                      {"ci", standard["ci"]},
                      {"variants", variants},
                      {"warps_apart", apart},
                      {"native", j["native"]},
                      {"persistent", j["persistent"]},
                      {"occupancy", j["occupancy"]},
                      {"native_occupancy", j["native_occupancy"]},
                      {"repetitions", j["variants"]["default"]["seconds"].size()}});
  }
  if (result.empty()) return;
  double sum = 0, worst = -1;
  for (const double v : all) {
    sum += v;
    worst = std::max(worst, v);
  }
  const double mean = sum / static_cast<double>(all.size());
  out.table("Overhead of the transformation alone, medians", rows);
  out.note(fmt::format(
      "Mean {}, median {}, worst {}. Targets: mean 2 %, {}; worst 5 %, {}. \"Of it start and end\": a launch whose CTAs "
      "take slots, find no task and leave, the launch itself included. \"The other loop\": warps apart where they go together, "
      "and the other way round, or why they cannot go apart.",
      percent(mean), percent(median(all)), percent(worst), mean <= 0.02 ? "met" : "MISSED", worst <= 0.05 ? "met" : "MISSED"));
  write_json(folder / "overhead.json", {{"mean", mean}, {"median", median(all)}, {"worst", worst}, {"kernels", result}});
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
    charts::Lines chart{j["app"], "CTAs per SM", "of untransformed", {}};
    chart.lines.emplace_back().series = {"quota", 4};
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

namespace {

SmResources resources_of(const json& j) {
  return {j.at("threads").get<std::uint32_t>(), j.at("registers").get<std::uint32_t>(),
          j.at("shared_memory_bytes").get<std::uint32_t>(), j.at("cta_slots").get<std::uint32_t>()};
}

}  // namespace

std::map<std::string, Curve> read_curves(const std::filesystem::path& folder) {
  std::map<std::string, Curve> curves;
  for (const json& j : lines(folder / "curves.jsonl")) {
    Curve c{{},
            j.at("blocks_per_second").get<std::vector<Profile>>(),
            median(j.at("native_blocks_per_second").get<Values>()),
            resources_of(j.at("demand")),
            resources_of(j.at("capacity"))};
    if (c.runs.empty() || c.runs.front().empty() ||
        std::ranges::any_of(c.runs, [&](const Profile& run) { return run.size() != c.runs.front().size(); }))
      throw InputError(fmt::format("{}: {}: blocks_per_second: must be runs of equal length, at least one of one CTA",
                                   (folder / "curves.jsonl").string(), j.at("key").get<std::string>()));
    for (std::size_t n = 0; n < c.runs.front().size(); ++n) {
      Values at;
      for (const Profile& run : c.runs) at.push_back(run[n]);
      c.performance.push_back(median(at));
    }
    curves.emplace(j.at("app"), std::move(c));
  }
  return curves;
}

}  // namespace sluice::gpu
