// SPDX-License-Identifier: Apache-2.0
// Pairs and triples under every policy, by rates and by finish time.
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

void mixes_section(const std::filesystem::path& folder, const std::string& name, unsigned sms, Output& out) {
  const Mixes cells = read_mixes(folder, name, sms);
  if (cells.empty()) return;
  json result = json::array();
  const std::vector<std::string> shown = {"back_to_back",       kLeftOver, "mps", kSpatial, kEven, kWarpedSlicer,
                                          "warped_slicer@0.04", kOracle};
  std::vector<std::vector<std::string>> rows = {{"mix"}};
  for (const std::string& p : shown) rows[0].push_back(p);
  rows[0].emplace_back("chosen");
  unsigned left_out = 0;
  for (const auto& [mix, policies] : cells) {
    std::vector<std::string> row = {mix};
    for (const std::string& p : shown) {
      const double value = measured(policies, p);
      row.push_back(std::isfinite(value) ? fmt::format("{:.3f}", value) : "-");
    }
    row.push_back(policies.contains(kWarpedSlicer) ? json(policies.at(kWarpedSlicer).ctas).dump() : "-");
    rows.push_back(row);
    for (const auto& [policy, c] : policies) {
      left_out += c.incomplete;
      out.good = out.good && c.violations == 0;
      if (c.stp.empty()) continue;
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
                        {"repetitions", c.stp.size()},
                        {"incomplete_runs", c.incomplete}});
    }
  }
  out.table(fmt::format("STP of the {}, medians (sum of rates over each kernel's own alone, untransformed)", name), rows);
  out.note(fmt::format("{} runs in which more than 1 % of a kernel's CTAs found no room on their SMs are left out.", left_out));
  for (const char* of : {kWarpedSlicer, kEven, kSpatial, "mps", kOracle})
    for (const char* over : {kLeftOver, "mps", kOracle}) {
      Values ratios;
      for (const auto& [mix, policies] : cells) {
        const double ratio = measured(policies, of) / measured(policies, over);
        if (std::isfinite(ratio)) ratios.push_back(ratio);
      }
      if (ratios.empty() || std::string(of) == over) continue;
      const Interval ci = bootstrap(ratios, [](std::span<const double> s) { return geometric_mean(s); });
      out.note(fmt::format(
          "{} over {}: {:.3f} [{:.3f}, {:.3f}] over {} {} (geometric mean of STP ratios, 95 % bootstrap over the mixes).", of,
          over, geometric_mean(ratios), ci.low, ci.high, ratios.size(), name));
      out.summary[fmt::format("{}_{}_over_{}", name, of, over)] = {
          {"geometric_mean", geometric_mean(ratios)}, {"ci", {ci.low, ci.high}}, {"mixes", ratios.size()}};
    }
  write_json(folder / (name + ".json"), result);
}

std::map<std::string, std::map<std::string, Finish>> read_finish(const std::filesystem::path& folder, const std::string& name) {
  std::map<std::string, std::map<std::string, Finish>> out;  // mix, policy
  for (const json& j : lines(folder / (name + ".jsonl"))) {
    if (!j.contains("finish_seconds")) continue;
    const Values alone = j["alone_seconds"].get<Values>(), finish = j["finish_seconds"].get<Values>();
    std::vector<Turnaround> turnaround;
    for (std::size_t k = 0; k < alone.size(); ++k) turnaround.push_back({alone[k], finish[k]});
    Finish& f = out[fmt::format("{}", fmt::join(j["kernels"].get<std::vector<std::string>>(), "_"))][j["policy"]];
    f.stp.push_back(stp(turnaround));
    f.makespan.push_back(*std::ranges::max_element(finish));
  }
  return out;
}

void finish_section(const std::filesystem::path& folder, const std::string& name, Output& out) {
  std::map<std::string, Values> speedup;
  for (const auto& [mix, policies] : read_finish(folder, name))
    for (const auto& [policy, f] : policies)
      if (policies.contains(kLeftOver)) speedup[policy].push_back(median(policies.at(kLeftOver).makespan) / median(f.makespan));
  for (const auto& [policy, ratios] : speedup) {
    if (policy == kLeftOver) continue;
    const Interval ci = bootstrap(ratios, [](std::span<const double> v) { return geometric_mean(v); });
    out.note(fmt::format(
        "Equal work until the last kernel is done, {}: {} is {:.3f} [{:.3f}, {:.3f}] times as fast as Left-Over ({} mixes"
        "{}).",
        name, policy, geometric_mean(ratios), ci.low, ci.high, ratios.size(),
        policy == kWarpedSlicer ? ", profiling included" : ""));
    out.summary[fmt::format("{}_finish_{}_over_left_over", name, policy)] = {{"geometric_mean", geometric_mean(ratios)},
                                                                             {"ci", {ci.low, ci.high}}};
  }
}

}  // namespace sluice::gpu
