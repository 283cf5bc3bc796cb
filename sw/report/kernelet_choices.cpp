// SPDX-License-Identifier: Apache-2.0
// Figures that the paper does not have: what Kernelet's choices rest on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sw/report/kernelet_figures.h"

namespace sluice::figures {

using nlohmann::ordered_json;

Figure causes(const std::vector<Cause>& causes) {
  Figure f;
  f.id = "6a-causes";
  f.title = "what each part of the prediction costs, C2050";
  f.published = "not in the paper";
  std::vector<std::string> mi;
  f.data = ordered_json::array();
  for (const Cause& c : causes) {
    const double gain = c.base / c.seconds - 1, distance = c.seconds / c.opt - 1;
    f.data.push_back(
        {{"workload", c.workload}, {"what", c.what}, {"seconds", c.seconds}, {"over_base", gain}, {"from_opt", distance}});
    if (c.workload == "MI") mi.push_back(fmt::format("{} {:+.1f} %", c.what, 100 * gain));
  }
  f.measured = fmt::format("MI over Base: {}", fmt::join(mi, "; "));
  return f;
}

Figure pruning(const std::vector<PruningPoint>& points) {
  Figure f;
  f.id = "pruning";
  f.title = "pairs pruned at other thresholds, C2050, all eight kernels";
  f.published = "in an appendix that is not at hand";
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
