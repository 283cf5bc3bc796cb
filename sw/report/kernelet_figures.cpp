// SPDX-License-Identifier: Apache-2.0
#include "sw/report/paper_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice::figures {

namespace {

using nlohmann::ordered_json;

constexpr double kBand = 0.2;  ///< of peak IPC: the paper's lines y = x +- 0.2 and +- 1.6 of 8

struct Within {
  std::size_t points = 0, inside = 0;
  double mean = 0, worst = 0;
  [[nodiscard]] double share() const { return points == 0 ? NAN : static_cast<double>(inside) / static_cast<double>(points); }
};

template <class Keep>
Within within(const std::vector<PairPoint>& points, const Keep& keep) {
  Within w;
  for (const PairPoint& p : points) {
    if (!keep(p)) continue;
    const double error = std::abs(p.predicted - p.measured);
    ++w.points;
    w.inside += error <= kBand ? 1 : 0;
    w.mean += error;
    w.worst = std::max(w.worst, error);
  }
  if (w.points > 0) w.mean /= static_cast<double>(w.points);
  return w;
}

ordered_json to_json(const Within& w) {
  return {{"points", w.points}, {"within_20", w.inside}, {"mean_error", w.mean}, {"largest_error", w.worst}};
}

std::string variant(const CopyRun& run) { return fmt::format("{},{}", run.overlap ? "Y" : "N", run.co_schedule ? "Y" : "N"); }

ordered_json to_json(const std::vector<CopyRun>& runs) {
  ordered_json all = ordered_json::array();
  for (const CopyRun& r : runs)
    all.push_back({{"workload", r.workload},
                   {"scale", r.scale},
                   {"variant", variant(r)},
                   {"seconds", r.seconds},
                   {"overlapped", r.overlapped}});
  return all;
}

}  // namespace

Figure kernels_alone(const std::vector<AloneRow>& rows) {
  Figure f{"alone", "the eight kernels alone on the C2050",
           "mean IPC 0.52 of 1; DRAM bandwidth used 0.02 % to 14 % (section 1); nothing about each kernel"};
  double mean = 0, low = 1, high = 0;
  for (const AloneRow& row : rows) {
    mean += row.ipc / static_cast<double>(rows.size());
    low = std::min(low, row.memory);
    high = std::max(high, row.memory);
    f.data[row.kernel] = {
        {"ipc", row.ipc},   {"memory_utilisation", row.memory},
        {"ctas", row.ctas}, {"best_ctas", row.best_ctas},
        {"best", row.best}, {"shortest_slice", {{"blocks", row.slice}, {"ms", row.slice_ms}, {"overhead", row.slice_overhead}}}};
  }
  f.measured = fmt::format("mean IPC {:.2f} of 1; DRAM bandwidth used {:.1f} % to {:.0f} %. Derived from code, not fitted.", mean,
                           100 * low, 100 * high);
  return f;
}

Figure pair_prediction(const KerneletMachine& machine, const std::vector<PairPoint>& points) {
  Figure f{"5" + machine.suffix, "predicted and simulated IPC of pairs, " + machine.label,
           "most predictions within 20 % of the peak IPC, at the slice ratio that the model chooses"};
  const Within chosen = within(points, [](const PairPoint&p) { return p.chosen; }),
               all = within(points, [](const PairPoint&) { return true; });
  f.measured = fmt::format(
      "{} of {} pairs within 20 % of peak ({:.0f} %), mean error {:.1f} %; at all {} slice ratios {:.0f} %, mean error {:.1f} %",
      chosen.inside, chosen.points, 100 * chosen.share(), 100 * chosen.mean, all.points, 100 * all.share(), 100 * all.mean);
  f.data = {{"chosen", to_json(chosen)}, {"all", to_json(all)}, {"pairs", ordered_json::array()}};
  double profit = 0;
  for (const PairPoint& p : points) {
    profit += std::abs(p.predicted_profit - p.measured_profit) / static_cast<double>(points.size());
    f.data["pairs"].push_back({{"kernels", {p.first, p.second}},
                               {"ctas", {p.ctas[0], p.ctas[1]}},
                               {"predicted", p.predicted},
                               {"simulated", p.measured},
                               {"predicted_profit", p.predicted_profit},
                               {"simulated_profit", p.measured_profit},
                               {"chosen", p.chosen}});
  }
  f.data["mean_profit_error"] = profit;
  return f;
}

