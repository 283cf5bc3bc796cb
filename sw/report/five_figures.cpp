// SPDX-License-Identifier: Apache-2.0
#include "sw/report/five_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sw/core/metrics.h"
#include "sw/report/charts.h"
#include "sw/report/html_page.h"

namespace sluice::figures {

namespace {

/// Means over a scheduler's scenes.
struct Means {
  double stp = 0, antt = 0, worst_ntt = 0, makespan = 0, stalled = 0, empty = 0;
};

double worst_ntt(const ScheduleRun& run) {
  double worst = 0;
  for (const LaunchOutcome& job : run.jobs) worst = std::max(worst, job.ntt());
  return worst;
}

double share(const ScheduleRun& run, std::uint64_t cycles) {
  return static_cast<double>(cycles) / static_cast<double>(run.sm_cycles);
}

double stalled(const ScheduleRun& run) {
  const StallCycles& s = run.stalls;
  return share(run, s.long_memory + s.execution_resource + s.raw + s.instruction_buffer + s.barrier);
}

Means means_of(const SchedulerRuns& of, const SchedulerRuns& baseline) {
  Means m;
  std::vector<double> makespans;
  const auto n = static_cast<double>(of.runs.size());
  for (std::size_t i = 0; i < of.runs.size(); ++i) {
    const ScheduleRun& run = of.runs[i];
    m.stp += run.stp() / n;
    m.antt += run.antt() / n;
    m.worst_ntt = std::max(m.worst_ntt, worst_ntt(run));
    m.stalled += stalled(run) / n;
    m.empty += share(run, run.stalls.idle) / n;
    makespans.push_back(static_cast<double>(run.makespan.count()) / static_cast<double>(baseline.runs[i].makespan.count()));
  }
  m.makespan = geometric_mean(makespans);
  return m;
}

std::string row(const SchedulerRuns& of, const Means& m) {
  const auto number = [](double value, int digits) { return html::cell("td", fmt::format("{:.{}f}", value, digits)); };
  return "<tr>" + html::cell("td", of.scheduler) + html::cell("td", of.system) + number(m.stp, 3) + number(m.antt, 2) +
         number(m.worst_ntt, 2) + number(m.makespan, 3) + html::cell("td", html::percent(m.stalled)) +
         html::cell("td", html::percent(m.empty)) + "</tr>\n";
}

nlohmann::ordered_json scenes_of(const SchedulerRuns& of) {
  nlohmann::ordered_json scenes;
  for (std::size_t i = 0; i < of.runs.size(); ++i) {
    const ScheduleRun& run = of.runs[i];
    scenes[of.scenes[i]] = {{"stp", run.stp()},
                            {"antt", run.antt()},
                            {"worst_ntt", worst_ntt(run)},
                            {"makespan_ms", std::chrono::duration<double, std::milli>(run.makespan).count()},
                            {"stalled", stalled(run)},
                            {"empty", share(run, run.stalls.idle)},
                            {"evictions", run.evictions()}};
  }
  return scenes;
}

}  // namespace

Figure schedulers_compared(std::string id, std::string title, const std::vector<SchedulerRuns>& all,
                           const std::string& baseline) {
  const SchedulerRuns& base = *std::ranges::find(all, baseline, &SchedulerRuns::scheduler);
  Figure figure{std::move(id), std::move(title), "No paper compares these systems on the same work.", {}, {}, {}};
  charts::GroupedBars chart;
  chart.title = "STP (higher is better) and ANTT (lower is better)";
  chart.y_label = "mean";
  chart.series = {{"STP", 0}, {"ANTT", 1}};
  const SchedulerRuns *most = nullptr, *least = nullptr;
  double stp = 0, antt = 0;
  figure.html = fmt::format(
      "<div class=\"scroll\"><table><thead><tr><th>scheduler</th><th>system</th><th>STP</th><th>ANTT</th><th>worst NTT</th>"
      "<th>makespan over {}</th><th>SM time stalled</th><th>SM time without a warp</th></tr></thead><tbody>\n",
      baseline);
  for (const SchedulerRuns& of : all) {
    const Means m = means_of(of, base);
    if (most == nullptr || m.stp > stp) most = &of, stp = m.stp;
    if (least == nullptr || m.antt < antt) least = &of, antt = m.antt;
    figure.html += row(of, m);
    chart.groups.push_back({of.scheduler, false, {{m.stp, false, ""}, {m.antt, false, ""}}});
    figure.data[of.scheduler] = {{"system", of.system},    {"stp", m.stp},         {"antt", m.antt},   {"worst_ntt", m.worst_ntt},
                                 {"makespan", m.makespan}, {"stalled", m.stalled}, {"empty", m.empty}, {"scenes", scenes_of(of)}};
  }
  figure.html += "</tbody></table></div>\n" + charts::legend(chart.series) + charts::grouped_bars(chart);
  figure.measured = fmt::format("Highest STP: {} {:.3f}; lowest ANTT: {} {:.2f}.", most->scheduler, stp, least->scheduler, antt);
  return figure;
}

}  // namespace sluice::figures
