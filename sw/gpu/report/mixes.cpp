// SPDX-License-Identifier: Apache-2.0
// Pairs and triples under every policy, by rates and by finish time; ranges of SMs beside partitions of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sw/core/metrics.h"
#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

using nlohmann::json;

bool incomplete(const json& j, unsigned sms) {
  if (!j.contains("missing") || j["missing"].empty() || !j.contains("ctas") || j["ctas"].empty()) return false;
  const std::size_t kernels = j["kernels"].size(), share = j["mode"] == kSpatial ? sms / kernels : sms;
  for (std::size_t k = 0; k < kernels; ++k)
    if (j["missing"][k].get<std::size_t>() * 100 > j["ctas"][k].get<std::size_t>() * share) return true;
  return false;
}

Mixes read_mixes(const std::filesystem::path& folder, const std::string& name, unsigned sms) {
  Mixes cells;
  std::vector<json> all = lines(folder / (name + ".jsonl"));
  for (json& j : lines(folder / "mps.jsonl")) all.push_back(std::move(j));
  const std::size_t size = name == "pairs" ? 2 : 3;
  for (const json& j : all) {
    if (!j.contains("blocks_per_second") || j["kernels"].size() != size) continue;
    const Values rate = j["blocks_per_second"].get<Values>(), solo = j["solo_blocks_per_second"].get<Values>();
    std::string policy = j["policy"];
    if (policy == "candidate") policy = fmt::format("candidate {}", j["ctas"].dump());
    Cell& c = cells[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][policy];
    c.kernels = j["kernels"].get<std::vector<std::string>>();
    c.violations += j.value("violations", 0);
    if (incomplete(j, sms)) {
      ++c.incomplete;
      continue;
    }
    c.ctas = j.value("ctas", std::vector<std::uint32_t>());
    std::vector<Turnaround> turnaround;
    c.speedups.resize(size);
    for (std::size_t k = 0; k < rate.size(); ++k) {
      turnaround.push_back({1 / solo[k], rate[k] > 0 ? 1 / rate[k] : INFINITY});
      c.speedups[k].push_back(rate[k] / solo[k]);
    }
    c.stp.push_back(stp(turnaround));
    c.antt.push_back(antt(turnaround));
    c.fairness.push_back(min_speedup(turnaround));
  }
  return cells;
}

const Cell* oracle(const std::map<std::string, Cell>& policies) {
  const Cell* best = nullptr;
  for (const auto& [policy, c] : policies) {
    const bool partition = policy.starts_with("candidate") || policy.starts_with(kWarpedSlicer) || policy == kEven;
    if (partition && !c.stp.empty() && (best == nullptr || median(c.stp) > median(best->stp))) best = &c;
  }
  return best;
}

double measured(const std::map<std::string, Cell>& policies, const std::string& policy) {
  if (policy == kOracle) {
    const bool searched = std::ranges::any_of(policies, [](const auto& p) { return p.first.starts_with("candidate"); });
    const Cell* best = searched ? oracle(policies) : nullptr;
    return best != nullptr ? median(best->stp) : NAN;
  }
  const auto at = policies.find(policy);
  return at == policies.end() || at->second.stp.empty() ? NAN : median(at->second.stp);
}

namespace {

struct Shown {
  const char *policy, *words;
  std::size_t colour;
};
constexpr Shown kShown[] = {{kOracle, "best partition, by search", 0},
                            {kWarpedSlicer, "Warped-Slicer", 4},
                            {kEven, "Even", 1},
                            {kSpatial, "Spatial", 3},
                            {"mps", "MPS", 6},
                            {"back_to_back", "one after the other", 8},
                            {kBalance, "balance", 2}};
constexpr const char* kEvery[] = {"back_to_back",       kLeftOver, "mps", kSpatial, kEven, kWarpedSlicer,
                                  "warped_slicer@0.04", kOracle};

/// Gains over Left-Over, mix by mix: rows of dots for pairs; for more mixes curves of the sorted gains.
report::Large gains_chart(const Mixes& cells) {
  constexpr std::size_t kPolicies = 4, kMostRows = 60;
  report::RowChart rows{"Throughput over Left-Over, pair by pair"};
  rows.notation = report::Notation::Gain;
  rows.baseline = 1;
  rows.digits = 1;
  rows.sorted = true;
  report::LineChart curves{"Throughput over Left-Over, mixes in order of their gain", "part of the mixes", ""};
  curves.x_notation = report::Notation::Share;
  curves.y_notation = report::Notation::Gain;
  curves.from_zero = false;
  for (std::size_t p = 0; p < kPolicies; ++p) {
    rows.series.push_back({kShown[p].words, kShown[p].colour});
    Values gains;
    for (const auto& [mix, policies] : cells)
      if (const double g = measured(policies, kShown[p].policy) / measured(policies, kLeftOver); std::isfinite(g))
        gains.push_back(g);
    std::ranges::sort(gains);
    report::LineChart::Line& line = curves.lines.emplace_back();
    line.series = rows.series.back();
    for (std::size_t i = 0; i < gains.size(); ++i)
      line.points.emplace_back(static_cast<double>(i + 1) / static_cast<double>(gains.size()), gains[i]);
  }
  for (const auto& [mix, policies] : cells) {
    report::RowChart::Row& row = rows.rows.emplace_back(report::RowChart::Row{mix, {}});
    for (std::size_t p = 0; p < kPolicies; ++p)
      row.points.push_back({measured(policies, kShown[p].policy) / measured(policies, kLeftOver)});
  }
  if (cells.size() <= kMostRows) return {rows};
  return {curves};
}

}  // namespace

