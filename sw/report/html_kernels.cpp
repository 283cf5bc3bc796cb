// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sw/report/html_page.h"

namespace sluice::html {

std::string figure3_section(const Page& page) {
  std::string charts_html;
  for (const KernelType type : {KernelType::Compute, KernelType::Memory, KernelType::Cache}) {
    charts::Lines chart{fmt::format("{} kernels", to_string(type)), "CTAs per SM", "IPC / best IPC", {}};
    // The policies' order of colours would begin with grey: start at the second.
    constexpr std::size_t kColours[] = {4, 5, 3, 1, 6, 2, 9, 8, 7, 0};
    for (const SoloRun& solo : page.results.solo) {
      if (solo.type != type || solo.curve.empty()) continue;
      const double best = *std::max_element(solo.curve.begin(), solo.curve.end());
      if (!(best > 0)) continue;
      charts::Lines::Line line{{solo.kernel, kColours[chart.lines.size() % std::size(kColours)]}, {}, {}};
      for (const double ipc : solo.curve) line.values.push_back(ipc / best);
      line.unit_note = fmt::format(" of {:.1f} instructions per cycle", best);
      chart.lines.push_back(std::move(line));
    }
    if (!chart.lines.empty()) charts_html += charts::line_chart(chart);
  }
  if (charts_html.empty()) return "";
  return "<h2>Performance against CTAs per SM (figure 3a)</h2>\n<p>Each kernel alone, with at most so many CTAs on every SM; IPC "
         "over "
         "the kernel's own best. These curves come from runs of their own, not from the profiling windows.</p>\n<div "
         "class=\"multiples\">\n" +
         charts_html + "</div>\n";
}

std::string solo_section(const Page& page) {
  if (page.results.solo.empty()) return "";
  const bool published =
      std::any_of(page.results.solo.begin(), page.results.solo.end(), [](const SoloRun& s) { return s.reference.has_value(); });
  const char* const figures[] = {"IPC", "ALU", "SFU", "LDST", "L2 MPKI"};
  std::string out =
      fmt::format(
          "<h2>Kernels alone</h2>\n<p>IPC in thread instructions per cycle of the whole GPU; utilisation of pipelines; L2 "
          "misses per thousand warp instructions.{}</p>\n<div class=\"scroll\"><table><thead><tr>",
          published ? " Ref.: the reference figures of the workload file, published or measured on a real GPU." : "") +
      cell("th", "kernel") + cell("th", "type", "centre");
  for (const char* name : figures) {
    out += cell("th", name);
    if (published) out += cell("th", "ref.", "published");
  }
  out += "</tr></thead><tbody>\n";
  for (const SoloRun& s : page.results.solo) {
    const SoloReference r = s.reference.value_or(SoloReference{});
    const double nan = std::nan("");
    const bool known = s.reference.has_value();
    const std::string pairs[][2] = {
        {ratio_cell(s.ipc, 1), ratio_cell(known && r.cycles > 0 ? r.instructions / static_cast<double>(r.cycles) : nan, 1)},
        {percent(s.alu_utilization, 0), percent(known ? r.alu_utilization : nan, 0)},
        {percent(s.sfu_utilization, 0), percent(known ? r.sfu_utilization : nan, 0)},
        {percent(s.ldst_utilization, 0), percent(known ? r.ldst_utilization : nan, 0)},
        {ratio_cell(s.l2_mpki, 2), ratio_cell(known ? r.l2_mpki : nan, 2)}};
    out += "<tr>" + cell("td", s.kernel) + cell("td", to_string(s.type), "centre");
    for (const auto& [model, reference] : pairs) {
      out += cell("td", model);
      if (published) out += cell("td", reference, "published");
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace sluice::html
