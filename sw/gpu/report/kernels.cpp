// SPDX-License-Identifier: Apache-2.0
// One kernel at a time: results and placement, overhead, preemption, curves.
#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/report/sections.h"
#include "sw/gpu/rewrite/counterweight.h"

namespace sluice::gpu {

using nlohmann::json;
using report::Column;
using report::Notation;

void verify_section(const std::filesystem::path& folder, Output& out) {
  report::Table table({"kernel", "CPU reference", "bit-identical", "every block once", "SMs at their quota", "violations"});
  json result = json::array();
  bool all = true;
  for (const json& j : lines(folder / "verify.jsonl")) {
    bool same = j.value("small_bit_identical", false), once = true;
    std::uint64_t exact = 0, sms = 0, violations = 0;
    for (const json& e : j.value("exactly_once", json::array())) {
      once = once && e["wrong_blocks"] == 0 && e["done"] == e["tasks"];
      same = same && e["bit_identical"].get<bool>();
      violations += e["violations"].get<std::uint64_t>();
    }
    for (const json& f : j.value("full", json::array())) {
      same = same && f["bit_identical"].get<bool>();
      exact += f["sms_exact"].get<std::uint64_t>();
      sms += f["sms"].get<std::uint64_t>();
      violations += f["violations"].get<std::uint64_t>();
    }
    const bool right = j["cpu_check"] == "";
    all = all && same && once && right && violations == 0;
    table.row({j["app"].get<std::string>(), right ? "agrees" : j["cpu_check"].get<std::string>(), same ? "yes" : "NO",
               once ? "yes" : "NO", fmt::format("{} of {}", exact, sms), violations});
    result.push_back({{"kernel", j["app"]},
                      {"cpu_reference", right},
                      {"bit_identical", same},
                      {"exactly_once", once},
                      {"sms_at_quota", exact},
                      {"sms", sms},
                      {"quota_violations", violations}});
  }
  if (result.empty()) return;
  out.good = out.good && all;
  out.section("verify", all ? "Under quotas every kernel's output stays the same" : "A kernel's output or placement is WRONG",
              fmt::format("{} kernels ran under quotas and evictions, beside the untransformed kernel and a CPU reference.",
                          result.size()))
      .blocks.push_back(report::Folded{"Kernel by kernel", table});
  write_json(folder / "verify.json", result);
}

void user_kernels_section(const std::filesystem::path& folder, Output& out) {
  report::Table table(
      {"kernel", "runs", "bit-identical", "evictions", "registers", "warps go", report::words("refused because")});
  std::size_t good = 0, refused = 0;
  const std::vector<json> all = lines(folder / "user_kernels.jsonl");
  for (const json& j : all) {
    const auto number = [&](const char* key) { return j.contains(key) ? j[key].dump() : "–"; };
    const bool no = j.contains("refusal");
    refused += no ? 1 : 0;
    good += !no && j["runs"] == j["bit_identical"] && j["violations"] == 0 ? 1 : 0;
    table.row({j["kernel"].get<std::string>(), number("runs"), number("bit_identical"), number("evictions"),
               no ? "–" : number("native_registers") + " → " + number("registers"),
               no                              ? "–"
               : j.value("warps_apart", false) ? "apart"
                                               : "together",
               j.value("refusal", "")});
  }
  if (all.empty()) return;
  out.good = out.good && good + refused == all.size();
  out.section("user_kernels", fmt::format("{} of {} kernels as users write them run under a quota", good, all.size()),
              "They are unchanged CUDA. The others need all their blocks at once, clusters, or end threads that a persistent CTA "
              "still needs, and are launched as they are.")
      .blocks.push_back(report::Folded{"Kernel by kernel", table});
}

void gate_section(const std::filesystem::path& folder, Output& out) {
  report::Table table({"kernel", report::words("decided"), "bit-identical runs", "evictions", "violations"});
  for (const json& j : lines(folder / "gate.jsonl")) {
    const bool native = j.contains("refusal");
    out.good = out.good && j["decided"] == j["expected"] && (native || (j["bit_identical"] == j["runs"] && j["violations"] == 0));
    table.row({j["kernel"].get<std::string>(), native ? "as it is: " + j["decided"].get<std::string>() : "under a quota",
               native ? "" : fmt::format("{} of {}", j["bit_identical"].get<int>(), j["runs"].get<int>()),
               native ? "" : j["evictions"].dump(), native ? "" : j["violations"].dump()});
  }
  if (!table.empty())
    out.section(
           "gate", "Kernels that a quota would break are launched as they are",
           "What is decided of each kernel, and whether outputs under quotas and evictions are those of the kernel as it is.")
        .blocks.emplace_back(table);
}

void overhead_section(const std::filesystem::path& folder, Output& out) {
  report::RowChart chart{"Time under a full quota over the untransformed kernel's"};
  chart.notation = Notation::Gain;
  chart.digits = 1;
  chart.baseline = 1;
  chart.sorted = true;
  report::Table table({"kernel",
                       {"alone, ms", Notation::Number, 3},
                       {"start and end", Notation::Share, 2},
                       {"blocks claimed one by one", Notation::Gain, 2},
                       "warps go",
                       {"the other way", Notation::Gain, 2},
                       "counterweight",
                       "registers",
                       "CTAs per SM"});
  json result = json::array();
  Values all;
  for (const json& j : lines(folder / "overhead.jsonl")) {
    const double native = median(j["native_seconds"].get<Values>());
    json variants = json::object();
    for (const auto& [name, v] : j["variants"].items()) {
      const Values t = v["seconds"].get<Values>();
      const Interval ci = bootstrap(t, [&](std::span<const double> s) { return median(s) / native - 1; });
      variants[name] = {
          {"overhead", median(t) / native - 1},
          {"ci", {ci.low, ci.high}},
          {"empty_launch_seconds", v.contains("empty_seconds") ? json(median(v["empty_seconds"].get<Values>())) : json()}};
    }
    const json& standard = variants["default"];
    const bool apart = j.value("warps_apart", false);
    const double value = standard["overhead"], low = standard["ci"][0], high = standard["ci"][1];
    all.push_back(value);
    chart.rows.push_back({j["app"], {{1 + value, 1 + low, 1 + high}}});
    const auto slower = [&](const char* name) {
      return variants.contains(name) ? 1 + variants[name]["overhead"].get<double>() : report::kNone;
    };
    const auto figure = [&](const char* of, const char* key) {
      const json found = j.value(of, json());
      return !found.is_object() ? found.dump() : found.contains(key) ? found[key].dump() : "null";
    };
    const auto change = [&](const char* from, const char* to, const char* key) {
      const std::string before = figure(from, key), after = figure(to, key);
      return after == "null" ? before : fmt::format("{} → {}", before, after);  // programs do not say
    };
    const json& empty = variants["default"]["empty_launch_seconds"];
    table.row({j["app"].get<std::string>(), native * 1e3, empty.is_null() ? report::kNone : empty.get<double>() / native,
               slower("one_task_claims"), apart ? "apart" : "together", slower(apart ? "warps_together" : "warps_apart"),
               fmt::format("{}", j.value("counterweight", kCounterweight)), change("native", "persistent", "registers"),
               change("native_occupancy", "occupancy", "")});
    result.push_back({{"kernel", j["app"]},
                      {"native_seconds", native},
                      {"overhead", value},
                      {"ci", standard["ci"]},
                      {"variants", variants},
                      {"warps_apart", apart},
                      {"native", j["native"]},
                      {"persistent", j.value("persistent", json())},
                      {"occupancy", j.value("occupancy", json())},
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
  report::Section& section = out.section(
      "overhead",
      fmt::format("A kernel under a quota takes {:+.1f} % longer in the mean, {:+.1f} % at most", 100 * mean, 100 * worst),
      fmt::format("{} kernels alone, with as many CTAs as fit; the median is {:+.1f} %. Bars are 95 % intervals.", all.size(),
                  100 * median(all)));
  section.blocks.emplace_back(report::Large{chart});
  section.blocks.emplace_back(report::Folded{
      "What the transformation changes, kernel by kernel. Start and end: a launch whose CTAs find no block and leave", table});
  write_json(folder / "overhead.json", {{"mean", mean}, {"median", median(all)}, {"worst", worst}, {"kernels", result}});
  out.summary["overhead_mean"] = mean;
  out.summary["overhead_worst"] = worst;
}

void preemption_section(const std::filesystem::path& folder, Output& out) {
  report::RowChart chart{
      "", "microseconds from the order", {{"last CTA left, median", 4}, {"99th percentile", 2}, {"grids ended, median", 1}}};
  chart.digits = 1;
  chart.baseline = 0;
  chart.sorted = true;
  json result = json::array();
  double sum = 0;
  for (const json& j : lines(folder / "preemption.jsonl")) {
    const Values last = j["last_cta_us"].get<Values>(), grids = j.value("grids_us", Values());  // programs' stay
    chart.rows.push_back(
        {j["app"], {median_point(last), {percentile(last, 0.99)}, grids.empty() ? report::Point{} : median_point(grids)}});
    result.push_back({{"kernel", j["app"]},
                      {"block_us", j["block_us"]},
                      {"p50_us", percentile(last, 0.5)},
                      {"p99_us", percentile(last, 0.99)},
                      {"grids_p50_us", grids.empty() ? json() : json(percentile(grids, 0.5))},
                      {"grids_p99_us", grids.empty() ? json() : json(percentile(grids, 0.99))},
                      {"evictions", last.size()},
                      {"quota_violations", j["violations"]}});
    sum += percentile(last, 0.5);
  }
  if (result.empty()) return;
  const double mean = sum / static_cast<double>(result.size());
  out.section("preemption", fmt::format("A kernel has left the GPU {:.1f} us after the order, in the mean of the medians", mean),
              "No block is interrupted, so long blocks take longer. EffiSha's authors print 80 us on a K40m, until the grid has "
              "ended.")
      .blocks.push_back(report::Large{chart});
  write_json(folder / "preemption.json", {{"p50_mean_us", mean}, {"kernels", result}});
  out.summary["preemption_p50_mean_us"] = mean;
}

void curves_section(const std::filesystem::path& folder, Output& out) {
  json result = json::array();
  report::Multiples charts;
  for (const json& j : lines(folder / "curves.jsonl")) {
    const double native = median(j["native_blocks_per_second"].get<Values>());
    const auto runs = j["blocks_per_second"].get<std::vector<Values>>();
    report::LineChart chart{j["app"], "CTAs per SM", ""};
    chart.y_notation = Notation::Share;
    report::LineChart::Line& line = chart.lines.emplace_back();
    line.series = {"of the untransformed kernel's rate", 4};
    json curve = json::array();
    for (std::size_t c = 0; c < runs.front().size(); ++c) {
      Values at;
      for (const Values& run : runs) at.push_back(run[c]);
      line.points.emplace_back(c + 1, median(at) / native);
      line.intervals.emplace_back(percentile(at, 0) / native, percentile(at, 1) / native);
      curve.push_back({{"ctas", c + 1},
                       {"relative", median(at) / native},
                       {"low", percentile(at, 0) / native},
                       {"high", percentile(at, 1) / native}});
    }
    out.good = out.good && j["violations"] == 0;
    charts.charts.push_back(std::move(chart));
    result.push_back({{"kernel", j["app"]},
                      {"native_blocks_per_second", native},
                      {"curve", curve},
                      {"quota_violations", j["violations"]},
                      {"misplaced", j.value("misplaced", json())},
                      {"demand", j["demand"]}});
  }
  if (result.empty()) return;
  out.section("curves", "Most kernels need only some of the CTAs that fit",
              "Each kernel alone: its rate with 1, 2, ... CTAs on every SM, over the untransformed kernel's.")
      .blocks.push_back(std::move(charts));
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