void mixes_section(const std::filesystem::path& folder, const std::string& name, unsigned sms, Output& out) {
  const Mixes cells = read_mixes(folder, name, sms);
  if (cells.empty()) return;
  json result = json::array();
  std::vector<report::Column> columns = {"mix"};
  for (const char* p : kEvery) columns.emplace_back(p);
  columns.emplace_back("Warped-Slicer's CTAs");
  report::Table table(columns);
  unsigned left_out = 0;
  for (const auto& [mix, policies] : cells) {
    report::Row row = {mix};
    for (const char* p : kEvery) row.emplace_back(measured(policies, p));
    row.emplace_back(policies.contains(kWarpedSlicer) ? json(policies.at(kWarpedSlicer).ctas).dump() : "");
    table.row(row);
    for (const auto& [policy, c] : policies) {
      left_out += c.incomplete;
      out.good = out.good && c.violations == 0;
      if (c.stp.empty()) continue;
      const report::Point stp = median_point(c.stp);
      const double fair = median(c.antt);
      result.push_back({{"kernels", c.kernels},
                        {"policy", policy},
                        {"ctas", c.ctas},
                        {"stp", stp.value},
                        {"stp_ci", {stp.low, stp.high}},
                        {"antt", std::isfinite(fair) ? json(fair) : json()},
                        {"min_speedup", median(c.fairness)},
                        {"quota_violations", c.violations},
                        {"repetitions", c.stp.size()},
                        {"incomplete_runs", c.incomplete}});
    }
  }
  report::Table means({"policy",
                       {"over Left-Over", report::Notation::Number, 3},
                       {"over MPS", report::Notation::Number, 3},
                       {"of the best partition", report::Notation::Number, 3},
                       name});
  for (const auto& [of, words, colour] : kShown) {
    report::Row row = {words};
    std::uint64_t mixes = 0;
    for (const char* over : {kLeftOver, "mps", kOracle}) {
      Values ratios;
      for (const auto& [mix, policies] : cells)
        if (const double ratio = measured(policies, of) / measured(policies, over); std::isfinite(ratio)) ratios.push_back(ratio);
      if (ratios.empty() || std::string(of) == over) {
        row.emplace_back(report::kNone);
        continue;
      }
      const report::Point p = mean_point(ratios);
      row.emplace_back(p.value, p.low, p.high);
      mixes = std::max<std::uint64_t>(mixes, ratios.size());
      if (std::string(of) == "back_to_back") continue;
      json& entry = out.summary[fmt::format("{}_{}_over_{}", name, of, over)] = mean_json(ratios);
      entry["mixes"] = ratios.size();
    }
    row.emplace_back(mixes);
    if (mixes > 0) means.row(row);
  }
  const json gain = out.summary.value(fmt::format("{}_{}_over_{}", name, kWarpedSlicer, kLeftOver), json::object());
  report::Section& section = out.section(
      name,
      fmt::format("{}: Warped-Slicer {} over Left-Over while all kernels run", name == "pairs" ? "Pairs" : "Triples",
                  report::written(gain.value("geometric_mean", report::kNone), report::Notation::Gain, 1)),
      fmt::format("STP is the sum of the kernels' rates, each over its own alone and untransformed. Geometric means with 95 % "
                  "intervals over the mixes. {} runs in which over 1 % of a kernel's CTAs found no room are left out.",
                  left_out));
  section.blocks.insert(section.blocks.end(), {means, gains_chart(cells), report::Folded{"STP of every mix", table}});
  write_json(folder / (name + ".json"), result);
}

