// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sw/policy/names.h"
#include "sw/report/figure_data.h"
#include "sw/report/figures.h"

namespace sluice::figures {

namespace {

/// Runs of warped_slicer by mix name.
std::map<std::string, const EvalRun*> sliced(const EvalResults& results) {
  std::map<std::string, const EvalRun*> runs;
  for (const EvalRun& run : results.runs) {
    if (run.policy == kWarpedSlicer) runs[mix_name(run.kernels)] = &run;
  }
  return runs;
}

}  // namespace

Figure profiling_sensitivity(const std::vector<Variant>& variants) {
  Figure figure{"10a", "Length of the profile, delay of the algorithm", {}, {}, {}, {}};
  figure.published = "Over all pairs IPC varies by at most 2 % with the profile's length and by less than 1.5 % with the delay.";
  const auto base = sliced(*variants.front().results);
  for (const Variant& variant : variants) {
    std::vector<double> ratios;
    std::size_t same = 0, beyond = 0;
    std::string furthest;
    double largest = 0;  // signed
    for (const auto& [name, run] : sliced(*variant.results)) {
      const double deviation = run->ipc / base.at(name)->ipc - 1;
      ratios.push_back(deviation + 1);
      if (std::abs(deviation) > variant.published_limit) ++beyond;
      if (furthest.empty() || std::abs(deviation) > std::abs(largest)) {
        largest = deviation;
        furthest = name;
      }
      if (run->partition == base.at(name)->partition) ++same;
    }
    const double mean = geometric_mean_of_known(ratios);
    const std::string text = fmt::format(
        "largest {:+.1f} % ({}), {} of {} pairs beyond {:.1f} %, mean {:+.2f} %, {} of {} partitions the same", 100 * largest,
        furthest, beyond, ratios.size(), 100 * variant.published_limit, 100 * (mean - 1), same, ratios.size());
    figure.data[variant.label] = {{"ipc", mean},
                                  {"largest_deviation", largest},
                                  {"pair_of_largest_deviation", furthest},
                                  {"published_limit", variant.published_limit},
                                  {"pairs_beyond_limit", beyond},
                                  {"same_partitions", same},
                                  {"pairs", ratios.size()}};
    if (&variant == &variants.front()) continue;
    figure.measured += fmt::format("{}{}: {}", figure.measured.empty() ? "" : "; ", variant.label, text);
  }
  figure.measured += fmt::format(". All against {}.", variants.front().label);
  return figure;
}

Figure scheduler_sensitivity(const std::vector<Variant>& variants) {
  Figure figure{"10b", "Warp schedulers", {}, {}, {}, {}};
  figure.published =
      "The gain does not depend on the warp scheduler (greedy-then-oldest, round robin; two-level is not in the paper).";
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Variant& variant : variants) {
    const double ratio = mean_ratio(*variant.results, kWarpedSlicer, kLeftOver, ipc);
    figure.data[variant.label] = ratio;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    figure.measured += fmt::format("{}{} {}", figure.measured.empty() ? "" : ", ", variant.label, percent_over(ratio));
  }
  figure.measured += fmt::format(" over Left-Over: {:.1f} points from the least to the most.", 100 * (most - least));
  return figure;
}

Figure phase_monitor(const EvalResults& off, const EvalResults& on) {
  Figure figure{"monitor", "Kernels that change in mid-run: phase monitor off and on", {}, {}, {}, {}};
  figure.published = "No figure: the paper profiles again when a kernel's IPC has moved for a while (section IV).";
  const auto without = sliced(off), with = sliced(on);
  std::vector<double> gains;
  for (const auto& [name, run] : with) {
    const EvalRun& base = *without.at(name);
    figure.data[name] = {{"ipc_off", base.normalized_ipc},
                         {"ipc_on", run->normalized_ipc},
                         {"decisions_off", base.decisions.size()},
                         {"decisions_on", run->decisions.size()}};
    gains.push_back(run->ipc / base.ipc);
    figure.measured += fmt::format("{} {} with {} decisions instead of {}; ", name, percent_over(gains.back()),
                                   run->decisions.size(), base.decisions.size());
  }
  figure.measured += fmt::format("all {}.", percent_over(geometric_mean_of_known(gains)));
  return figure;
}

Figure larger_sm(const EvalResults& results) {
  Figure figure{"larger_sm", "A larger SM: 256 KB of registers, 96 KB of shared memory, 32 CTAs, 64 warps", {}, {}, {}, {}};
  figure.published = "Warped-Slicer +26 % performance and +26 % fairness over Left-Over.";
  const double speed = mean_ratio(results, kWarpedSlicer, kLeftOver, ipc);
  const double fair = mean_ratio(results, kWarpedSlicer, kLeftOver, [](const EvalRun& run) { return run.min_speedup; });
  figure.data = {{"ipc", speed}, {"min_speedup", fair}};
  figure.measured = fmt::format("Performance {}, minimum speed-up {} over Left-Over.", percent_over(speed), percent_over(fair));
  return figure;
}

}  // namespace sluice::figures
