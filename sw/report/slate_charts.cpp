// SPDX-License-Identifier: Apache-2.0
// Figures 1, 5 and 7 of Slate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/report/slate_figures.h"
#include "sw/report/summary.h"

namespace sluice::figures {

namespace {

/// Slate over MPS, figure 7: above 1 in all pairs but one.
bool has_published_sign(const std::string& pair, double ratio) { return (ratio > 1) == (pair != "BS_MM"); }

}  // namespace

std::uint32_t saturates_at(const SlateSmCurve& curve) {
  constexpr double kNearly = 0.95;
  double best = 0;
  for (const double value : curve.gigabytes) best = std::fmax(best, value);
  const auto found = std::ranges::find_if(curve.gigabytes, [&](double value) { return value >= kNearly * best; });
  return static_cast<std::uint32_t>(found - curve.gigabytes.begin()) + 1;
}

Figure slate_sm_scaling(const std::vector<SlateSmCurve>& curves) {
  Figure figure{"1", "Bandwidth against the number of SMs", {}, {}, {}, {}};
  figure.published = "Stream's reads are at their peak with 9 of 30 SMs, and stay there.";
  for (const SlateSmCurve& curve : curves) {
    nlohmann::ordered_json values;
    for (const double value : curve.gigabytes)
      values.push_back(std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json());
    figure.data[curve.kernel] = {{"saturates_at", saturates_at(curve)}, {"gigabytes", values}};
    figure.measured +=
        fmt::format("{}{} {}", figure.measured.empty() ? "95 % of the best with: " : ", ", curve.kernel, saturates_at(curve));
  }
  figure.measured += " SMs.";
  return figure;
}

Figure slate_task_sizes(const std::vector<SlateTasksRun>& runs) {
  Figure figure{"5", "Time alone against the size of a task", {}, {}, {}, {}};
  figure.published = "GS takes nearly half the time at 10; BS is 5 % slower than CUDA at 10 and 2 % faster at 1.";
  std::map<std::string, double> single;
  for (const SlateTasksRun& r : runs) {
    if (r.task_size == 1) single[r.kernel] = r.run.milliseconds;
  }
  for (const SlateTasksRun& r : runs) {
    const double ratio = r.run.milliseconds / single.at(r.kernel);
    figure.data[r.kernel][fmt::format("{}", r.task_size)] = ratio;
    if (r.task_size == 10)
      figure.measured +=
          fmt::format("{}{} {:+.1f} %", figure.measured.empty() ? "Time with tasks of ten: " : ", ", r.kernel, 100 * (ratio - 1));
  }
  figure.measured += ".";
  return figure;
}

std::map<std::string, double> pair_makespans(const ScheduleRun& run) {
  std::map<std::string, double> makespans;
  std::map<std::string, int> members;
  for (const LaunchOutcome& job : run.jobs) {
    const std::size_t dot = job.name.rfind('.');
    const std::string pair = job.name.substr(0, dot), member = dot == std::string::npos ? "" : job.name.substr(dot + 1);
    if (member != "1" && member != "2") throw InputError(fmt::format("job {}: must be named PAIR.1 or PAIR.2", job.name));
    double& longest = makespans[pair];
    longest = std::max(longest, std::chrono::duration<double, std::milli>(job.turnaround).count());
    ++members[pair];
  }
  for (const auto& [pair, count] : members)
    if (count != 2) throw InputError(fmt::format("pair {}: {} jobs: must be PAIR.1 and PAIR.2", pair, count));
  return makespans;
}

Figure slate_set_up_figure(const std::vector<SlateSetUp>& runs, const ScheduleRun& slate) {
  Figure figure{"7-set-up", "The 15 pairs, if setting up a CTA takes longer", {}, {}, {}, {}};
  figure.published = "no figure: Slate's workers \"reduce the thread setup time\"";
  const std::map<std::string, double> own = pair_makespans(slate);
  for (const SlateSetUp& run : runs) {
    const std::map<std::string, double> left_over = pair_makespans(run.left_over);
    std::vector<double> ratios;
    std::size_t right = 0;
    for (const auto& [pair, ms] : own) {
      ratios.push_back(left_over.at(pair) / ms);
      right += has_published_sign(pair, ratios.back()) ? 1 : 0;
    }
    const double mean = geometric_mean_of_known(ratios);
    figure.data.push_back({{"cycles", run.cycles}, {"mean", mean}, {"published_sign", right}, {"pairs", ratios}});
    figure.measured += fmt::format("{}{} cycles: {:+.1f} %, the published sign in {} of {} pairs",
                                   figure.measured.empty() ? "" : "; ", run.cycles, 100 * (mean - 1), right, own.size());
  }
  return figure;
}

Figure slate_pairs_figure(const std::vector<ScheduleRun>& runs) {
  Figure figure{"7", "The 15 pairs", {}, {}, {}, {}};
  figure.published =
      "Slate over MPS: +11 % in the mean, RG-GS +35 %, MM-BS -2 %, all others above 0; RG with every other kernel "
      "at once, all others one after the other. MPS over CUDA: +6 %.";
  const auto base = std::ranges::find(runs, "left_over", &ScheduleRun::scheduler);
  if (base == runs.end()) throw InputError("figure 7: scheduler left_over is missing");
  const std::map<std::string, double> left_over = pair_makespans(*base);
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& [pair, ms] : left_over) {
    for (const ScheduleRun& run : runs) {
      if (run.scheduler == "left_over") continue;
      const double ratio = ms / pair_makespans(run).at(pair);
      ratios[run.scheduler].push_back(ratio);
      figure.data["pairs"][pair][run.scheduler] = ratio;
    }
  }
  for (const ScheduleRun& run : runs) {
    if (run.scheduler == "left_over") continue;
    const double all = geometric_mean_of_known(ratios[run.scheduler]);
    std::size_t right = 0, k = 0;
    for (const auto& [pair, ms] : left_over) right += has_published_sign(pair, ratios[run.scheduler][k++]) ? 1 : 0;
    figure.data["mean"][run.scheduler] = all;
    figure.data["published_sign"][run.scheduler] = right;
    figure.measured += fmt::format("{}{}: {:+.1f} %, the published sign in {} of {} pairs", figure.measured.empty() ? "" : "; ",
                                   run.scheduler, 100 * (all - 1), right, left_over.size());
  }
  figure.measured += ".";
  return figure;
}

}  // namespace sluice::figures
