// SPDX-License-Identifier: Apache-2.0
// The online profile against the solo curves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/core/machine.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/report/decide.h"
#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

using nlohmann::json;

std::map<std::string, Search> read_search(const std::filesystem::path& folder, unsigned sms) {
  std::map<std::string, Search> out;
  for (const json& j : lines(folder / "pairs.jsonl")) {
    if (!j.contains("sweep")) continue;
    Search& search = out[fmt::format("{}", fmt::join(j.at("kernels").get<std::vector<std::string>>(), "_"))];
    search.kernels = j.at("kernels");
    for (json point : j.at("sweep")) {
      for (const char* of : {"ctas", "blocks_per_second", "missing"})
        if (!point.contains(of) || point[of].size() != search.kernels.size())
          throw InputError(fmt::format("{}: {}: \"{}\" of a partition: must be a figure for each of {} kernels",
                                       (folder / "pairs.jsonl").string(), j.at("key").get<std::string>(), of,
                                       search.kernels.size()));
      point["kernels"] = j.at("kernels");
      point["mode"] = "intra_sm";
      search.points.push_back(
          {point["ctas"], point["blocks_per_second"], j.at("solo_blocks_per_second"), point["missing"], incomplete(point, sms)});
    }
  }
  return out;
}

void profile_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  const std::map<std::string, Curve> curves = read_curves(folder);
  const Mixes cells = read_mixes(folder, "pairs", sms);
  const auto searched = read_search(folder, sms);
  // How the curves for a decision are made of the rates that the profile saw.
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"refined", "the next line's, seen alone where the decision falls (used)"},
      {"scaled", "equation 3 with measured shares of bandwidth"},
      {"ceiling", "equation 3 with B_max over the traffic of a block, as the hardware's ceiling"},
      {"by_counts", "equations 3 and 4 as printed"},
      {"sampled", "unscaled"}};
  const std::filesystem::path page = folder / "kernels_ncu.csv";
  const auto ceilings = std::filesystem::exists(page) ? read_ceilings(page) : std::map<std::string, double>();
  struct Choices {
    unsigned close = 0;
    Values stp;  // by the search, of the chosen partitions
  };
  struct Pair {
    unsigned runs = 0;
    Partition solo;
    double solo_stp = NAN;
    std::map<std::string, Choices> choices;
    Values seconds, scaled_seconds, sampled_seconds, windows;
    std::vector<Values> predicted;
    unsigned again = 0;  // runs of the solo curves that give the same partition or one CTA beside it, of `repeats`
    unsigned repeats = 0;
  };
  std::map<std::string, Pair> pairs;
  for (const json& j : lines(folder / "pairs.jsonl")) {
    if (j["policy"] != kWarpedSlicer || !j.contains("scaled")) continue;
    const auto names = j["kernels"].get<std::vector<std::string>>();
    if (!curves.contains(names[0]) || !curves.contains(names[1])) continue;
    const std::string mix = names[0] + "_" + names[1];
    const Curve &a = curves.at(names[0]), &b = curves.at(names[1]);
    SiliconMix silicon;
    silicon.kernels = {kernel_of(names[0], a.demand), kernel_of(names[1], b.demand)};
    silicon.machine.num_sms = sms;
    silicon.machine.sm.capacity = a.capacity;
    const auto decide_on = [&](const std::vector<Profile>& profiles) { return decide(kWarpedSlicer, silicon, profiles); };
    const auto stp_of = [&](const Partition& p) {
      if (p.mode == Mode::Spatial || !searched.contains(mix)) return NAN;
      const std::vector<SearchPoint>& points = searched.at(mix).points;
      const std::vector<std::uint32_t> ctas = {p.shares[0].ctas.value(), p.shares[1].ctas.value()};
      const auto at = std::ranges::find(points, ctas, &SearchPoint::ctas);
      return at == points.end() || at->incomplete ? NAN
                                                  : static_cast<float>(at->rate[0] / at->alone[0] + at->rate[1] / at->alone[1]);
    };
    Pair& p = pairs[mix];
    const auto close_to_solo = [&](const Partition& other) {
      bool close = other.mode == p.solo.mode;
      for (std::size_t k = 0; k < 2; ++k)
        close = close &&
                std::abs(static_cast<int>(other.shares[k].ctas.value()) - static_cast<int>(p.solo.shares[k].ctas.value())) <= 1;
      return close;
    };
    p.solo = decide_on({a.performance, b.performance});
    p.solo_stp = stp_of(p.solo);
    if (p.repeats == 0)
      for (; p.repeats < std::min(a.runs.size(), b.runs.size()); ++p.repeats)
        p.again += close_to_solo(decide_on({a.runs[p.repeats], b.runs[p.repeats]})) ? 1 : 0;
    for (const auto& [kind, words] : kinds) {
      const bool derived = kind == "ceiling" && ceilings.contains(names[0]) && ceilings.contains(names[1]);
      if (!derived && !j.contains(kind)) continue;
      std::vector<Profile> made = j[derived ? "sampled" : kind].get<std::vector<Profile>>();
      for (std::size_t k = 0; derived && k < made.size(); ++k)
        for (double& rate : made[k]) rate = std::min(rate, ceilings.at(names[k]) / sms);
      const Partition online = decide_on(made);
      Choices& c = p.choices[kind];
      c.close += close_to_solo(online) ? 1 : 0;
      if (const double value = stp_of(online); std::isfinite(value)) c.stp.push_back(value);
    }
    ++p.runs;
    p.seconds.push_back(j["profile_seconds"]);
    p.scaled_seconds.push_back(j["scaled_seconds"]);
    p.sampled_seconds.push_back(j["sampled_seconds"]);
    p.windows.push_back(j["deciding_windows"]);
    p.predicted.resize(2);
    const auto curves_used = j["refined"].get<std::vector<Values>>();
    for (std::size_t k = 0; k < 2; ++k) {
      const double most = *std::ranges::max_element(curves_used[k]);
      const auto at = std::min<std::size_t>(j["ctas"][k].get<std::size_t>(), curves_used[k].size());
      p.predicted[k].push_back(at > 0 && most > 0 ? curves_used[k][at - 1] / most : 0);
    }
  }
  if (pairs.empty()) return;
  Values seconds, scaled_seconds, sampled_seconds, windows;
  unsigned again = 0, repeats = 0, again_pairs = 0;
  json result = json::array();
  for (const auto& [mix, p] : pairs) {
    for (const auto& [all, own] : {std::pair{&seconds, &p.seconds}, std::pair{&scaled_seconds, &p.scaled_seconds},
                                   std::pair{&sampled_seconds, &p.sampled_seconds}, std::pair{&windows, &p.windows}})
      all->insert(all->end(), own->begin(), own->end());
    again += p.again;
    repeats += p.repeats;
    again_pairs += 2 * p.again > p.repeats ? 1 : 0;
    json entry = {{"pair", mix},
                  {"runs", p.runs},
                  {"solo_curves_again", p.again},
                  {"solo_curves_runs", p.repeats},
                  {"from_solo_curves", counts(p.solo)},
                  {"stp_from_solo_curves", std::isfinite(p.solo_stp) ? json(p.solo_stp) : json()}};
    for (const auto& [kind, c] : p.choices)
      entry[kind] = {{"same_or_within_one", c.close}, {"stp", c.stp.empty() ? json() : json(median(c.stp))}};
    result.push_back(entry);
  }
  write_json(folder / "profile_vs_solo.json", result);
  report::RowChart chart{"STP of the choice over that of the solo curves' choice"};
  chart.notation = report::Notation::Gain;
  chart.digits = 1;
  chart.baseline = 1;
  report::Table table({report::words("decided from"),
                       "pairs within one CTA",
                       "runs within one CTA",
                       {"STP over the solo curves' choice", report::Notation::Number, 3},
                       {"worst pair", report::Notation::Number, 3},
                       "pairs compared"});
  for (const auto& [kind, words] : kinds) {
    unsigned agree = 0, runs = 0, close = 0;
    Values ratios;
    for (const auto& [mix, p] : pairs) {
      if (!p.choices.contains(kind)) continue;
      const Choices& c = p.choices.at(kind);
      agree += 2 * c.close > p.runs ? 1 : 0;
      runs += p.runs;
      close += c.close;
      if (!c.stp.empty() && std::isfinite(p.solo_stp)) ratios.push_back(median(c.stp) / p.solo_stp);
    }
    if (runs == 0 || ratios.empty()) continue;
    const report::Point mean = mean_point(ratios);
    chart.rows.push_back({words, {mean}});
    table.row({words,
               fmt::format("{} of {}", agree, pairs.size()),
               fmt::format("{} of {}", close, runs),
               {mean.value, mean.low, mean.high},
               *std::ranges::min_element(ratios),
               ratios.size()});
    if (kind == "refined") out.summary["online_profile_agrees"] = static_cast<double>(agree) / static_cast<double>(pairs.size());
    out.summary["online_choice_over_solo_choice_" + kind] = mean_json(ratios);
  }
  const double share = out.summary.value("online_profile_agrees", 0.0);
  double mean_windows = 0;
  for (const double w : windows) mean_windows += w / static_cast<double>(windows.size());
  report::Section& section = out.section(
      "profile",
      fmt::format("A profile of {:.1f} ms finds the solo curves' partition, or one CTA beside it, in {:.0f} % of the pairs",
                  1e3 * median(seconds), 100 * share),
      fmt::format(
          "The profile takes {:.2f} ms at most, with {:.1f} windows in the mean where the decision falls; without those it "
          "takes {:.2f} ms, its first window {:.2f} ms. Each run of the solo curves by itself agrees with their medians in {} of "
          "{} pairs and {} of {} runs.",
          1e3 * *std::ranges::max_element(seconds), mean_windows, 1e3 * median(scaled_seconds), 1e3 * median(sampled_seconds),
          again_pairs, pairs.size(), again, repeats));
  section.blocks.insert(section.blocks.end(), {report::Large{chart}, report::Folded{"What each way decides", table}});

  std::vector<std::pair<double, std::string>> distance;
  for (const auto& [mix, policies] : cells) {
    const double ratio = measured(policies, kWarpedSlicer) / measured(policies, kOracle);
    if (std::isfinite(ratio) && pairs.contains(mix)) distance.emplace_back(ratio, mix);
  }
  std::ranges::sort(distance);
  report::Table furthest({"pair",
                          {"of the best partition's STP", report::Notation::Number, 2},
                          "CTAs",
                          "predicted",
                          "measured",
                          "best CTAs",
                          "measured there",
                          report::words("what the profile misses")},
                         "The five pairs furthest from the best partition; performance of each kernel, 1 is alone");
  for (std::size_t i = 0; i < std::min<std::size_t>(5, distance.size()); ++i) {
    const auto& [ratio, mix] = distance[i];
    const Cell &chosen = cells.at(mix).at(kWarpedSlicer), &best = *oracle(cells.at(mix));
    const auto both = [](double x, double y) { return fmt::format("{:.2f} + {:.2f}", x, y); };
    Values lost;
    for (std::size_t k = 0; k < 2; ++k) lost.push_back(median(pairs.at(mix).predicted[k]) - median(chosen.speedups[k]));
    const std::size_t victim = lost[0] > lost[1] ? 0 : 1;
    furthest.row({mix, ratio, json(chosen.ctas).dump(),
                  both(median(pairs.at(mix).predicted[0]), median(pairs.at(mix).predicted[1])),
                  both(median(chosen.speedups[0]), median(chosen.speedups[1])), json(best.ctas).dump(),
                  both(median(best.speedups[0]), median(best.speedups[1])),
                  fmt::format("{} loses {:.0f} points to its neighbour's use of the memory system", chosen.kernels[victim],
                              100 * lost[victim])});
  }
  section.blocks.emplace_back(furthest);
}

}  // namespace sluice::gpu
