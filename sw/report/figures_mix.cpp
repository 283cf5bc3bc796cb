// SPDX-License-Identifier: Apache-2.0
// Performance and fairness of mixes, also under other settings and on a larger SM.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "sw/policy/names.h"
#include "sw/report/figure_data.h"
#include "sw/report/paper_figures.h"

namespace sluice::figures {

namespace {

double min_speedup(const EvalRun& run) { return run.min_speedup; }
double antt(const EvalRun& run) { return run.antt; }

bool has_two_compute_kernels(const EvalRun& run) {
  std::size_t found = 0;
  for (std::size_t at = run.category.find("compute"); at != std::string::npos; at = run.category.find("compute", at + 1)) ++found;
  return found == 2;
}

/// How many mixes Warped-Slicer is below another policy in, and the one it is furthest below in.
std::string losses(const EvalResults& results, const char* over, nlohmann::ordered_json& data) {
  const ResultGrid grid(results);
  std::vector<std::pair<double, std::string>> below;
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun *ours = grid.run(mix, kWarpedSlicer), *theirs = grid.run(mix, over);
    if (ours != nullptr && theirs != nullptr && ours->ipc < theirs->ipc) below.emplace_back(ours->ipc / theirs->ipc, mix.name);
  }
  std::ranges::sort(below);
  data["below"][over] = nlohmann::ordered_json::object();
  for (const auto& [ratio, name] : below) data["below"][over][name] = ratio;
  if (below.empty()) return fmt::format("{} in none", policy_label(over));
  return fmt::format("{} in {} ({} {:.3f})", policy_label(over), below.size(), below.front().second, below.front().first);
}

/// How far the Oracle and balance are above Left-Over; empty where they were not asked for.
std::string others_over_left_over(const EvalResults& results, nlohmann::ordered_json& data) {
  std::string text;
  for (const auto& [policy, label] : {std::pair{kOracle, "The Oracle"}, std::pair{kBalance, "balance"}}) {
    const double ratio = mean_ratio(results, policy, kLeftOver, ipc);
    if (!std::isfinite(ratio)) continue;
    data[fmt::format("{}_over_left_over", policy)] = ratio;
    text += fmt::format(" {} {} over Left-Over.", label, percent_over(ratio));
  }
  return text;
}

/// Runs of warped_slicer by mix name.
std::map<std::string, const EvalRun*> sliced(const EvalResults& results) {
  std::map<std::string, const EvalRun*> runs;
  for (const EvalRun& run : results.runs) {
    if (run.policy == kWarpedSlicer) runs[mix_name(run.kernels)] = &run;
  }
  return runs;
}

}  // namespace

Figure pair_performance(const EvalResults& pairs) {
  Figure figure{
      "6", "All pairs under every policy",
      "Warped-Slicer +23 % over Left-Over, +14 % over Even, +17 % over Spatial (means of 30 pairs). Both intra-SM policies, Even "
      "and Warped-Slicer, are better than Spatial."};
  const auto over = [&](const char* base) {
    const double ratio = mean_ratio(pairs, kWarpedSlicer, base, ipc);
    figure.data["warped_slicer_over"][base] = ratio;
    return percent_over(ratio);
  };
  const std::string left = over(kLeftOver), even = over(kEven), spatial = over(kSpatial);
  const double even_gain = mean_ratio(pairs, kEven, kLeftOver, ipc), spatial_gain = mean_ratio(pairs, kSpatial, kLeftOver, ipc);
  figure.data["even_over_left_over"] = even_gain;
  figure.data["spatial_over_left_over"] = spatial_gain;
  const Summary summary = summarize(pairs);
  const PolicySummary* ours = summary.find(kWarpedSlicer, "all");
  const double categories = ours == nullptr ? std::nan("") : ours->category_mean;
  if (std::isfinite(categories)) figure.data["warped_slicer_over_left_over_of_categories"] = categories;
  figure.measured =
      fmt::format(
          "Warped-Slicer {} over Left-Over ({} as the mean of the categories), {} over Even, {} over Spatial. Even {}, "
          "Spatial {} over Left-Over.",
          left, percent_over(categories), even, spatial, percent_over(even_gain), percent_over(spatial_gain)) +
      others_over_left_over(pairs, figure.data);
  std::string below;
  for (const char* policy : {kLeftOver, kFcfs, kEven, kSpatial})
    below += (below.empty() ? "" : ", ") + losses(pairs, policy, figure.data);
  figure.measured += fmt::format(" Warped-Slicer is below {}.", below);
  return figure;
}