void finish_section(const std::filesystem::path& folder, const std::string& name, Output& out) {
  std::map<std::string, std::map<std::string, Values>> makespans;  // mix, policy
  for (const json& j : lines(folder / (name + ".jsonl")))
    if (j.contains("finish_seconds"))
      makespans[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][j["policy"]].push_back(
          std::ranges::max(j["finish_seconds"].get<Values>()));
  std::map<std::string, Values> speedup;
  std::map<std::string, Values> of_balance;  // over each
  for (const auto& [mix, policies] : makespans)
    for (const auto& [policy, makespan] : policies) {
      if (policies.contains(kLeftOver)) speedup[policy].push_back(median(policies.at(kLeftOver)) / median(makespan));
      if (policies.contains(kBalance)) of_balance[policy].push_back(median(makespan) / median(policies.at(kBalance)));
    }
  for (const auto& [policy, ratios] : of_balance)
    if (policy != kBalance) out.summary[fmt::format("{}_finish_balance_over_{}", name, policy)] = mean_json(ratios);
  report::RowChart chart{"Time until the last kernel is done: Left-Over's over the policy's"};
  chart.notation = report::Notation::Gain;
  chart.digits = 1;
  chart.baseline = 1;
  chart.sorted = true;
  std::string text = "Every kernel has a fixed amount of work, as much as it does alone in one and a half windows. ";
  for (const auto& [policy, ratios] : speedup) {
    if (policy == kLeftOver) continue;
    const auto shown = std::ranges::find(kShown, policy, &Shown::policy);
    const std::string words = shown == std::end(kShown) ? policy : shown->words;
    chart.rows.push_back({words, {mean_point(ratios)}});
    text += fmt::format("{}: {} over {} mixes. ", words, mean_text(ratios), ratios.size());
    out.summary[fmt::format("{}_finish_{}_over_left_over", name, policy)] = mean_json(ratios);
  }
  if (chart.rows.empty()) return;
  out.section(name + "_finish",
              fmt::format("{} with equal work: the time until the last kernel is done", name == "pairs" ? "Pairs" : "Triples"),
              text + "Warped-Slicer's time has its profile in it.")
      .blocks.push_back(report::Large{chart});
}

namespace {

struct Range {  // NOLINT(bugprone-exception-escape): of the JSON class
  json sms;
  Values stp;
};

}  // namespace

void ranges_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  std::map<std::string, std::map<std::string, Range>> pairs;  // pair, size of the first range or kLeftOver
  std::map<std::string, std::vector<std::string>> kernels;
  for (const json& j : lines(folder / "ranges.jsonl")) {
    if (!j.contains("repetition")) continue;
    const auto names = j["kernels"].get<std::vector<std::string>>();
    const std::string pair = fmt::format("{}", fmt::join(names, "_"));
    kernels[pair] = names;
    Range& range = pairs[pair][j["sms"].empty() ? kLeftOver : j["sms"].dump()];
    range.sms = j["sms"];
    double stp = 0;
    for (std::size_t k = 0; k < names.size(); ++k)
      stp += j["blocks_per_second"][k].get<double>() / j["solo_blocks_per_second"][k].get<double>();
    range.stp.push_back(stp);
  }
  if (pairs.empty()) return;
  const Mixes within = read_mixes(folder, "pairs", sms);
  report::RowChart chart{"Throughput over Left-Over", "", {{"best ranges of SMs", 1}, {"best partition within SMs", 4}}};
  chart.notation = report::Notation::Gain;
  chart.digits = 1;
  chart.baseline = 1;
  chart.sorted = true;
  Values best_ranges, best_of_both;
  json result = json::array();
  for (const auto& [pair, policies] : pairs) {
    if (!policies.contains(kLeftOver) || policies.size() < 2) continue;
    const Range* best = nullptr;
    for (const auto& [policy, range] : policies)
      if (policy != kLeftOver && (best == nullptr || median(range.stp) > median(best->stp))) best = &range;
    const double ratio = median(best->stp) / median(policies.at(kLeftOver).stp);
    const auto at = within.find(pair);
    const double oracle = at == within.end() ? NAN : measured(at->second, kOracle) / measured(at->second, kLeftOver);
    best_ranges.push_back(ratio);
    if (std::isfinite(oracle)) best_of_both.push_back(std::max(ratio, oracle));
    chart.rows.push_back({fmt::format("{} {}", pair, best->sms.dump()), {{ratio}, {oracle}}});
    result.push_back({{"kernels", kernels[pair]},
                      {"sms", best->sms},
                      {"stp", median(best->stp)},
                      {"over_left_over", ratio},
                      {"repetitions", best->stp.size()}});
  }
  const auto add = [&](const char* key, const Values& ratios) {
    if (ratios.empty()) return;
    json& entry = out.summary[key] = mean_json(ratios);
    entry["mixes"] = ratios.size();
  };
  add("pairs_ranges_over_left_over", best_ranges);
  add("pairs_static_over_left_over", best_of_both);
  out.section(
         "ranges", "Some pairs gain more where each kernel has SMs of its own",
         fmt::format("Untransformed kernels in green contexts of every size. The best ranges of each pair have {} of Left-Over's "
                     "throughput in the geometric mean, the better of ranges and partitions {}. Behind a pair stand the SMs of "
                     "each kernel.",
                     mean_text(best_ranges), best_of_both.empty() ? "–" : mean_text(best_of_both)))
      .blocks.push_back(report::Large{chart});
  write_json(folder / "ranges.json", result);
}

}  // namespace sluice::gpu
