// SPDX-License-Identifier: Apache-2.0
// Live changes of quotas.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"

namespace sluice::gpu {

using nlohmann::json;

void repartition_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  json result = json::array();
  std::set<std::string> first;           // kernels that had the GPU alone in pairs with late changes
  Values arrives, ends, block, slowest;  // block: of the kernels that must leave CTAs, the longer one
  std::size_t late = 0, changes = 0, draining = 0;
  Values missing;  // of the late ones: part of a kernel's CTAs that had no place
  for (const json& j : lines(folder / "repartition.jsonl")) {
    json entry = {{"kernels", j["kernels"]}, {"block_us", j["block_us"]}, {"quota_violations", j["violations"]}};
    std::size_t late_here = 0;
    Values here;
    const auto collect = [&](const char* direction, Values& all) {
      Values us;
      for (const json& change : j[direction]) {
        ++changes;
        if (!change["in_force"].get<bool>()) {
          ++late_here;
          double most = 0;
          for (std::size_t k = 0; k < j["ctas"].size(); ++k) {
            const double wanted =
                (std::string_view(direction) == "ends" ? (k == 0 ? j["alone"] : json(0)) : j["ctas"][k]).get<double>();
            if (wanted > 0) most = std::max(most, change["missing"][k].get<double>() / (wanted * sms));
            draining += change["draining"][k].get<std::size_t>();
          }
          missing.push_back(most);
          continue;
        }
        us.push_back(change["us"]);
      }
      all.insert(all.end(), us.begin(), us.end());
      here.insert(here.end(), us.begin(), us.end());
      entry[fmt::format("{}_p50_us", direction)] = us.empty() ? json() : json(median(us));
    };
    collect("arrives", arrives);
    collect("ends", ends);
    entry["late"] = late_here;
    if (late_here > 0) first.insert(j["kernels"][0].get<std::string>());
    late += late_here;
    out.good = out.good && j["violations"] == 0;
    if (!here.empty()) {
      block.push_back(percentile(j["block_us"].get<Values>(), 1));
      slowest.push_back(median(here));
    }
    result.push_back(entry);
  }
  if (result.empty() || arrives.empty() || ends.empty()) return;
  // Against block length: pairs in order of their longer block, by thirds.
  std::vector<std::size_t> order(block.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return block[i]; });
  std::vector<std::vector<std::string>> rows = {
      {"pairs, by the longer block", "block us", "change us, median of the pairs' p50"}};
  for (std::size_t third = 0; third < 3; ++third) {
    Values b, s;
    for (std::size_t i = third * order.size() / 3; i < (third + 1) * order.size() / 3; ++i) {
      b.push_back(block[order[i]]);
      s.push_back(slowest[order[i]]);
    }
    if (b.empty()) continue;
    rows.push_back({std::to_string(b.size()), fmt::format("{:.0f} .. {:.0f}", percentile(b, 0), percentile(b, 1)),
                    fmt::format("{:.0f}", median(s))});
  }
  out.table("Repartition while all run, until every SM holds its new quota", rows);
  out.note(
      fmt::format("A kernel arrives: p50 {:.0f} us, p99 {:.0f} us; a kernel ends: p50 {:.0f} us, p99 {:.0f} us ({} pairs). {} of "
                  "{} changes were "
                  "not in force within 10 ms. Rank correlation with the length of the longer block: {:.2f}.",
                  median(arrives), percentile(arrives, 0.99), median(ends), percentile(ends, 0.99), result.size(), late, changes,
                  rank_correlation(block, slowest)));
  if (!missing.empty())
    out.note(
        fmt::format("In those that were not, {} CTAs above their quota were still at work: no block was too long. What lacked "
                    "was room for a few: "
                    "{:.1f} % of a kernel's CTAs, median, {:.1f} % at most, in pairs that begin with {}.",
                    draining, 100 * median(missing), 100 * percentile(missing, 1), fmt::join(first, " or ")));
  write_json(folder / "repartition.json", result);
  out.summary["repartition_late"] = {{"changes", changes}, {"late", late}};
}

}  // namespace sluice::gpu
