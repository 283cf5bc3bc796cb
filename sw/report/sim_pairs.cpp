// SPDX-License-Identifier: Apache-2.0
// SiM's pairs: figures 10 and 11, and what its text says of turnaround.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/report/sim_figures.h"

namespace sluice::figures {

namespace {

constexpr const char* kSchedulers[] = {"pt", "even", "adaptive"};

/// Mean over the pairs of a group.
template <class Value>
double mean(const std::vector<SimPair>& pairs, bool low, const Value& value) {
  double sum = 0;
  std::size_t n = 0;
  for (const SimPair& pair : pairs) {
    if (pair.low != low) continue;
    sum += value(pair);
    ++n;
  }
  return n == 0 ? NAN : sum / static_cast<double>(n);
}

}  // namespace

Figure sim_pairs(const std::vector<SimPair>& pairs, bool low, bool equal) {
  Figure figure;
  figure.id = fmt::format("{}{}", low ? "10" : "11", equal ? "_equal" : "");
  figure.title = fmt::format("Normalised STP of the pairs {} a kernel of low issue-slot utilisation{}", low ? "with" : "without",
                             equal ? ", all kernels of one length" : "");
  figure.published =
      equal ? "Not in the paper."
      : low ? "SiM +9.8 % over sequential execution (up to +22.4 %), PT +5.3 %. Good: BO+TP, FD+TP. Little: FD+MD, MD+TP. "
              "LM+TP is below PT."
            : "SiM +0.3 %, PT -0.5 %.";
  const SimPair *best = nullptr, *worst = nullptr;
  std::size_t below = 0, shown = 0;
  for (const SimPair& pair : pairs) {
    if (pair.low != low) continue;
    for (const char* scheduler : kSchedulers) {
      const SimShare& share = pair.shares.at(scheduler);
      figure.data["pairs"][pair.name][scheduler] = {{"stp", share.stp},
                                                    {"antt", share.antt},
                                                    {"antt_over_sequential", share.antt_sequential},
                                                    {"worst_ntt", share.worst_ntt}};
    }
    figure.data["pairs"][pair.name]["bound"] = pair.bound;
    figure.data["pairs"][pair.name]["longer_alone"] = pair.longer_alone;
    ++shown;
    const auto stp = [](const SimPair* p) { return p->shares.at("adaptive").stp; };
    if (best == nullptr || stp(&pair) > stp(best)) best = &pair;
    if (worst == nullptr || stp(&pair) < stp(worst)) worst = &pair;
    if (stp(&pair) < pair.shares.at("even").stp) ++below;
  }
  if (best == nullptr) {
    figure.measured = "No such pair.";
    return figure;
  }
  for (const char* scheduler : kSchedulers) {
    const double value = mean(pairs, low, [&](const SimPair& p) { return p.shares.at(scheduler).stp; });
    figure.data["mean"][scheduler] = value;
  }
  const double bound = mean(pairs, low, [](const SimPair& p) { return p.bound; });
  const double longer = mean(pairs, low, [](const SimPair& p) { return p.longer_alone; });
  figure.data["mean"]["bound"] = bound;
  figure.data["mean"]["longer_alone"] = longer;
  const auto value = [&](const char* scheduler) { return figure.data["mean"][scheduler].get<double>(); };
  figure.measured = fmt::format(
      "adaptive {} (best {} {}, worst {} {}), pt {}, even {}; below even in {} of {} pairs. No schedule is above {} in the mean; "
      "where a pair takes as long as its longer kernel alone, the mean is {}.",
      gain_text(value("adaptive")), best->name, gain_text(best->shares.at("adaptive").stp), worst->name,
      gain_text(worst->shares.at("adaptive").stp), gain_text(value("pt")), gain_text(value("even")), below, shown,
      gain_text(bound), gain_text(longer));
  return figure;
}

Figure sim_antt(const std::vector<SimPair>& pairs, bool equal) {
  Figure figure{
      equal ? "antt_equal" : "antt", fmt::format("Turnaround{}", equal ? ", all kernels of one length" : ""), {}, {}, {}, {}};
  figure.published =
      equal ? "Not in the paper."
            : "ANTT rises by 49.2 % with a kernel of low issue-slot utilisation, by 78.7 % without. The text leaves open "
              "whether over the kernels alone or over sequential execution.";
  for (const bool low : {true, false}) {
    const char* group = low ? "low" : "high";
    for (const char* scheduler : kSchedulers) {
      const double antt = mean(pairs, low, [&](const SimPair& p) { return p.shares.at(scheduler).antt; });
      const double sequential = mean(pairs, low, [&](const SimPair& p) { return p.shares.at(scheduler).antt_sequential; });
      figure.data[group][scheduler] = {{"antt", antt}, {"antt_over_sequential", sequential}};
    }
  }
  const auto text = [&](const char* group) {
    const auto& share = figure.data[group]["adaptive"];
    return fmt::format("{} over the kernels alone, {} over sequential execution", gain_text(share["antt"].get<double>()),
                       gain_text(share["antt_over_sequential"].get<double>()));
  };
  figure.measured = fmt::format("adaptive, low: {}; high: {}.", text("low"), text("high"));
  return figure;
}

}  // namespace sluice::figures
