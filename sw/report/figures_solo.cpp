// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/charts.h"
#include "sw/report/figures.h"

namespace sluice::figures {

namespace {

struct Reason {
  const char* name;
  const char* key;
  std::uint64_t StallCycles::*member;
  std::size_t colour;
};
constexpr Reason kReasons[] = {{"long memory latency", "long_memory", &StallCycles::long_memory, 5},
                               {"execution resource", "execution_resource", &StallCycles::execution_resource, 1},
                               {"short RAW", "raw", &StallCycles::raw, 2},
                               {"i-buffer empty", "instruction_buffer", &StallCycles::instruction_buffer, 6},
                               {"barrier", "barrier", &StallCycles::barrier, 4},
                               {"idle (no warp)", "idle", &StallCycles::idle, 0}};

}  // namespace

Figure stalls_alone(const Solos& solos) {
  Figure figure{"1", "Cycles in which nothing is issued, by reason, each application alone", {}, {}, {}, {}};
  figure.published =
      "Long memory latency and execution resources together waste 40 % of the cycles on average; DXT mostly waits for "
      "instruction "
      "fetch, BFS for memory.";
  charts::StackedBars chart;
  chart.title = "Issuing and stalled SM-cycles";
  chart.x_label = "share of SM-cycles";
  chart.series.push_back({"issuing", 3});
  for (const Reason& reason : kReasons) chart.series.push_back({reason.name, reason.colour});
  double sum = 0;
  for (const auto& [name, run] : solos) {
    charts::StackedBars::Row row{name, {1.0}};
    for (const Reason& reason : kReasons) {
      const double share = static_cast<double>(run.stalls.*reason.member) / static_cast<double>(run.sm_cycles);
      row.parts.push_back(share);
      row.parts.front() -= share;
      figure.data[name][reason.key] = share;
    }
    sum += row.parts[1] + row.parts[2];
    chart.rows.push_back(std::move(row));
  }
  figure.measured = fmt::format("Long memory latency and execution resources: {:.0f} % on average.",
                                100 * sum / static_cast<double>(std::max<std::size_t>(1, solos.size())));
  figure.html = charts::legend(chart.series) + charts::stacked_bars(chart);
  return figure;
}

Figure occupancy_curves(const EvalResults& results) {
  Figure figure{"3a", "Performance against CTAs on an SM", {}, {}, {}, {}};
  figure.published = "HOT keeps rising, IMG saturates, BLK saturates early, NN and MVP peak before the SM is full.";
  charts::Lines chart;
  chart.title = "IPC over the kernel's best";
  chart.x_label = "CTAs per SM";
  chart.y_label = "normalised IPC";
  std::string peaks;
  for (const SoloRun& solo : results.solo) {
    if (solo.curve.empty()) continue;
    const double best = *std::ranges::max_element(solo.curve);
    std::vector<double> values;
    for (const double ipc : solo.curve) values.push_back(ipc / best);
    figure.data[solo.kernel] = values;
    const auto peak = std::ranges::max_element(solo.curve) - solo.curve.begin() + 1;
    if (static_cast<std::size_t>(peak) < solo.curve.size() && solo.curve.back() < 0.97 * best)
      peaks += fmt::format("{}{} at {} of {}", peaks.empty() ? "" : ", ", solo.kernel, peak, solo.curve.size());
    chart.lines.push_back({{solo.kernel, chart.lines.size()}, std::move(values), fmt::format("{:.0f} IPC", best)});
  }
  figure.measured =
      peaks.empty() ? "No kernel loses more than 3 % at full occupancy." : "Peak before the SM is full: " + peaks + ".";
  std::vector<charts::Series> series;
  for (const auto& line : chart.lines) series.push_back(line.series);
  figure.html = charts::legend(series) + charts::line_chart(chart);
  return figure;
}

Figure phase_stability(const std::vector<PhaseSample>& samples) {
  Figure figure{"5", "A 5 K-cycle window against a 50 K-cycle one", {}, {}, {}, {}};
  figure.published =
      "IPC and the share of cycles stalled on memory of the first 5 K cycles characterise 50 K cycles fairly accurately.";
  charts::GroupedBars chart;
  chart.title = "IPC of the short window over that of the long one";
  chart.y_label = "ratio";
  chart.series = {{"IPC", 0}};
  chart.baseline = 1.0;
  double worst = 0, worst_stall = 0;
  for (const PhaseSample& s : samples) {
    chart.groups.push_back({s.kernel, false, {{s.short_ipc / s.long_ipc, false, ""}}});
    figure.data[s.kernel] = {
        {"ipc_5k", s.short_ipc}, {"ipc_50k", s.long_ipc}, {"phi_mem_5k", s.short_stall}, {"phi_mem_50k", s.long_stall}};
    worst = std::max(worst, std::abs(s.short_ipc / s.long_ipc - 1));
    worst_stall = std::max(worst_stall, std::abs(s.short_stall - s.long_stall));
  }
  figure.measured =
      fmt::format("IPC differs by {:.0f} % at most, the memory stall share by {:.0f} points.", 100 * worst, 100 * worst_stall);
  figure.html = charts::grouped_bars(chart);
  return figure;
}

}  // namespace sluice::figures
