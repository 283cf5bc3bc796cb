#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sw/core/energy.h"
#include "sw/report/figure_data.h"
#include "sw/report/figures.h"

namespace sluice::figures {

namespace {

double ipc(const EvalRun& run) { return run.ipc; }
double min_speedup(const EvalRun& run) { return run.min_speedup; }
double antt(const EvalRun& run) { return run.antt; }

KernelCounters total(const EvalRun& run) {
  KernelCounters sum;
  for (const KernelOutcome& k : run.per_kernel) sum += k.counters;
  return sum;
}

/// Thousands of cycles in which an SM issued nothing.
double stalled(const EvalRun& run) {
  const StallFractions& s = run.stalls;
  return (s.long_memory + s.execution_resource + s.raw + s.instruction_buffer + s.barrier + s.idle) *
         static_cast<double>(run.cycles) / 1e3;
}

/// How far the best static partition is above Left-Over; empty where it was not searched for.
std::string oracle_over_left_over(const EvalResults& results, nlohmann::ordered_json& data) {
  const double ratio = mean_ratio(results, "oracle", "left_over", ipc);
  if (!std::isfinite(ratio)) return "";
  data["oracle_over_left_over"] = ratio;
  return fmt::format(" The best static partition {} over Left-Over.", percent_over(ratio));
}

/// Bars of a mean by policy and category.
template <class Value>
std::string category_bars(const EvalResults& results, const std::string& title, const std::string& y_label, const Value& value,
                          nlohmann::ordered_json& data) {
  const ResultGrid grid(results);
  charts::GroupedBars chart;
  chart.title = title;
  chart.y_label = y_label;
  for (const std::string& p : grid.policies()) chart.series.push_back({policy_label(p), policy_colour(p, chart.series.size())});
  std::vector<std::string> categories = grid.categories();
  categories.emplace_back("all");
  for (const std::string& category : categories) {
    charts::GroupedBars::Group group{category, category == "all", {}};
    for (const std::string& policy : grid.policies()) {
      const double mean = mean_value(results, policy, category, value);
      group.bars.push_back({mean, false, ""});
      data[category][policy] = std::isfinite(mean) ? nlohmann::ordered_json(mean) : nlohmann::ordered_json();
    }
    chart.groups.push_back(std::move(group));
  }
  return fmt::format("<h3>{}</h3>\n", title) + charts::legend(chart.series) + charts::grouped_bars(chart);
}

}  // namespace

charts::GroupedBars mix_bars(const EvalResults& results, const std::string& baseline, const std::string& title) {
  const ResultGrid grid(results);
  charts::GroupedBars chart;
  chart.title = title;
  chart.y_label = "IPC over " + policy_label(baseline);
  chart.baseline = 1.0;
  charts::GroupedBars::Group mean{"GMEAN", true, {}};
  for (std::size_t p = 0; p < grid.policies().size(); ++p) {
    if (grid.policies()[p] == baseline) continue;
    chart.series.push_back({policy_label(grid.policies()[p]), policy_colour(grid.policies()[p], p)});
    mean.bars.push_back({mean_ratio(results, grid.policies()[p], baseline, ipc), false, ""});
  }
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    charts::GroupedBars::Group group{mix.name, false, {}};
    const EvalRun* base = grid.run(mix, baseline);
    for (const std::string& policy : grid.policies()) {
      if (policy == baseline) continue;
      const EvalRun* run = grid.run(mix, policy);
      group.bars.push_back({run == nullptr || base == nullptr ? std::nan("") : run->ipc / base->ipc, false, ""});
    }
    chart.groups.push_back(std::move(group));
  }
  chart.groups.push_back(std::move(mean));
  return chart;
}

Figure pair_performance(const EvalResults& pairs) {
  Figure figure{"6", "All pairs under every policy", {}, {}, {}, {}};
  figure.published = "Warped-Slicer +23 % over Left-Over, +14 % over Even, +17 % over Spatial (means of 30 pairs).";
  const auto over = [&](const char* base) {
    const double ratio = mean_ratio(pairs, "warped_slicer", base, ipc);
    figure.data["warped_slicer_over"][base] = ratio;
    return percent_over(ratio);
  };
  const std::string left = over("left_over"), even = over("even"), spatial = over("spatial");
  figure.measured = fmt::format("Warped-Slicer {} over Left-Over, {} over Even, {} over Spatial.", left, even, spatial) +
                    oracle_over_left_over(pairs, figure.data);
  const charts::GroupedBars chart = mix_bars(pairs, "left_over", "IPC over Left-Over");
  figure.html = charts::legend(chart.series) + charts::grouped_bars(chart);
  return figure;
}