Figure triple_performance(const EvalResults& triples) {
  Figure figure{
      "8", "Three applications on an SM",
      "Warped-Slicer +21 % over Even (mean of all combinations with a compute application; the bars are those with two)."};
  const double ratio = mean_ratio(triples, kWarpedSlicer, kEven, ipc);
  figure.data["warped_slicer_over_even"] = ratio;
  figure.data["mixes"] = ResultGrid(triples).mixes().size();
  figure.measured = fmt::format("{} mixes: Warped-Slicer {} over Even, {} over Left-Over.", ResultGrid(triples).mixes().size(),
                                percent_over(ratio), percent_over(mean_ratio(triples, kWarpedSlicer, kLeftOver, ipc))) +
                    others_over_left_over(triples, figure.data);
  EvalResults bars;
  std::ranges::copy_if(triples.runs, std::back_inserter(bars.runs), has_two_compute_kernels);
  if (const std::size_t number = ResultGrid(bars).mixes().size(); number > 0 && bars.runs.size() < triples.runs.size()) {
    const double of_bars = mean_ratio(bars, kWarpedSlicer, kEven, ipc);
    figure.data["two_compute"] = {{"mixes", number}, {"warped_slicer_over_even", of_bars}};
    figure.measured += fmt::format(" The {} with two compute applications: {} over Even, {} over Left-Over.", number,
                                   percent_over(of_bars), percent_over(mean_ratio(bars, kWarpedSlicer, kLeftOver, ipc)));
  }
  return figure;
}

Figure triples_without_guard(const EvalResults& triples, const EvalResults& unguarded) {
  Figure figure{"guard", "Three applications without the loss guard",
                "As figures 8 and 9: Warped-Slicer +21 % over Even; minimum speed-up +23 %, ANTT 15 % lower."};
  EvalResults merged = triples;
  std::erase_if(merged.runs, [](const EvalRun& run) { return run.policy == kWarpedSlicer; });
  std::ranges::copy_if(unguarded.runs, std::back_inserter(merged.runs),
                       [](const EvalRun& run) { return run.policy == kWarpedSlicer; });
  normalize_to_left_over(merged);
  const double over_even = mean_ratio(merged, kWarpedSlicer, kEven, ipc);
  const double least = mean_ratio(merged, kWarpedSlicer, kEven, min_speedup);
  const double turnaround = mean_ratio(merged, kWarpedSlicer, kEven, antt);
  figure.data["over_even"] = {{"ipc", over_even}, {"min_speedup", least}, {"antt", turnaround}};
  figure.measured = fmt::format("Warped-Slicer {} over Even, {} over Left-Over; minimum speed-up over Even {}, ANTT {}.",
                                percent_over(over_even), percent_over(mean_ratio(merged, kWarpedSlicer, kLeftOver, ipc)),
                                percent_over(least), percent_over(turnaround));
  return figure;
}

Figure fairness(const EvalResults& pairs, const EvalResults& triples) {
  Figure figure{"9", "Fairness: minimum speed-up and average normalised turnaround time",
                "Minimum speed-up over Even: +14 % with two kernels, +23 % with three; ANTT 15 % lower with three."};
  const double two = mean_ratio(pairs, kWarpedSlicer, kEven, min_speedup),
               three = mean_ratio(triples, kWarpedSlicer, kEven, min_speedup);
  const double antt_three = mean_ratio(triples, kWarpedSlicer, kEven, antt),
               antt_two = mean_ratio(pairs, kWarpedSlicer, kEven, antt);
  figure.data["over_even"] = {{"min_speedup_2", two}, {"min_speedup_3", three}, {"antt_2", antt_two}, {"antt_3", antt_three}};
  figure.measured = fmt::format("Minimum speed-up over Even: {} with two, {} with three; ANTT {} and {}.", percent_over(two),
                                percent_over(three), percent_over(antt_two), percent_over(antt_three));
  for (const auto& [name, results] : {std::pair{"2 kernels", &pairs}, std::pair{"3 kernels", &triples}}) {
    category_means(*results, min_speedup, figure.data["min_speedup"][name]);
    category_means(*results, antt, figure.data["antt"][name]);
  }
  return figure;
}

Figure profiling_sensitivity(const std::vector<Variant>& variants) {
  Figure figure{"10a", "Length of the profile, delay of the algorithm",
                "Over all pairs IPC varies by at most 2 % with the profile's length and by less than 1.5 % with the delay."};
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
  Figure figure{
      "10b", "Warp schedulers",
      "The gain does not depend on the warp scheduler (greedy-then-oldest, round robin; two-level is not in the paper)."};
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
  Figure figure{"monitor", "Kernels that change in mid-run: phase monitor off and on",
                "No figure: the paper profiles again when a kernel's IPC has moved for a while (section IV)."};
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
  Figure figure{"larger_sm", "A larger SM: 256 KB of registers, 96 KB of shared memory, 32 CTAs, 64 warps",
                "Warped-Slicer +26 % performance and +26 % fairness over Left-Over."};
  const double speed = mean_ratio(results, kWarpedSlicer, kLeftOver, ipc);
  const double fair = mean_ratio(results, kWarpedSlicer, kLeftOver, [](const EvalRun& run) { return run.min_speedup; });
  figure.data = {{"ipc", speed}, {"min_speedup", fair}};
  figure.measured = fmt::format("Performance {}, minimum speed-up {} over Left-Over.", percent_over(speed), percent_over(fair));
  return figure;
}

}  // namespace sluice::figures
