// SPDX-License-Identifier: Apache-2.0
// The model against the silicon.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"
#include "sw/io/packed_file.h"
#include "sw/policy/names.h"
#include "sw/report/charts.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {

json read_model(const std::filesystem::path& file) {
  json model = json::parse(read_packed(file), nullptr, false);
  if (!model.is_object()) throw InputError(fmt::format("{}: must be a JSON object", file.string()));
  return model;
}

Values over_best(Values v) {
  const double most = percentile(v, 1);
  for (double& x : v) x /= most;
  return v;
}

/// Two curves, each over its own best, as far as both go.
struct Match {
  double error = 0, rank = 0;  ///< mean absolute; rank correlation
};
Match match(const Values& silicon, const Values& model) {
  const std::size_t common = std::min(silicon.size(), model.size());
  const std::span<const double> s(silicon.data(), common), m(model.data(), common);
  Match out;
  for (std::size_t i = 0; i < common; ++i) out.error += std::abs(s[i] - m[i]) / static_cast<double>(common);
  out.rank = rank_correlation(s, m);
  return out;
}

}  // namespace

void model_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  if (!has_packed(folder / "model" / "results.json")) return;
  const json model = read_model(folder / "model" / "results.json");
  json kernels = json::array(), mixes = json::array();
  std::string charts;
  const std::map<std::string, Curve> curves = read_curves(folder);
  for (const json& j : model["solo"]) {
    const std::string name = j["kernel"];
    if (!curves.contains(name) || j["curve"].empty()) continue;
    const Values silicon = over_best(curves.at(name).performance), simulated = over_best(j["curve"].get<Values>());
    const Match m = match(silicon, simulated);
    kernels.push_back({{"kernel", name},
                       {"silicon", silicon},
                       {"model", simulated},
                       {"mean_absolute_error", m.error},
                       {"rank_correlation", std::isfinite(m.rank) ? json(m.rank) : json()}});
    charts::Lines chart{name, "CTAs per SM", "of its best", {}};
    for (const auto& [label, colour, values] : {std::tuple("silicon", 4U, &silicon), std::tuple("model", 1U, &simulated)}) {
      charts::Lines::Line& line = chart.lines.emplace_back();
      line.series = {label, colour};
      line.values = *values;
    }
    charts += "<div class=\"multiple\">" + charts::line_chart(chart) + "</div>\n";
  }
  const Mixes cells = read_mixes(folder, "pairs", sms);
  const auto finish = read_finish(folder, "pairs");
  std::map<std::string, std::array<Values, 2>> stp_of;  // policy: silicon, model
  Values errors;
  unsigned same = 0, decided = 0;
  for (const json& j : model["runs"]) {
    const auto names = j["kernels"].get<std::vector<std::string>>();
    const auto mix = cells.find(fmt::format("{}", fmt::join(names, "_")));
    const std::string policy = j["policy"];
    if (mix == cells.end() || !j["stp"].is_number()) continue;
    const auto equal_work = finish.find(mix->first);
    if (equal_work == finish.end() || !equal_work->second.contains(policy)) continue;
    const double silicon = median(equal_work->second.at(policy).stp), simulated = j["stp"];
    stp_of[policy][0].push_back(silicon);
    stp_of[policy][1].push_back(simulated);
    errors.push_back(simulated / silicon - 1);
    json entry = {{"kernels", names}, {"policy", policy}, {"stp_silicon", silicon}, {"stp_model", simulated}};
    if (policy == kWarpedSlicer) {
      entry["ctas_silicon"] = mix->second.contains(policy) ? json(mix->second.at(policy).ctas) : json::array();
      entry["ctas_model"] = j["partition"]["ctas"];
      ++decided;
      bool close = entry["ctas_silicon"].size() == 2 && entry["ctas_model"].size() == 2;
      for (std::size_t k = 0; close && k < 2; ++k)
        close = std::abs(entry["ctas_silicon"][k].get<int>() - entry["ctas_model"][k].get<int>()) <= 1;
      same += close ? 1 : 0;
    }
    mixes.push_back(entry);
  }
  if (errors.empty()) return;
  out.html += "<h2>The model against the silicon: performance against CTAs per SM</h2>\n<p>" +
              charts::legend({{"silicon", 4}, {"model", 1}}) + "</p>\n<div class=\"multiples\">" + charts + "</div>\n";
  std::vector<std::vector<std::string>> rows = {{"kernel", "curve: mean absolute error", "rank correlation"}};
  for (const json& k : kernels)
    rows.push_back({k["kernel"], fmt::format("{:.2f}", k["mean_absolute_error"].get<double>()),
                    k["rank_correlation"].is_null() ? "-" : fmt::format("{:.2f}", k["rank_correlation"].get<double>())});
  out.table("Model against silicon: curves, each over its own best", rows);
  json by_policy = json::object();
  rows = {{"policy", "pairs", "geometric mean STP, silicon", "model", "rank correlation"}};
  for (const auto& [policy, both] : stp_of) {
    const double rank = rank_correlation(both[0], both[1]);
    rows.push_back({policy, std::to_string(both[0].size()), fmt::format("{:.3f}", geometric_mean(both[0])),
                    fmt::format("{:.3f}", geometric_mean(both[1])), fmt::format("{:.2f}", rank)});
    by_policy[policy] = {{"pairs", both[0].size()},
                         {"silicon", geometric_mean(both[0])},
                         {"model", geometric_mean(both[1])},
                         {"rank_correlation", std::isfinite(rank) ? json(rank) : json()}};
  }
  out.table("Model against silicon: STP of the pairs with equal work (sum of T_alone / T_corun)", rows);
  Values absolute;
  for (const double e : errors) absolute.push_back(std::abs(e));
  const json distribution = {{"p10", percentile(errors, 0.1)},
                             {"p50", percentile(errors, 0.5)},
                             {"p90", percentile(errors, 0.9)},
                             {"mean_absolute", [&] {
                                double sum = 0;
                                for (const double e : absolute) sum += e;
                                return sum / static_cast<double>(absolute.size());
                              }()}};
  out.note(fmt::format(
      "Error of the model's STP: p10 {:+.0f} %, median {:+.0f} %, p90 {:+.0f} %. The chosen partition is the same or within "
      "one CTA in {} of {} pairs.",
      100 * percentile(errors, 0.1), 100 * percentile(errors, 0.5), 100 * percentile(errors, 0.9), same, decided));
  write_json(folder / "model_vs_gpu.json", {{"curves", kernels},
                                            {"pairs", mixes},
                                            {"policies", by_policy},
                                            {"stp_error", distribution},
                                            {"partitions_same_or_within_one", same},
                                            {"partitions", decided}});
  out.summary["model_stp_rank_correlation"] = by_policy;
}

}  // namespace sluice::gpu