Figure utilization(const EvalResults& pairs) {
  Figure figure{"7a", "Utilisation under Warped-Slicer over Even", {}, {}, {}, {}};
  figure.published = "Every resource is used over 15 % more than under Even.";
  struct Resource {
    const char* name;
    double UtilizationFractions::*member;
  };
  constexpr Resource kResources[] = {{"ALU", &UtilizationFractions::alu},
                                     {"SFU", &UtilizationFractions::sfu},
                                     {"registers", &UtilizationFractions::registers},
                                     {"shared memory", &UtilizationFractions::shared_memory}};
  charts::GroupedBars chart;
  chart.title = "Utilisation over Even's";
  chart.y_label = "ratio of means";
  chart.series = {{"Warped-Slicer / Even", 0}};
  chart.baseline = 1.0;
  for (const Resource& r : kResources) {
    const auto value = [&](const EvalRun& run) { return run.utilization.*r.member; };
    const double ratio = mean_value(pairs, "warped_slicer", "all", value) / mean_value(pairs, "even", "all", value);
    chart.groups.push_back({r.name, true, {{ratio, false, ""}}});
    figure.data[r.name] = ratio;
    figure.measured += fmt::format("{}{} {}", figure.measured.empty() ? "" : ", ", r.name, percent_over(ratio));
  }
  figure.measured += ".";
  figure.html = charts::grouped_bars(chart);
  return figure;
}

Figure miss_rates(const EvalResults& pairs) {
  Figure figure{"7b", "Cache miss rates by policy", {}, {}, {}, {}};
  figure.published =
      "Compute + cache pairs: Warped-Slicer's L1 miss rate is the lowest, 2 % below Even and 17 % below Left-Over; its L2 "
      "accesses "
      "fall by 43 % and its L2 miss rate is the highest.";
  figure.html = category_bars(
      pairs, "L1 miss rate", "misses / accesses", [](const EvalRun& r) { return r.l1_miss_rate; }, figure.data["l1"]);
  figure.html += category_bars(
      pairs, "L2 miss rate", "misses / accesses", [](const EvalRun& r) { return r.l2_miss_rate; }, figure.data["l2"]);
  const auto l1 = [&](const char* policy) {
    return mean_value(pairs, policy, "compute+cache", [](const EvalRun& r) { return r.l1_miss_rate; });
  };
  const auto l2 = [&](const char* policy) {
    return mean_value(pairs, policy, "compute+cache", [](const EvalRun& r) { return static_cast<double>(total(r).l2_accesses); });
  };
  figure.measured =
      fmt::format("Compute + cache: L1 miss rate {} against Even, {} against Left-Over; L2 accesses {}.",
                  percent_over(l1("warped_slicer") / l1("even")), percent_over(l1("warped_slicer") / l1("left_over")),
                  percent_over(l2("warped_slicer") / l2("left_over")));
  return figure;
}

Figure stalls_together(const EvalResults& pairs) {
  Figure figure{"7c", "Stalled cycles by policy", {}, {}, {}, {}};
  figure.published = "Warped-Slicer has 15 % fewer stall cycles in total than Left-Over; long memory stalls fall most.";
  figure.html = category_bars(pairs, "Cycles an SM issued nothing", "thousand cycles", stalled, figure.data);
  const double ratio = mean_value(pairs, "warped_slicer", "all", stalled) / mean_value(pairs, "left_over", "all", stalled);
  figure.measured = fmt::format("{} stall cycles against Left-Over.", percent_over(ratio));
  return figure;
}

Figure triple_performance(const EvalResults& triples) {
  Figure figure{"8", "Three applications on an SM", {}, {}, {}, {}};
  figure.published = "Warped-Slicer +21 % over Even (mean of all triples).";
  const double ratio = mean_ratio(triples, "warped_slicer", "even", ipc);
  figure.data["warped_slicer_over_even"] = ratio;
  figure.measured = fmt::format("Warped-Slicer {} over Even, {} over Left-Over.", percent_over(ratio),
                                percent_over(mean_ratio(triples, "warped_slicer", "left_over", ipc))) +
                    oracle_over_left_over(triples, figure.data);
  const charts::GroupedBars chart = mix_bars(triples, "left_over", "IPC over Left-Over");
  figure.html = charts::legend(chart.series) + charts::grouped_bars(chart);
  return figure;
}

