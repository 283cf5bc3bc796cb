// SPDX-License-Identifier: Apache-2.0
// Kernels alone, and what counters say of pairs: utilisation, misses, stalls, energy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "sw/core/energy.h"
#include "sw/policy/names.h"
#include "sw/report/figure_data.h"
#include "sw/report/paper_figures.h"

namespace sluice::figures {

namespace {

/// Why an SM issued nothing: the classes of figure 7c.
struct StallClass {
  const char* name;
  const char* key;
  double StallFractions::*member;
};
constexpr StallClass kStallClasses[] = {{"long memory", "long_memory", &StallFractions::long_memory},
                                        {"execution resource", "execution_resource", &StallFractions::execution_resource},
                                        {"RAW", "raw", &StallFractions::raw},
                                        {"i-buffer", "instruction_buffer", &StallFractions::instruction_buffer},
                                        {"barrier", "barrier", &StallFractions::barrier},
                                        {"idle", "idle", &StallFractions::idle}};

/// Thousands of cycles in which an SM issued nothing.
double stalled(const EvalRun& run) {
  double share = 0;
  for (const StallClass& c : kStallClasses) share += run.stalls.*c.member;
  return share * static_cast<double>(run.cycles) / 1e3;
}

/// The four policies that the paper's figures compare.
constexpr const char* kPublishedPolicies[] = {kLeftOver, kEven, kSpatial, kWarpedSlicer};

/// The published policy with the least (most) of a mean over a category, and that mean; none where none has one.
template <class Value>
std::pair<std::string, double> extreme(const EvalResults& results, const std::string& category, const Value& value, bool least) {
  std::pair<std::string, double> found{"not known", std::nan("")};
  for (const char* policy : kPublishedPolicies) {
    const double mean = mean_value(results, policy, category, value);
    if (!std::isfinite(mean)) continue;
    if (!std::isfinite(found.second) || (least ? mean < found.second : mean > found.second)) found = {policy_label(policy), mean};
  }
  return found;
}

}  // namespace

Figure stalls_alone(const Solos& solos) {
  Figure figure{"1", "Cycles in which nothing is issued, by reason, each application alone",
                "Long memory latency and execution resources together waste 40 % of the cycles on average; DXT mostly waits for "
                "instruction "
                "fetch, BFS for memory."};
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
  Figure figure{"3a", "Performance against CTAs on an SM",
                "HOT keeps rising, IMG saturates, BLK saturates early, NN and MVP peak before the SM is full."};
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
  Figure figure{
      "5", "A 5 K-cycle window against a 50 K-cycle one",
      "IPC and the share of cycles stalled on memory of the first 5 K cycles characterise 50 K cycles fairly accurately."};
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

Figure utilization(const EvalResults& pairs) {
  Figure figure{"7a", "Utilisation under Warped-Slicer over Even", "Every resource is used over 15 % more than under Even."};
  struct Resource {
    const char* name;
    double UtilizationFractions::*member;
  };
  constexpr Resource kResources[] = {{"ALU", &UtilizationFractions::alu},
                                     {"SFU", &UtilizationFractions::sfu},
                                     {"registers", &UtilizationFractions::registers},
                                     {"shared memory", &UtilizationFractions::shared_memory}};
  for (const Resource& r : kResources) {
    const auto value = [&](const EvalRun& run) { return run.utilization.*r.member; };
    const double ratio = mean_value(pairs, kWarpedSlicer, "all", value) / mean_value(pairs, kEven, "all", value);
    figure.data[r.name] = ratio;
    figure.measured += fmt::format("{}{} {}", figure.measured.empty() ? "" : ", ", r.name, percent_over(ratio));
  }
  figure.measured += ".";
  return figure;
}

Figure miss_rates(const EvalResults& pairs) {
  Figure figure{
      "7b", "Cache miss rates by policy",
      "Compute + cache pairs: Warped-Slicer's L1 miss rate is the lowest, 2 % below Even and 17 % below Left-Over; its L2 "
      "accesses fall by 43 % and its L2 miss rate is the highest. Compute + non-cache pairs: the L1 miss rate is the lowest "
      "under "
      "Left-Over."};
  const auto l1_miss = [](const EvalRun& r) { return r.l1_miss_rate; };
  const auto l2_miss = [](const EvalRun& r) { return r.l2_miss_rate; };
  category_means(pairs, l1_miss, figure.data["l1"]);
  category_means(pairs, l2_miss, figure.data["l2"]);
  const auto l1 = [&](const char* policy) { return mean_value(pairs, policy, "compute+cache", l1_miss); };
  const auto l2 = [&](const char* policy) {
    return mean_value(pairs, policy, "compute+cache", [](const EvalRun& r) { return static_cast<double>(total(r).l2_accesses); });
  };
  const auto highest = extreme(pairs, "compute+cache", l2_miss, false);
  figure.measured = fmt::format(
      "Compute + cache: L1 miss rate {} against Even, {} against Left-Over, lowest under {}; L2 accesses {}; L2 miss rate "
      "highest "
      "under {}.",
      percent_over(l1(kWarpedSlicer) / l1(kEven)), percent_over(l1(kWarpedSlicer) / l1(kLeftOver)),
      extreme(pairs, "compute+cache", l1_miss, true).first, percent_over(l2(kWarpedSlicer) / l2(kLeftOver)), highest.first);
  const ResultGrid grid(pairs);
  for (const std::string& category : grid.categories()) {
    if (category == "compute+cache") continue;
    const auto lowest = extreme(pairs, category, l1_miss, true);
    figure.data["lowest_l1"][category] = lowest.first;
    figure.measured += fmt::format(" {}: L1 miss rate lowest under {} ({:.4f}; Left-Over {:.4f}).", category, lowest.first,
                                   lowest.second, mean_value(pairs, kLeftOver, category, l1_miss));
  }
  return figure;
}

Figure stalls_together(const EvalResults& pairs) {
  Figure figure{"7c", "Stalled cycles by policy",
                "Warped-Slicer has 15 % fewer stall cycles in total than Left-Over; long memory stalls fall most."};
  category_means(pairs, stalled, figure.data);
  const auto against = [&](const auto& value) {
    return mean_value(pairs, kWarpedSlicer, "all", value) / mean_value(pairs, kLeftOver, "all", value);
  };
  figure.measured = fmt::format("{} stall cycles against Left-Over:", percent_over(against(stalled)));
  std::pair<double, const char*> most{std::numeric_limits<double>::infinity(), "none"};
  for (const StallClass& c : kStallClasses) {
    const double ratio = against([&](const EvalRun& run) { return run.stalls.*c.member * static_cast<double>(run.cycles); });
    figure.data["over_left_over"][c.key] = std::isfinite(ratio) ? nlohmann::ordered_json(ratio) : nlohmann::ordered_json();
    if (std::isfinite(ratio)) most = std::min(most, {ratio, c.name});
    figure.measured += fmt::format(" {} {}{}", c.name, percent_over(ratio), &c == std::end(kStallClasses) - 1 ? "." : ",");
  }
  figure.measured += fmt::format(" Falls most: {}.", most.second);
  return figure;
}

Figure energy(const EvalResults& pairs, const Solos& solos, const MachineConfig& machine) {
  Figure figure{"energy", "Power and energy",
                "16 SMs: 37.7 W dynamic, 34.6 W leakage. Warped-Slicer against Left-Over: dynamic power +3.1 %, energy -16 %; "
                "what these two include is not stated."};
  double watts = 0;
  for (const auto& [name, run] : solos) {
    const double solo = energy_of(energy_events(run.total, run.cycles), machine).sm_dynamic_watts();
    figure.data["sm_dynamic_watts_alone"][name] = solo;
    watts += solo / static_cast<double>(solos.size());
  }
  figure.data["mean_sm_dynamic_watts_alone"] = watts;
  const auto of = [&](const EvalRun& run) { return energy_of(energy_events(total(run), Cycles(run.cycles)), machine); };
  struct Quantity {
    const char* key;
    std::function<double(const EvalRun&)> value;
  };
  // One boundary for power and energy alike: the SMs, or the SMs with interconnect, L2 and DRAM.
  const Quantity quantities[] = {
      {"performance", [](const EvalRun& r) { return r.ipc; }},
      {"sm_dynamic_power", [&](const EvalRun& r) { return of(r).sm_dynamic_watts(); }},
      {"sm_energy", [&](const EvalRun& r) { return of(r).sm_dynamic + of(r).sm_leakage; }},
      {"dynamic_power", [&](const EvalRun& r) { return (of(r).sm_dynamic + of(r).memory_dynamic) / of(r).seconds; }},
      {"energy", [&](const EvalRun& r) { return of(r).total(); }}};
  auto& ratios = figure.data["warped_slicer_over_left_over"];
  std::vector<std::string> over;
  for (const Quantity& q : quantities) {
    const double ratio = mean_ratio(pairs, kWarpedSlicer, kLeftOver, q.value);
    ratios[q.key] = std::isfinite(ratio) ? nlohmann::ordered_json(ratio) : nlohmann::ordered_json();
    over.push_back(percent_over(ratio));
  }
  const ResultGrid grid(pairs);
  category_means(pairs, quantities[4].value, figure.data["joules"]);
  for (const ResultGrid::Mix& mix : grid.mixes()) {
    const EvalRun *ours = grid.run(mix, kWarpedSlicer), *theirs = grid.run(mix, kLeftOver);
    if (ours == nullptr || theirs == nullptr) continue;
    for (const Quantity& q : quantities) {
      const double ratio = q.value(*ours) / q.value(*theirs);
      figure.data["mixes"][mix.name][q.key] = std::isfinite(ratio) ? nlohmann::ordered_json(ratio) : nlohmann::ordered_json();
    }
  }
  figure.measured = fmt::format(
      "{:.1f} W dynamic of the SMs (mean of the applications alone), {:.1f} W leakage. Warped-Slicer against Left-Over: "
      "performance {}. SMs only: dynamic power {}, energy {}. With interconnect, L2 and DRAM: dynamic power {}, energy {}.",
      watts, machine.energy.sm_leakage_watts * machine.num_sms, over[0], over[1], over[2], over[3], over[4]);
  return figure;
}

}  // namespace sluice::figures
