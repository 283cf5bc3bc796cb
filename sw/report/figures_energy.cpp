// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "sw/core/energy.h"
#include "sw/policy/names.h"
#include "sw/report/figure_data.h"
#include "sw/report/figures.h"

namespace sluice::figures {

Figure energy(const EvalResults& pairs, const Solos& solos, const MachineConfig& machine) {
  Figure figure{"energy", "Power and energy", {}, {}, {}, {}};
  figure.published =
      "16 SMs: 37.7 W dynamic, 34.6 W leakage. Warped-Slicer against Left-Over: dynamic power +3.1 %, energy -16 %; "
      "what these two include is not stated.";
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