Figure triples_without_guard(const EvalResults& triples, const EvalResults& unguarded) {
  Figure figure{"guard", "Three applications without the loss guard", {}, {}, {}, {}};
  figure.published = "As figures 8 and 9: Warped-Slicer +21 % over Even; minimum speed-up +23 %, ANTT 15 % lower.";
  EvalResults merged = triples;
  std::erase_if(merged.runs, [](const EvalRun& run) { return run.policy == "warped_slicer"; });
  std::ranges::copy_if(unguarded.runs, std::back_inserter(merged.runs),
                       [](const EvalRun& run) { return run.policy == "warped_slicer"; });
  normalize_to_left_over(merged);
  const double over_even = mean_ratio(merged, "warped_slicer", "even", ipc);
  const double least = mean_ratio(merged, "warped_slicer", "even", min_speedup);
  const double turnaround = mean_ratio(merged, "warped_slicer", "even", antt);
  figure.data["over_even"] = {{"ipc", over_even}, {"min_speedup", least}, {"antt", turnaround}};
  figure.measured = fmt::format("Warped-Slicer {} over Even, {} over Left-Over; minimum speed-up over Even {}, ANTT {}.",
                                percent_over(over_even), percent_over(mean_ratio(merged, "warped_slicer", "left_over", ipc)),
                                percent_over(least), percent_over(turnaround));
  const charts::GroupedBars chart = mix_bars(merged, "left_over", "IPC over Left-Over");
  figure.html = charts::legend(chart.series) + charts::grouped_bars(chart);
  return figure;
}

Figure fairness(const EvalResults& pairs, const EvalResults& triples) {
  Figure figure{"9", "Fairness: minimum speed-up and average normalised turnaround time", {}, {}, {}, {}};
  figure.published = "Minimum speed-up over Even: +14 % with two kernels, +23 % with three; ANTT 15 % lower with three.";
  const double two = mean_ratio(pairs, "warped_slicer", "even", min_speedup),
               three = mean_ratio(triples, "warped_slicer", "even", min_speedup);
  const double antt_three = mean_ratio(triples, "warped_slicer", "even", antt),
               antt_two = mean_ratio(pairs, "warped_slicer", "even", antt);
  figure.data["over_even"] = {{"min_speedup_2", two}, {"min_speedup_3", three}, {"antt_2", antt_two}, {"antt_3", antt_three}};
  figure.measured = fmt::format("Minimum speed-up over Even: {} with two, {} with three; ANTT {} and {}.", percent_over(two),
                                percent_over(three), percent_over(antt_two), percent_over(antt_three));
  for (const auto& [name, results] : {std::pair{"2 kernels", &pairs}, std::pair{"3 kernels", &triples}}) {
    figure.html +=
        category_bars(*results, std::string("Minimum speed-up, ") + name, "mean", min_speedup, figure.data["min_speedup"][name]);
    figure.html +=
        category_bars(*results, std::string("ANTT, ") + name, "mean, lower is better", antt, figure.data["antt"][name]);
  }
  return figure;
}

Figure energy(const EvalResults& pairs, const Solos& solos, const MachineConfig& machine) {
  Figure figure{"energy", "Power and energy", {}, {}, {}, {}};
  figure.published =
      "16 SMs: 37.7 W dynamic, 34.6 W leakage. Warped-Slicer against Left-Over: dynamic power +3.1 %, energy -16 %.";
  double watts = 0;
  for (const auto& [name, run] : solos) {
    const double solo = energy_of(energy_events(run.total, run.cycles), machine).sm_dynamic_watts();
    figure.data["sm_dynamic_watts_alone"][name] = solo;
    watts += solo / static_cast<double>(solos.size());
  }
  figure.data["mean_sm_dynamic_watts_alone"] = watts;
  const auto of = [&](const EvalRun& run) { return energy_of(energy_events(total(run), Cycles(run.cycles)), machine); };
  const auto joules = [&](const EvalRun& run) { return of(run).total(); };
  const auto dynamic = [&](const EvalRun& run) { return of(run).sm_dynamic_watts(); };
  const double energy_ratio = mean_ratio(pairs, "warped_slicer", "left_over", joules);
  const double power_ratio = mean_ratio(pairs, "warped_slicer", "left_over", dynamic);
  figure.data["warped_slicer_over_left_over"] = {{"energy", energy_ratio}, {"sm_dynamic_power", power_ratio}};
  figure.html = category_bars(pairs, "Energy of a run", "joules", joules, figure.data["joules"]);
  figure.measured = fmt::format(
      "{:.1f} W dynamic (mean of the applications alone), {:.1f} W leakage. Warped-Slicer against Left-Over: dynamic power "
      "{}, energy {}.",
      watts, machine.energy.sm_leakage_watts * machine.num_sms, percent_over(power_ratio), percent_over(energy_ratio));
  return figure;
}

}  // namespace sluice::figures
