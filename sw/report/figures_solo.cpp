// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/figures.h"

namespace sluice::figures {

Figure stalls_alone(const Solos& solos) {
  Figure figure{"1", "Cycles in which nothing is issued, by reason, each application alone", {}, {}, {}, {}};
  figure.published =
      "Long memory latency and execution resources together waste 40 % of the cycles on average; DXT mostly waits for "
      "instruction "
      "fetch, BFS for memory.";
  double sum = 0;
  for (const auto& [name, run] : solos) {
    for (const auto& [reason, member] : kStallFields)
      figure.data[name][reason] = static_cast<double>(run.stalls.*member) / static_cast<double>(run.sm_cycles);
    sum += figure.data[name]["long_memory"].get<double>() + figure.data[name]["execution_resource"].get<double>();
  }
  figure.measured = fmt::format("Long memory latency and execution resources: {:.0f} % on average.",
                                100 * sum / static_cast<double>(std::max<std::size_t>(1, solos.size())));
  return figure;
}

Figure occupancy_curves(const EvalResults& results) {
  Figure figure{"3a", "Performance against CTAs on an SM", {}, {}, {}, {}};
  figure.published = "HOT keeps rising, IMG saturates, BLK saturates early, NN and MVP peak before the SM is full.";
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
  }
  figure.measured =
      peaks.empty() ? "No kernel loses more than 3 % at full occupancy." : "Peak before the SM is full: " + peaks + ".";
  return figure;
}

Figure phase_stability(const std::vector<PhaseSample>& samples) {
  Figure figure{"5", "A 5 K-cycle window against a 50 K-cycle one", {}, {}, {}, {}};
  figure.published =
      "IPC and the share of cycles stalled on memory of the first 5 K cycles characterise 50 K cycles fairly accurately.";
  double worst = 0, worst_stall = 0;
  for (const PhaseSample& s : samples) {
    figure.data[s.kernel] = {
        {"ipc_5k", s.short_ipc}, {"ipc_50k", s.long_ipc}, {"phi_mem_5k", s.short_stall}, {"phi_mem_50k", s.long_stall}};
    worst = std::max(worst, std::abs(s.short_ipc / s.long_ipc - 1));
    worst_stall = std::max(worst_stall, std::abs(s.short_stall - s.long_stall));
  }
  figure.measured =
      fmt::format("IPC differs by {:.0f} % at most, the memory stall share by {:.0f} points.", 100 * worst, 100 * worst_stall);
  return figure;
}

}  // namespace sluice::figures
