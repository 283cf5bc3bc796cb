// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice {

namespace {

double sum_of(std::span<const double> rates) { return std::reduce(rates.begin(), rates.end()); }
/// To the unit's steps.
double round_down(double value) {
  constexpr double kSteps = 1U << 14U;
  return std::floor(value * kSteps) / kSteps;
}

double round_up(double value) { return -round_down(-value); }

/// What is free beside these counts; none where they don't fit.
std::optional<SmResources> beside(std::span<const SmResources> demand, SmResources free, const JointCounts& counts) {
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (!fits(demand[k], free, counts[k])) return std::nullopt;
    free = take(free, demand[k], counts[k]);
  }
  return free;
}

/// All pairs of counts in which neither can grow, by the first's.
std::vector<JointCounts> frontier(std::span<const SmResources> demand, const SmResources& capacity) {
  std::vector<JointCounts> found;
  for (std::uint32_t first = occupancy(demand[0], capacity).value(); first > 0; --first) {
    const CtaCount second = occupancy(demand[1], take(capacity, demand[0], CtaCount(first)));
    if (second.value() > (found.empty() ? 0 : found.back()[1].value())) found.push_back({CtaCount(first), second});
  }
  std::ranges::reverse(found);
  return found;
}

/// What is free beside these counts goes round, from the last kernel to the first.
std::optional<JointCounts> filled(std::span<const SmResources> demand, const SmResources& capacity, JointCounts counts) {
  std::optional<SmResources> free = beside(demand, capacity, counts);
  if (!free) return std::nullopt;
  std::vector<bool> full(demand.size(), false);
  while (std::ranges::find(full, false) != full.end()) {
    for (std::size_t k = demand.size(); k-- > 0;) {
      full[k] = full[k] || !fits(demand[k], *free);
      if (full[k]) continue;
      free = take(*free, demand[k]);
      counts[k] = CtaCount(counts[k].value() + 1);
    }
  }
  return counts;
}

/// Of each kernel its part of what fits of it alone, at least one CTA.
JointCounts parts(std::span<const SmResources> demand, const SmResources& capacity, std::size_t favoured) {
  const auto kernels = static_cast<std::uint32_t>(demand.size());
  JointCounts counts;
  for (std::size_t k = 0; k < kernels; ++k) {
    const std::uint32_t alone = occupancy(demand[k], capacity).value();
    counts.emplace_back(std::max(1U, favoured == kernels ? alone / kernels : alone * (k == favoured ? 2 : 1) / (kernels + 1)));
  }
  return counts;
}

/// A kernel pays for what the others gain: the product of the rates is less than 7 / 8 of the base's. It does not depend on what
/// the kernels do alone.
bool bought(std::span<const double> here, std::span<const double> base) {
  double product = 1;
  for (std::size_t k = 0; k < here.size(); ++k) product *= here[k] / base[k];
  return product * 8 < 7;
}

/// One more CTA of `to`, for which those of `off` leave; what is free then goes to `to`, and to whoever follows it.
std::optional<JointCounts> neighbour(std::span<const SmResources> demand, const SmResources& capacity, JointCounts counts,
                                     std::size_t to, std::size_t off) {
  counts[to] = CtaCount(counts[to].value() + 1);
  std::optional<SmResources> free = beside(demand, capacity, counts);
  for (; !free; free = beside(demand, capacity, counts)) {
    if (counts[off].value() == 1) return std::nullopt;
    counts[off] = CtaCount(counts[off].value() - 1);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t k = (to + i) % counts.size();
    const CtaCount more = occupancy(demand[k], *free);
    counts[k] = CtaCount(counts[k].value() + more.value());
    free = take(*free, demand[k], more);
  }
  return counts;
}

}  // namespace

std::vector<JointCounts> balance_candidates(std::span<const SmResources> demand, const SmResources& capacity, std::size_t wanted,
                                            std::size_t most) {
  std::vector<JointCounts> found;
  if (demand.size() == 2) {
    const std::vector<JointCounts> all = frontier(demand, capacity);
    const std::size_t n = std::min({all.size(), wanted, most});
    for (std::size_t i = 0; i < n; ++i) found.push_back(all[(2 * i + 1) * all.size() / (2 * n)]);
    return found;
  }
  for (std::size_t i = 0; i <= demand.size() && found.size() < most; ++i) {
    const auto counts = filled(demand, capacity, parts(demand, capacity, i == 0 ? demand.size() : i - 1));
    if (counts && std::ranges::find(found, *counts) == found.end()) found.push_back(*counts);
  }
  // Parts rounded up to one CTA may not fit where one of each does.
  if (found.empty() && most > 0)
    if (const auto counts = filled(demand, capacity, JointCounts(demand.size(), CtaCount(1)))) found.push_back(*counts);
  return found;
}