Figure total_times(const KerneletMachine& machine, const std::vector<Makespans>& runs) {
  Figure f{
      "6" + machine.suffix, "total time of four workloads, " + machine.label,
      fmt::format("Kernelet over Base {} %; within {} % of OPT; larger gains on MIX and ALL", machine.gain, machine.distance)};
  for (const Makespans& r : runs) {
    const double gain = r.base / r.kernelet - 1, distance = r.kernelet / r.opt - 1;
    const double throttled = r.base / r.best_alone - 1;
    f.data[r.workload] = {{"sequential_s", r.sequential},
                          {"base_s", r.base},
                          {"kernelet_s", r.kernelet},
                          {"opt_s", r.opt},
                          {"best_alone_s", r.best_alone},
                          {"best_alone_over_base", throttled},
                          {"over_base", gain},
                          {"from_opt", distance},
                          {"pruned", r.pruned},
                          {"lost_profit", r.lost_profit}};
  }
  return f;
}

Figure random_schedules(std::vector<double> seconds, double kernelet, double base) {
  Figure f{"7", "random schedules of ALL", "none of 1,000 random schedules is better than Kernelet"};
  std::ranges::sort(seconds);
  const auto better = std::ranges::count_if(seconds, [&](double s) { return s < kernelet; });
  const auto worse = std::ranges::count_if(seconds, [&](double s) { return s > base; });
  f.measured = fmt::format(
      "{} of {} are better than Kernelet ({:.1f} s); the best takes {:.1f} s, the median {:.1f} s; {} are worse than Base",
      better, seconds.size(), kernelet, seconds.front(), seconds[seconds.size() / 2], worse);
  f.data = {{"kernelet_s", kernelet},
            {"base_s", base},
            {"better_than_kernelet", better},
            {"worse_than_base", worse},
            {"seconds", seconds}};
  return f;
}

Figure copy_variants(const std::vector<CopyRun>& runs) {
  Figure f{
      "8", "with copies: overlap and co-scheduling, C2050",
      "Y,Y over the slowest variant 9.2, 13.0, 16.8, 17.5 % on CI, MI, MIX, ALL; over N,Y about 9 %; over Y,N 5 to 12 %; copies "
      "beside "
      "kernels 99, 95, 97, 97 %"};
  f.data = to_json(runs);
  return f;
}

Figure copy_scales(const std::vector<CopyRun>& runs) {
  Figure f{"9", "MIX with inputs larger than the device's memory, C2050",
           "at sf = 2.5 95 % of the copies' time is beside kernels; Kernelet gains at both scales"};
  f.data = to_json(runs);
  return f;
}

Figure pruning(const std::vector<PruningPoint>& points) {
  Figure f{"pruning", "pairs pruned at other thresholds, C2050, all eight kernels", "in an appendix that is not at hand"};
  f.data = ordered_json::array();
  for (const PruningPoint& p : points) {
    f.data.push_back(
        {{"issue", p.issue}, {"memory", p.memory}, {"pairs", p.pairs}, {"pruned", p.pruned}, {"lost_profit", p.lost_profit}});
    if (p.issue == 0.4 && p.memory == 0.1)
      f.measured =
          fmt::format("at 0.4 and 0.1 {} of {} pairs are pruned, which loses {:.3f} of predicted profit in the first choice",
                      p.pruned, p.pairs, p.lost_profit);
  }
  return f;
}

}  // namespace sluice::figures
