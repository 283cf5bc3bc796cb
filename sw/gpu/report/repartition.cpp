// Live changes of quotas.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sw/gpu/report/sections.h"
#include "sw/gpu/stats.h"

namespace sluice::gpu {

using nlohmann::json;

void repartition_section(const std::filesystem::path& folder, Output& out) {
  json result = json::array();
  Values arrives, ends, block, slowest;  // block: of the kernels that must leave CTAs, the longer one
  std::size_t late = 0, changes = 0;
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
  write_json(folder / "repartition.json", result);
  out.summary["repartition_late"] = {{"changes", changes}, {"late", late}};
}

}  // namespace sluice::gpu
