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
#include "sw/io/packed_file.h"
#include "sw/policy/names.h"

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
  report::Multiples charts;
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
    report::LineChart chart{fmt::format("{}, {:.2f} off in the mean", name, m.error), "CTAs per SM", ""};
    for (const auto& [label, colour, values] : {std::tuple("H200", 4U, &silicon), std::tuple("model", 1U, &simulated)}) {
      report::LineChart::Line& line = chart.lines.emplace_back();
      line.series = {label, colour};
      for (std::size_t n = 0; n < values->size(); ++n) line.points.emplace_back(n + 1, (*values)[n]);
    }
    charts.charts.emplace_back(std::move(chart));
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
  json by_policy = json::object();
  report::LineChart stps{"STP of each pair with equal work", "H200", "model"};
  stps.diagonal = true;
  stps.from_zero = false;
  report::Table table({"policy",
                       "pairs",
                       {"STP, H200", report::Notation::Number, 3},
                       {"STP, model", report::Notation::Number, 3},
                       {"rank correlation", report::Notation::Number, 2}});
  for (const auto& [policy, both] : stp_of) {
    const double rank = rank_correlation(both[0], both[1]);
    report::LineChart::Line& line = stps.lines.emplace_back();
    line.series = {policy, 1 + stps.lines.size()};
    line.joined = false;
    for (std::size_t i = 0; i < both[0].size(); ++i) line.points.emplace_back(both[0][i], both[1][i]);
    table.row({policy, both[0].size(), geometric_mean(both[0]), geometric_mean(both[1]), rank});
    by_policy[policy] = {{"pairs", both[0].size()},
                         {"silicon", geometric_mean(both[0])},
                         {"model", geometric_mean(both[1])},
                         {"rank_correlation", std::isfinite(rank) ? json(rank) : json()}};
  }
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
  report::Section& section = out.section(
      "model", "The model that is made of counters follows the curves better than the pairs",
      fmt::format(
          "Kernels as descriptors from Nsight Compute's counts. The model's STP is off by {:+.0f} % (10th percentile), {:+.0f} % "
          "(median) and {:+.0f} % (90th). It chooses the H200's partition, or one CTA beside it, in {} of {} pairs. Models of "
          "recorded code are nearer (results/model_vs_h200).",
          100 * percentile(errors, 0.1), 100 * percentile(errors, 0.5), 100 * percentile(errors, 0.9), same, decided));
  section.blocks.insert(section.blocks.end(), {table, report::Large{stps}, charts});
  write_json(folder / "model_vs_gpu.json", {{"curves", kernels},
                                            {"pairs", mixes},
                                            {"policies", by_policy},
                                            {"stp_error", distribution},
                                            {"partitions_same_or_within_one", same},
                                            {"partitions", decided}});
  out.summary["model_stp_rank_correlation"] = by_policy;
}

}  // namespace sluice::gpu
