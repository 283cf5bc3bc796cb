// SPDX-License-Identifier: Apache-2.0
// The figures of EffiSha's evaluation that are of schedules: 12, 14 and 15.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sw/report/effisha_figures.h"

namespace sluice::effisha {

namespace {

using figures::Figure;
using figures::share_text;

std::string label(const ScheduleRun& run) {
  return run.flavour == "hardware" ? run.scheduler : fmt::format("{}, {}", run.scheduler, run.flavour);
}

}  // namespace

Figure scheduling_overhead(const std::vector<Setting>& settings) {
  Figure figure{
      "12", "Overhead of scheduling: time from the first start to the last end, over that without preemption", {}, {}, {}, {}};
  std::map<std::string, double> worst;
  for (const Setting& setting : settings) {
    const auto base = std::ranges::find(setting.rows, "arrival", [](const auto& row) { return row.model.scheduler; });
    for (const Setting::Row& row : setting.rows) {
      const double overhead =
          static_cast<double>(row.model.makespan.count()) / static_cast<double>(base->model.makespan.count()) - 1;
      figure.data[setting.name][label(row.model)] = overhead;
      auto [at, fresh] = worst.try_emplace(row.model.flavour, overhead);
      if (!fresh) at->second = std::max(at->second, overhead);
    }
  }
  std::vector<std::string> said;
  for (const auto& [flavour, value] : worst) said.push_back(fmt::format("{} {}", flavour, share_text(value)));
  figure.published = "All below 5 %; dprr above piv.";
  figure.measured = fmt::format("Over arrival, worst of all: {}.", fmt::join(said, ", "));
  return figure;
}

Figure turnaround(const std::vector<Setting>& settings) {
  Figure figure{"14",
                "Normalised turnaround times (in brackets: the fake executor at equal times alone; the same "
                "with the model's mean time of an eviction)",
                {},
                {},
                {},
                {}};
  double worst = 0, worst_drained = 0;
  for (const Setting& setting : settings) {
    // In the order of the paper's figure: by priority, which the rows of arrival and rr may have from another setting.
    const std::vector<LaunchOutcome>& jobs = setting.rows.back().model.jobs;
    std::vector<std::size_t> order(jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return jobs[i].priority; });
    for (const Setting::Row& row : setting.rows) {
      auto& data = figure.data[setting.name][label(row.model)];
      for (std::size_t i = 0; i < order.size(); ++i) {
        const double model = row.model.jobs[order[i]].ntt(), fake = row.fake.jobs[order[i]].ntt(),
                     drained = row.drained.jobs[order[i]].ntt();
        data[row.model.jobs[order[i]].name] = {{"model", model}, {"fake", fake}, {"fake_with_drain", drained}};
        if (row.model.flavour != "hardware") continue;
        worst = std::max(worst, std::abs(model / fake - 1));
        worst_drained = std::max(worst_drained, std::abs(model / drained - 1));
      }
      data["eviction_ms"] = std::chrono::duration<double, std::milli>(row.model.eviction).count();
      data["ANTT"] = {{"model", row.model.antt()}, {"fake", row.fake.antt()}};
    }
  }
  figure.data["worst_difference_to_fake"] = worst;
  figure.data["worst_difference_to_fake_with_drain"] = worst_drained;
  figure.published =
      "Groups, default: mean 5.08, Scan 9.16, Triad 8.07, FFT 10.8, MD 3.7, Spmv 5.0, Stencil2D 2; groups, piv: Reduction 38, "
      "Sort 14, Scan 39. SJF, piv: all above Sort have 1.";
  figure.measured = fmt::format(
      "Hardware flavour and fake executor differ by at most {}, and by {} once an eviction takes the fake one as long.",
      share_text(worst), share_text(worst_drained));
  return figure;
}

Figure throughput(const std::vector<Setting>& settings) {
  Figure figure{"15", "System throughput", {}, {}, {}, {}};
  std::vector<std::string> below;
  for (const Setting& setting : settings) {
    const auto base = std::ranges::find(setting.rows, "rr", [](const auto& row) { return row.model.scheduler; });
    for (const Setting::Row& row : setting.rows) {
      figure.data[setting.name][label(row.model)] = row.model.stp();
      const bool preempts = row.model.scheduler == "piv" || row.model.scheduler == "dprr";
      if (preempts && row.model.stp() <= base->model.stp()) below.push_back(setting.name + " " + label(row.model));
    }
  }
  figure.published = "All preemptive schedulers above the default.";
  figure.measured =
      below.empty() ? "piv and dprr are above rr in every setting." : fmt::format("Not above rr: {}.", fmt::join(below, "; "));
  return figure;
}

}  // namespace sluice::effisha
