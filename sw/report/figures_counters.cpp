// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "sw/policy/names.h"
#include "sw/report/figure_data.h"
#include "sw/report/figures.h"

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
  Figure figure{"7b", "Cache miss rates by policy", {}, {}, {}, {}};
  figure.published =
      "Compute + cache pairs: Warped-Slicer's L1 miss rate is the lowest, 2 % below Even and 17 % below Left-Over; its L2 "
      "accesses fall by 43 % and its L2 miss rate is the highest. Compute + non-cache pairs: the L1 miss rate is the lowest "
      "under "
      "Left-Over.";
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
  Figure figure{"7c", "Stalled cycles by policy", {}, {}, {}, {}};
  figure.published = "Warped-Slicer has 15 % fewer stall cycles in total than Left-Over; long memory stalls fall most.";
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

}  // namespace sluice::figures
