// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/balance.h"

#include <algorithm>
#include <numeric>

namespace sluice {

namespace {

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

std::optional<std::size_t> balance_choice(std::span<const std::vector<double>> rates, double keep) {
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t c = 0; c < rates.size(); ++c) {
    const bool known = std::ranges::find(rates[c], 0.0) == rates[c].end();
    const double sum = std::reduce(rates[c].begin(), rates[c].end());
    if (!known || sum < keep || sum <= most) continue;
    most = sum;
    best = c;
  }
  return best;
}

}  // namespace sluice