double balance_score(std::span<const double> rates, std::span<const BalanceWish> wishes) {
  if (std::ranges::find(rates, 0.0) != rates.end()) return 0;
  std::size_t first = 0;
  double weights = 0;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    weights += wishes[k].weight;
    if (rates[k] * wishes[first].weight > rates[first] * wishes[k].weight) first = k;
  }
  const double done = weights * rates[first];
  return round_down(done / (done - wishes[first].weight * (sum_of(rates) - 1)));
}

double balance_shortfall(std::span<const double> rates, std::span<const BalanceWish> wishes) {
  double most = 0;
  for (std::size_t k = 0; k < rates.size(); ++k) most = std::max(most, round_up(wishes[k].floor) - rates[k]);
  return most;
}

std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates, std::span<const BalanceWish> wishes,
                                          double keep) {
  keep = round_up(keep);
  std::vector<std::size_t> nearest;  // to the floors, of those of which all is known
  for (std::size_t c = 0; c < rates.size(); ++c) {
    if (balance_score(rates[c], wishes) == 0) continue;
    const double here = balance_shortfall(rates[c], wishes);
    const double least = nearest.empty() ? here : balance_shortfall(rates[nearest.front()], wishes);
    if (here < least) nearest.clear();
    if (here <= least) nearest.push_back(c);
  }
  double highest = 0;
  for (const std::size_t c : nearest) highest = std::max(highest, balance_score(rates[c], wishes));
  const bool promised = std::ranges::any_of(wishes, [](const BalanceWish& w) { return w.floor > 0; });
  const double least = std::max(promised ? 0 : keep, highest - round_down(highest / 32));
  const auto weighted = [&](std::size_t c) {
    double sum = 0;
    for (std::size_t k = 0; k < wishes.size(); ++k) sum += wishes[k].weight * rates[c][k];
    return sum;
  };
  std::optional<std::size_t> best;
  for (const std::size_t c : nearest)
    if (balance_score(rates[c], wishes) >= least && (!best || weighted(c) > weighted(*best))) best = c;
  return best;
}

std::vector<JointCounts> balance_round(const JointCounts& base, const std::optional<JointCounts>& before,
                                       std::span<const JointCounts> tried, std::span<const SmResources> demand,
                                       const SmResources& capacity, std::size_t most) {
  std::vector<JointCounts> found{base}, near;
  if (before) found.push_back(*before);
  const auto add = [&](const JointCounts& counts) {
    if (found.size() <= most && std::ranges::find(tried, counts) == tried.end() &&
        std::ranges::find(found, counts) == found.end())
      found.push_back(counts);
  };
  for (std::size_t to = 0; to < base.size(); ++to)
    for (std::size_t off = 0; off < base.size(); ++off)
      if (const auto counts = to == off ? std::nullopt : neighbour(demand, capacity, base, to, off)) near.push_back(*counts);
  for (const JointCounts& counts : near) add(counts);
  for (std::size_t k = 0; k < base.size(); ++k) {
    JointCounts fewer = base;
    fewer[k] = CtaCount(base[k].value() - (base[k].value() + 2) / 3);
    if (fewer[k].value() > 0) add(fewer);
  }
  for (std::size_t n = 0; base.size() == 2 && n < near.size(); ++n)
    for (const std::size_t to : {0U, 1U})
      if (const auto counts = neighbour(demand, capacity, near[n], to, 1 - to)) add(*counts);
  return found;
}

std::optional<std::size_t> balance_climb(std::span<const std::vector<double>> rates, std::span<const BalanceWish> wishes,
                                         std::span<const double> before) {
  const auto score = [&](std::size_t c) { return balance_score(rates[c], wishes); };
  const auto miss = [&](std::size_t c) { return balance_shortfall(rates[c], wishes); };
  if (score(0) == 0) return 0;
  if (!before.empty() && balance_shortfall(before, wishes) <= miss(0) && balance_score(before, wishes) * 63 > score(0) * 64)
    return std::nullopt;
  std::size_t best = 0;
  for (std::size_t c = 1; c < rates.size(); ++c) {
    if (score(c) == 0) continue;
    if (miss(c) == miss(0) && bought(rates[c], rates[0])) continue;
    const bool higher = best == 0 ? score(c) * 64 > score(best) * 65 : score(c) > score(best);
    if (miss(c) < miss(best) || (miss(c) == miss(best) && higher)) best = c;
  }
  return best;
}

bool balance_turns(double base, double in_turn) { return in_turn * 64 > base * 65; }

bool balance_doubts(double round, double on_all, double keep) { return std::max(round, on_all) < round_up(keep); }

}  // namespace sluice
