// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sw/policy/names.h"
#include "sw/report/html_page.h"
#include "sw/report/svg.h"

namespace sluice::html {

std::string partition_section(const Page& page) {
  std::vector<std::string> shown;
  for (const char* policy : {kEven, kStatic, kWarpedSlicer, kSoloCurve, kOracle})
    if (page.has(policy)) shown.emplace_back(policy);
  if (shown.empty()) return "";
  std::string out =
      "<h2>Chosen partitions (table III)</h2>\n<p>CTAs per SM of each kernel, in the order of the mix's name. \"Spatial\": each "
      "kernel has "
      "SMs of its own. Bold: Warped-Slicer differs from Even.</p>\n<div class=\"scroll\"><table><thead><tr>" +
      cell("th", "mix");
  for (const std::string& policy : shown) out += cell("th", policy_label(policy), "centre");
  out += cell("th", "decided at (cycle)") + "</tr></thead><tbody>\n";
  for (const std::string& category : page.grid.categories()) {
    out += fmt::format("<tr class=\"group\"><th colspan=\"{}\">{}</th></tr>\n", shown.size() + 2, svg::escape(category));
    for (const ResultGrid::Mix& mix : page.grid.mixes()) {
      if (mix.category != category) continue;
      const EvalRun* even = page.grid.run(mix, kEven);
      out += "<tr>" + cell("td", mix.name);
      for (const std::string& policy : shown) {
        const EvalRun* run = page.grid.run(mix, policy);
        const bool differs = policy == kWarpedSlicer && run != nullptr && even != nullptr && !(run->partition == even->partition);
        out += cell("td", run == nullptr ? "–" : partition_label(run->partition), differs ? "centre differs" : "centre");
      }
      const EvalRun* ours = page.grid.run(mix, kWarpedSlicer);
      out +=
          cell("td", ours == nullptr || ours->decisions.empty() ? "–" : grouped(ours->decisions.front().decided_at)) + "</tr>\n";
    }
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace sluice::html
