// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/report/gpu_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sw/core/errors.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

using nlohmann::json;
using report::Notation;
using report::written;

namespace {

/// Policies over Left-Over, mixes of two and three, while all run and with equal work.
report::RowChart opening(const json& summary) {
  report::RowChart chart{"Throughput over Left-Over, geometric means with 95 % intervals", "", {}};
  chart.notation = Notation::Gain;
  chart.baseline = 1;
  constexpr std::pair<const char*, const char*> kPolicies[] = {{kOracle, "best partition, by search"},
                                                               {kWarpedSlicer, "Warped-Slicer"},
                                                               {kEven, "Even"},
                                                               {kSpatial, "Spatial"},
                                                               {"mps", "MPS"}};
  constexpr std::tuple<const char*, const char*, std::size_t> kSeries[] = {
      {"pairs_{}_over_left_over", "pairs, while both run", 4},
      {"pairs_finish_{}_over_left_over", "pairs, equal work", 2},
      {"triples_{}_over_left_over", "triples, while all run", 5},
      {"triples_finish_{}_over_left_over", "triples, equal work", 1}};
  for (const auto& [key, name, colour] : kSeries) chart.series.push_back({name, colour});
  for (const auto& [policy, words] : kPolicies) {
    report::RowChart::Row row{words, {}};
    bool any = false;
    for (const auto& [key, name, colour] : kSeries) {
      const auto found = summary.find(fmt::format(fmt::runtime(key), policy));
      report::Point& p = row.points.emplace_back();
      if (found == summary.end()) continue;
      any = true;
      p = {(*found)["geometric_mean"], (*found)["ci"][0], (*found)["ci"][1]};
    }
    constexpr double kPaper = 1.23;  // Warped-Slicer, figure 6, on a simulated GTX 480
    if (policy == std::string(kWarpedSlicer)) row.points.front().published = kPaper;
    if (any) chart.rows.push_back(std::move(row));
  }
  return chart;
}

std::string finding(const json& summary, const std::string& gpu) {
  const auto of = [&](const char* key) {
    return summary.contains(key) ? summary[key].value("geometric_mean", report::kNone) : report::kNone;
  };
  if (summary.contains("pairs_warped_slicer_over_left_over"))
    return fmt::format(
        "{}: Warped-Slicer gives two kernels {} of throughput over Left-Over; {} where each does a fixed amount of work", gpu,
        written(of("pairs_warped_slicer_over_left_over"), Notation::Gain, 1),
        written(of("pairs_finish_warped_slicer_over_left_over"), Notation::Gain, 1));
  if (summary.contains("overhead_mean"))
    return fmt::format("{}: quotas in software cost kernels {:+.1f} % in the mean", gpu,
                       100 * summary["overhead_mean"].get<double>());
  return fmt::format("{}: kernels that a quota would break are launched as they are", gpu);
}

}  // namespace

int write_report(const std::filesystem::path& folder, bool as_json) {
  if (!std::filesystem::exists(folder / "machine.json"))
    throw InputError(fmt::format("{}: holds no machine.json: not a folder of `sluice gpu experiment`", folder.string()));
  const json machine = json::parse(read_file(folder / "machine.json"), nullptr, false);
  if (!machine.is_object()) throw InputError(fmt::format("{}: must be a JSON object", (folder / "machine.json").string()));
  Output out;
  try {
    const unsigned sms = machine.value("sms", 1U);
    for (const char* mixes : {"pairs", "triples"}) {
      mixes_section(folder, mixes, sms, out);
      finish_section(folder, mixes, out);
    }
    ranges_section(folder, sms, out);
    profile_section(folder, sms, out);
    curves_section(folder, out);
    overhead_section(folder, out);
    preemption_section(folder, out);
    gate_section(folder, out);
    verify_section(folder, out);
    user_kernels_section(folder, out);
  } catch (const json::exception& e) {
    throw InputError(fmt::format("{}: a measurement lacks a field or has one of another type: {}", folder.string(), e.what()));
  }
  out.page.title = finding(out.summary, machine.value("name", "A GPU"));
  if (report::RowChart chart = opening(out.summary); !chart.rows.empty())
    out.page.opening.push_back(report::Large{std::move(chart)});
  out.page.provenance = provenance(machine);
  write_file_atomically(folder / "index.html", report::html(out.page));
  if (as_json)
    fmt::print("{}\n", out.summary.dump());
  else
    fmt::print("{}report: {}\n", terminal_text(out.page), (folder / "index.html").string());
  return out.good ? 0 : 1;
}

}  // namespace sluice::gpu
