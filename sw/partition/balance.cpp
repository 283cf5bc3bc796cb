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

/// Each kernel starts from its part of what fits of it alone; what is left goes round, from the last kernel to the first.
std::optional<JointCounts> filled(std::span<const SmResources> demand, const SmResources& capacity, std::size_t favoured) {
  const auto kernels = static_cast<std::uint32_t>(demand.size());
  JointCounts counts;
  for (std::size_t k = 0; k < kernels; ++k) {
    const std::uint32_t alone = occupancy(demand[k], capacity).value();
    counts.emplace_back(std::max(1U, favoured == kernels ? alone / kernels : alone * (k == favoured ? 2 : 1) / (kernels + 1)));
  }
  std::optional<SmResources> free = beside(demand, capacity, counts);
  if (!free) return std::nullopt;
  std::vector<bool> full(kernels, false);
  while (std::ranges::find(full, false) != full.end()) {
    for (std::size_t k = kernels; k-- > 0;) {
      full[k] = full[k] || !fits(demand[k], *free);
      if (full[k]) continue;
      free = take(*free, demand[k]);
      counts[k] = CtaCount(counts[k].value() + 1);
    }
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
    const auto counts = filled(demand, capacity, i == 0 ? demand.size() : i - 1);
    if (counts && std::ranges::find(found, *counts) == found.end()) found.push_back(*counts);
  }
  return found;
}

double balance_score(std::span<const double> rates) {
  if (std::ranges::find(rates, 0.0) != rates.end()) return 0;
  const double all_as_fast = std::ranges::max(rates) * static_cast<double>(rates.size());
  return round_down(all_as_fast / (1 + all_as_fast - sum_of(rates)));
}

std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates, double keep) {
  double highest = 0;
  for (const auto& of : rates) highest = std::max(highest, balance_score(of));
  const double least = std::max(keep, highest - round_down(highest / 32));
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < rates.size(); ++c) {
    const double score = balance_score(rates[c]);
    if (score == 0 || score < least || (best && sum_of(rates[c]) <= sum_of(rates[*best]))) continue;
    best = c;
  }
  return best;
}

std::vector<JointCounts> balance_second_look(std::span<const JointCounts> candidates, std::span<const std::vector<double>> rates,
                                             std::size_t choice, std::size_t most) {
  const JointCounts& best = candidates[choice];
  std::vector<JointCounts> found{best};
  std::optional<std::size_t> next;
  for (std::size_t c = 0; c < rates.size(); ++c)
    if (c != choice && balance_score(rates[c]) > (next ? balance_score(rates[*next]) : 0)) next = c;
  if (next) found.push_back(candidates[*next]);
  for (std::size_t k = 0; k < best.size() && found.size() < most; ++k) {
    const std::uint32_t fewer = best[k].value() - (best[k].value() + 2) / 3;
    if (fewer == 0) continue;
    found.push_back(best);
    found.back()[k] = CtaCount(fewer);
  }
  return found;
}

}  // namespace sluice
