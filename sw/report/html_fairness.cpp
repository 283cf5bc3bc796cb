// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "sw/policy/names.h"
#include "sw/report/html_page.h"
#include "sw/report/terminal_table.h"

namespace sluice::html {

namespace {

/// The two figures are one and the same where every kernel's target took the same time alone and the kernel that finished last
/// is the slowest-served: both are then the ratio of total cycles.
bool repeats_normalized_ipc(const Page& page) {
  bool any = false;
  for (const ResultGrid::Mix& mix : page.grid.mixes()) {
    const EvalRun* base = page.grid.run(mix, kLeftOver);
    if (base == nullptr) continue;
    for (const EvalRun* run : mix.runs) {
      if (run == nullptr || run == base) continue;
      if (!(std::abs(run->min_speedup / base->min_speedup - run->normalized_ipc) < 1e-3)) return false;
      any = true;
    }
  }
  return any;
}

}  // namespace

std::string figure9_section(const Page& page) {
  std::string out =
      "<h2>Fairness and turnaround (figure 9)</h2>\n<p>Minimum speed-up: the smallest T<sub>alone</sub> / T<sub>corun</sub> of a "
      "mix, over "
      "that of Left-Over (geometric mean). ANTT: mean T<sub>corun</sub> / T<sub>alone</sub> of a mix (arithmetic mean).</p>\n" +
      charts::legend(policy_series(page, true));
  if (page.has(kLeftOver)) {
    charts::GroupedBars chart =
        means_chart(page, &PolicySummary::fairness, "Minimum speed-up over Left-Over", "min. speed-up / Left-Over", true);
    chart.baseline = 1;
    out += "<h3>Minimum speed-up over Left-Over (higher is better)</h3>\n" + charts::grouped_bars(chart);
    if (repeats_normalized_ipc(page))
      out +=
          "<p class=\"note\">In these results this is normalised IPC again, mix by mix: every kernel's target takes the same "
          "time "
          "alone, so both figures compare the cycles until the last kernel is done. It is no evidence of its own.</p>\n";
  }
  out += "<h3>Average normalised turnaround time (lower is better)</h3>\n" +
         charts::grouped_bars(
             means_chart(page, &PolicySummary::antt, "Average normalised turnaround time", "ANTT (T corun / T alone)", true));
  const PolicySummary* ours = page.summary.find(kWarpedSlicer, "all");
  for (const PublishedGain& gain : kPublishedGains) {
    const PolicySummary* other = page.summary.find(gain.over, "all");
    if (!page.summary.of_pairs || ours == nullptr || other == nullptr || ours->mixes != other->mixes ||
        std::isnan(gain.fairness_ratio))
      continue;
    out += fmt::format(
        "<p>Minimum speed-up, Warped-Slicer over {}: {} in this model; <em>published</em>, two kernels: {:+.0f} %.</p>\n",
        policy_label(gain.over), format_gain(ours->min_speedup / other->min_speedup), (gain.fairness_ratio - 1) * 100);
  }
  return out;
}

}  // namespace sluice::html
