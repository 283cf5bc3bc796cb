// SPDX-License-Identifier: Apache-2.0
#include "sw/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sw/policy/names.h"
#include "sw/report/table.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

const SeedRun* find(const EvalResults& results, std::uint64_t seed, const std::vector<std::string>& kernels,
                    const std::string& policy) {
  const auto found = std::ranges::find_if(
      results.seeds, [&](const SeedRun& r) { return r.seed == seed && r.policy == policy && r.kernels == kernels; });
  return found == results.seeds.end() ? nullptr : &*found;
}

/// A field's values, each once, in order of first appearance.
template <class T>
std::vector<T> distinct(const EvalResults& results, T SeedRun::*field) {
  std::vector<T> all;
  for (const SeedRun& run : results.seeds)
    if (std::ranges::find(all, run.*field) == all.end()) all.push_back(run.*field);
  return all;
}

/// Warped-Slicer's decision is within one CTA of the solo curves' of the same seed; a run without a decision is not.
bool within_one(const SeedRun& ours, const SeedRun& solo) {
  return ours.partition && solo.partition && agree(*ours.partition, *solo.partition, 1);
}

}  // namespace

std::vector<SeedRun> seed_runs(std::uint64_t seed, const EvalResults& results) {
  std::vector<SeedRun> out;
  for (const EvalRun& run : results.runs) {
    SeedRun& entry = out.emplace_back(SeedRun{seed, run.kernels, run.policy, run.ipc, run.normalized_ipc, run.partition});
    if (run.policy != kWarpedSlicer) continue;
    const DecisionRecord* decided = last_joint_decision(run);
    entry.partition = decided == nullptr ? std::nullopt : std::optional(decided->partition);
  }
  return out;
}

Spread spread_of(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kUnknown, kUnknown, kUnknown};
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {values.front(), median, values.back()};
}

std::vector<MixSpread> mix_spreads(const EvalResults& results) {
  const std::vector<std::uint64_t> seeds = distinct(results, &SeedRun::seed);
  const std::vector<std::string> policies = distinct(results, &SeedRun::policy);
  std::vector<MixSpread> out;
  for (const std::vector<std::string>& kernels : distinct(results, &SeedRun::kernels)) {
    MixSpread& mix = out.emplace_back();
    mix.kernels = kernels;
    for (const std::string& policy : policies) {
      std::vector<double> ipc;
      for (const std::uint64_t seed : seeds)
        if (const SeedRun* run = find(results, seed, kernels, policy)) ipc.push_back(run->ipc);
      if (!ipc.empty()) mix.ipc.emplace_back(policy, spread_of(std::move(ipc)));
    }
    for (const std::uint64_t seed : seeds) {
      const SeedRun *ours = find(results, seed, kernels, kWarpedSlicer), *solo = find(results, seed, kernels, kSoloCurve);
      if (ours == nullptr) continue;
      if (ours->partition) {
        const auto known = std::ranges::find(mix.decisions, *ours->partition, &std::pair<Partition, std::size_t>::first);
        if (known == mix.decisions.end())
          mix.decisions.emplace_back(*ours->partition, 1);
        else
          ++known->second;
      }
      if (solo == nullptr) continue;
      ++mix.judged;
      mix.agreeing += within_one(*ours, *solo) ? 1 : 0;
    }
    std::ranges::stable_sort(mix.decisions, std::ranges::greater{}, &std::pair<Partition, std::size_t>::second);
  }
  return out;
}

std::vector<SeedSummary> seed_summaries(const EvalResults& results) {
  const auto mixes = distinct(results, &SeedRun::kernels);
  std::vector<SeedSummary> out;
  for (const std::uint64_t seed : distinct(results, &SeedRun::seed)) {
    SeedSummary& s = out.emplace_back();
    s.seed = seed;
    std::vector<double> over_left_over, over_solo_curve;
    for (const auto& kernels : mixes) {
      const SeedRun *ours = find(results, seed, kernels, kWarpedSlicer), *solo = find(results, seed, kernels, kSoloCurve);
      if (ours == nullptr) continue;
      over_left_over.push_back(ours->normalized_ipc);
      if (solo == nullptr) continue;
      over_solo_curve.push_back(ours->ipc / solo->ipc);
      ++s.judged;
      s.agreeing += within_one(*ours, *solo) ? 1 : 0;
    }
    s.over_left_over = geometric_mean_of_known(over_left_over);
    s.over_solo_curve = geometric_mean_of_known(over_solo_curve);
  }
  return out;
}

std::string seed_report(const EvalResults& results) {
  if (results.seeds.empty()) return "";
  const std::vector<std::string> policies = distinct(results, &SeedRun::policy);
  std::vector<report::Column> columns{"IPC over the seeds: min median max"};
  for (const std::string& policy : policies) columns.emplace_back(policy_label(policy));
  columns.insert(columns.end(), {"decisions", "within one CTA"});
  report::Table table(columns);
  for (const MixSpread& mix : mix_spreads(results)) {
    report::Row row{mix_name(mix.kernels)};
    for (const std::string& policy : policies) {
      const auto spread = std::ranges::find(mix.ipc, policy, &std::pair<std::string, Spread>::first);
      row.emplace_back(spread == mix.ipc.end()
                           ? "–"
                           : fmt::format("{:.1f} {:.1f} {:.1f}", spread->second.min, spread->second.median, spread->second.max));
    }
    std::string decisions;
    for (const auto& [partition, seeds] : mix.decisions)
      decisions += fmt::format("{}{} x{}", decisions.empty() ? "" : ", ", partition_label(partition), seeds);
    row.emplace_back(decisions.empty() ? "–" : decisions);
    row.emplace_back(mix.judged == 0 ? "–" : fmt::format("{} of {} seeds", mix.agreeing, mix.judged));
    table.row(std::move(row));
  }
  report::Table seeds({"Warped-Slicer by seed", "within one CTA", "over Left-Over", "over the solo curves"});
  for (const SeedSummary& s : seed_summaries(results))
    seeds.row({fmt::format("seed {}", s.seed), s.judged == 0 ? "–" : fmt::format("{} of {}", s.agreeing, s.judged),
               s.over_left_over, s.over_solo_curve});
  return table.text() + "\n" + seeds.text();
}

Json spread_json(const EvalResults& results) {
  Json out = {{"mixes", Json::array()}, {"seeds", Json::array()}};
  for (const MixSpread& mix : mix_spreads(results)) {
    Json entry = {{"kernels", mix.kernels}, {"ipc", Json::object()}, {"decisions", Json::array()}};
    for (const auto& [policy, s] : mix.ipc)
      entry["ipc"][policy] = {
          {"min", number_or_null(s.min)}, {"median", number_or_null(s.median)}, {"max", number_or_null(s.max)}};
    for (const auto& [partition, seeds] : mix.decisions) {
      Json decision = {{"mode", layout_name(partition.mode)}, {"ctas", counts(partition)}, {"seeds", seeds}};
      entry["decisions"].push_back(std::move(decision));
    }
    entry["judged"] = mix.judged;
    entry["within_one_cta"] = mix.agreeing;
    out["mixes"].push_back(std::move(entry));
  }
  for (const SeedSummary& s : seed_summaries(results))
    out["seeds"].push_back({{"seed", s.seed},
                            {"judged", s.judged},
                            {"within_one_cta", s.agreeing},
                            {"over_left_over", number_or_null(s.over_left_over)},
                            {"over_solo_curve", number_or_null(s.over_solo_curve)}});
  return out;
}

}  // namespace sluice
