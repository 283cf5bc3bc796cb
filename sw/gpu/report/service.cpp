// SPDX-License-Identifier: Apache-2.0
// What a sharing service rests on: what the gate decides, and how a program's stream can wait for work that others launch.
#include <fmt/format.h>

#include "sw/gpu/report/sections.h"
#include "sw/gpu/report/stats.h"

namespace sluice::gpu {

using nlohmann::json;

void gate_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "decided", "bit-identical runs", "evictions", "violations"}};
  for (const json& j : lines(folder / "gate.jsonl")) {
    const bool native = j.contains("refusal");
    out.good = out.good && j["decided"] == j["expected"] && (native || (j["bit_identical"] == j["runs"] && j["violations"] == 0));
    rows.push_back({j["kernel"].get<std::string>(), native ? "native: " + j["decided"].get<std::string>() : "under a quota",
                    native ? "" : fmt::format("{} of {}", j["bit_identical"].get<int>(), j["runs"].get<int>()),
                    native ? "" : std::to_string(j["evictions"].get<int>()),
                    native ? "" : std::to_string(j["violations"].get<int>())});
  }
  if (rows.size() > 1) out.table("The gate's decisions, and outputs under quotas and evictions", rows);
}

void completion_section(const std::filesystem::path& folder, Output& out) {
  std::vector<std::vector<std::string>> gaps = {{"what follows a launch waits by", "p50 us", "p99 us"}};
  std::vector<std::vector<std::string>> held = {
      {"streams that wait", "by", "a kernel in a stream that is", "ends after us", "held up"}};
  std::vector<std::vector<std::string>> orders = {{"CTAs that look", "every", "order lies in", "p50 us", "p99 us"}};
  std::vector<std::vector<std::string>> cost = {{"sleepers", "look every", "time of a kernel that fills the GPU"}};
  for (const json& j : lines(folder / "completion.jsonl")) {
    const std::string key = j["key"].get<std::string>();
    const auto p = [](const json& values, double at) { return fmt::format("{:.2f}", percentile(values.get<Values>(), at)); };
    if (j.contains("refused")) {
      gaps.push_back({key.substr(key.find(' ') + 1), j["refused"].get<std::string>(), ""});
    } else if (j.contains("gap_us")) {
      gaps.push_back({key.substr(key.find(' ') + 1), p(j["gap_us"], 0.5), p(j["gap_us"], 0.99)});
    } else if (j.contains("waiting")) {
      Values us;
      int stuck = 0;
      for (const json& run : j["runs"]) {
        us.push_back(run["us"]);
        stuck += run["held"].get<bool>() ? 1 : 0;
      }
      held.push_back({std::to_string(j["waiting"].get<int>()), j["asleep"].get<bool>() ? "a sleeper" : "a memory operation",
                      j["stream"].get<std::string>(), stuck > 0 ? "-" : fmt::format("{:.0f}", median(us)),
                      fmt::format("{} of {}", stuck, us.size())});
    } else if (j.contains("pinned")) {
      orders.push_back({std::to_string(j["ctas"].get<int>()), fmt::format("{} ns", j["look_ns"].get<int>()),
                        j["pinned"].get<bool>() ? "host memory" : "device memory, by a copy", p(j["us"], 0.5), p(j["us"], 0.99)});
    } else {
      cost.push_back(
          {std::to_string(j["sleepers"].get<int>()), fmt::format("{} ns", j["look_ns"].get<int>()),
           fmt::format("{:+.1f} %",
                       100 * (median(j["seconds_with"].get<Values>()) / median(j["seconds_without"].get<Values>()) - 1))});
    }
  }
  if (gaps.size() > 1) out.table("From a launch's last block to what follows it", gaps);
  if (held.size() > 1) out.table("A kernel beside streams that wait", held);
  if (orders.size() > 1) out.table("From an order to the last CTA that has seen it, round trip to the host", orders);
  if (cost.size() > 1) out.table("What sleepers take from others", cost);
}

}  // namespace sluice::gpu
