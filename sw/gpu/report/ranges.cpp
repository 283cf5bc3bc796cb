// SPDX-License-Identifier: Apache-2.0
// Pairs whose kernels have SMs of their own, at every size of the ranges, beside the best partition within the SMs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sw/core/metrics.h"
#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {

struct Range {  // NOLINT(bugprone-exception-escape): of the JSON class
  json sms;
  Values stp;
};

double stp_of(const json& line) {
  const Values rate = line["blocks_per_second"].get<Values>(), solo = line["solo_blocks_per_second"].get<Values>();
  double stp = 0;
  for (std::size_t k = 0; k < rate.size(); ++k) stp += rate[k] / solo[k];
  return stp;
}

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
    range.stp.push_back(stp_of(j));
  }
  if (pairs.empty()) return;
  const Mixes within = read_mixes(folder, "pairs", sms);
  std::vector<std::vector<std::string>> rows = {{"pair", "SMs", "STP", "over Left-Over", "best within SMs, over Left-Over"}};
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
    rows.push_back({pair, best->sms.dump(), fmt::format("{:.3f}", median(best->stp)), fmt::format("{:.3f}", ratio),
                    std::isfinite(oracle) ? fmt::format("{:.3f}", oracle) : "-"});
    result.push_back({{"kernels", kernels[pair]},
                      {"sms", best->sms},
                      {"stp", median(best->stp)},
                      {"over_left_over", ratio},
                      {"repetitions", best->stp.size()}});
  }
  out.table("The best ranges of SMs, untransformed kernels in green contexts of every size, medians", rows);
  const auto say = [&](const std::string& what, const std::string& key, const Values& ratios) {
    if (ratios.empty()) return;
    const Interval ci = bootstrap(ratios, [](std::span<const double> s) { return geometric_mean(s); });
    out.note(fmt::format("{} over Left-Over: {:.3f} [{:.3f}, {:.3f}] over {} pairs (geometric mean of STP ratios).", what,
                         geometric_mean(ratios), ci.low, ci.high, ratios.size()));
    out.summary[key] = {{"geometric_mean", geometric_mean(ratios)}, {"ci", {ci.low, ci.high}}, {"mixes", ratios.size()}};
  };
  say("The best ranges of SMs", "pairs_ranges_over_left_over", best_ranges);
  say("The better of ranges and the best partition within SMs, pair by pair,", "pairs_static_over_left_over", best_of_both);
  write_json(folder / "ranges.json", result);
}

}  // namespace sluice::gpu
