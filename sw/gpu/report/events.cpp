// SPDX-License-Identifier: Apache-2.0
// Live changes of quotas, and what a sharing service rests on: what the gate decides, and how a program's stream can wait for
// work that others launch.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "sw/gpu/report/sections.h"

namespace sluice::gpu {

using nlohmann::json;

void repartition_section(const std::filesystem::path& folder, unsigned sms, Output& out) {
  json result = json::array();
  std::set<std::string> first;           // kernels that had the GPU alone in pairs with late changes
  Values arrives, ends, block, slowest;  // block: of the kernels that must leave CTAs, the longer one
  std::size_t late = 0, changes = 0, draining = 0;
  Values missing;  // of the late ones: part of a kernel's CTAs that had no place
  report::LineChart chart{"", "the pair's longer block, us", "until the quotas are in force, us"};
  chart.log_x = chart.log_y = true;
  chart.lines = {{{"a kernel arrives", 4}, {}, false}, {{"a kernel ends", 1}, {}, false}};
  for (const json& j : lines(folder / "repartition.jsonl")) {
    json entry = {{"kernels", j["kernels"]}, {"block_us", j["block_us"]}, {"quota_violations", j["violations"]}};
    std::size_t late_here = 0;
    Values here;
    const double longest = percentile(j["block_us"].get<Values>(), 1);
    const auto collect = [&](const char* direction, Values& all, report::LineChart::Line& line) {
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
      if (us.empty()) return;
      line.points.emplace_back(longest, median(us));
      line.notes.push_back(fmt::format("{}, {}: {:.0f} us", fmt::join(j["kernels"].get<std::vector<std::string>>(), " "),
                                       line.series.name, median(us)));
    };
    collect("arrives", arrives, chart.lines[0]);
    collect("ends", ends, chart.lines[1]);
    entry["late"] = late_here;
    if (late_here > 0) first.insert(j["kernels"][0].get<std::string>());
    late += late_here;
    out.good = out.good && j["violations"] == 0;
    if (!here.empty()) {
      block.push_back(longest);
      slowest.push_back(median(here));
    }
    result.push_back(entry);
  }
  if (result.empty() || arrives.empty() || ends.empty()) return;
  std::string text = fmt::format(
      "A kernel arrives: {:.0f} us (median), {:.0f} us (99th percentile). A kernel ends: {:.0f} and {:.0f} us. The time goes "
      "with the "
      "length of the pair's longer block (rank correlation {:.2f}).",
      median(arrives), percentile(arrives, 0.99), median(ends), percentile(ends, 0.99), rank_correlation(block, slowest));
  if (!missing.empty())
    text += fmt::format(
        " {} of {} changes were not in force within 10 ms. There {} CTAs above their quota were still at work; what lacked was "
        "room for {:.1f} % of a kernel's CTAs in the median, in pairs that begin with {}.",
        late, changes, draining, 100 * median(missing), fmt::join(first, " or "));
  out.section("repartition", fmt::format("New quotas are in force on every SM {:.0f} us after a kernel arrives", median(arrives)),
              text)
      .blocks.push_back(report::Large{chart});
  write_json(folder / "repartition.json", result);
  out.summary["repartition_late"] = {{"changes", changes}, {"late", late}};
}

void gate_section(const std::filesystem::path& folder, Output& out) {
  report::Table table({"kernel", report::words("decided"), "bit-identical runs", "evictions", "violations"});
  for (const json& j : lines(folder / "gate.jsonl")) {
    const bool native = j.contains("refusal");
    out.good = out.good && j["decided"] == j["expected"] && (native || (j["bit_identical"] == j["runs"] && j["violations"] == 0));
    table.row({j["kernel"].get<std::string>(), native ? "as it is: " + j["decided"].get<std::string>() : "under a quota",
               native ? "" : fmt::format("{} of {}", j["bit_identical"].get<int>(), j["runs"].get<int>()),
               native ? "" : j["evictions"].dump(), native ? "" : j["violations"].dump()});
  }
  if (!table.empty())
    out.section(
           "gate", "Kernels that a quota would break are launched as they are",
           "What is decided of each kernel, and whether outputs under quotas and evictions are those of the kernel as it is.")
        .blocks.emplace_back(table);
}

void completion_section(const std::filesystem::path& folder, Output& out) {
  report::RowChart gaps{"From a launch's last block to what follows it", "microseconds", {{"median", 4}, {"99th percentile", 2}}};
  gaps.log = true;
  report::RowChart orders = gaps;
  orders.title = "From an order to the last CTA that has seen it, with the way to the host and back";
  report::RowChart cost{"Time of a kernel that fills the GPU, beside sleepers"};
  cost.notation = report::Notation::Gain;
  cost.digits = 1;
  cost.baseline = 1;
  report::Table held({"streams that wait", "by", "a kernel in a stream that is", "ends after, us", "held up"});
  std::vector<std::string> refused;
  for (const json& j : lines(folder / "completion.jsonl")) {
    const std::string key = j["key"].get<std::string>(), way = key.substr(key.find(' ') + 1);
    const auto both = [](const json& values) {
      const Values us = values.get<Values>();
      return std::vector<report::Point>{median_point(us), {percentile(us, 0.99)}};
    };
    if (j.contains("refused")) {
      refused.push_back(way + " (" + j["refused"].get<std::string>() + ")");
    } else if (j.contains("gap_us")) {
      gaps.rows.push_back({way, both(j["gap_us"])});
    } else if (j.contains("waiting")) {
      Values us;
      int stuck = 0;
      for (const json& run : j["runs"]) {
        us.push_back(run["us"]);
        stuck += run["held"].get<bool>() ? 1 : 0;
      }
      held.row({j["waiting"].dump(), j["asleep"].get<bool>() ? "a sleeper" : "a memory operation", j["stream"].get<std::string>(),
                stuck > 0 ? "–" : fmt::format("{:.0f}", median(us)), fmt::format("{} of {}", stuck, us.size())});
    } else if (j.contains("pinned")) {
      orders.rows.push_back({fmt::format("{} CTAs look every {} ns at {} memory", j["ctas"].get<int>(), j["look_ns"].get<int>(),
                                         j["pinned"].get<bool>() ? "host" : "device"),
                             both(j["us"])});
    } else {
      cost.rows.push_back({fmt::format("{} sleepers look every {} ns", j["sleepers"].get<int>(), j["look_ns"].get<int>()),
                           {{median(j["seconds_with"].get<Values>()) / median(j["seconds_without"].get<Values>())}}});
    }
  }
  if (gaps.rows.empty()) return;
  out.section("completion", "How a program's stream waits for work that others launch",
              refused.empty() ? "" : fmt::format("Not possible on this GPU: {}.", fmt::join(refused, "; ")))
      .blocks.insert(out.page.sections.back().blocks.end(),
                     {report::Large{gaps}, report::Folded{"A kernel beside streams that wait", held}, report::Large{orders},
                      report::Large{cost}});
}

}  // namespace sluice::gpu
