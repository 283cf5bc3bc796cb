// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/side_by_side.h"

#include <algorithm>
#include <numeric>

#include "sw/partition/balance.h"

namespace sluice::gpu {

namespace {

using Counts = std::vector<CtaCount>;

/// @return fits an SM with its sub-cores, at least a CTA of each
bool make_fit(Counts& ctas, std::span<const SmResources> demand, const SmResources& capacity) {
  while (!fits_sub_cores(demand, ctas, capacity)) {
    std::size_t largest = ctas.size();
    for (std::size_t k = 0; k < ctas.size(); ++k)
      if (ctas[k] > CtaCount(1) && (largest == ctas.size() || demand[k].registers > demand[largest].registers)) largest = k;
    if (largest == ctas.size()) return false;
    ctas[largest] = CtaCount(ctas[largest].value() - 1);
  }
  return true;
}

}  // namespace

SideBySide measure_side_by_side(const SmRates& measure, const SiliconMix& mix, std::span<const std::size_t> open,
                                std::vector<Counts> partitions, double keep, const SideBySideWindows& windows) {
  const std::uint32_t sms = mix.machine.num_sms;
  const std::size_t kernels = open.size();
  std::vector<SmResources> demand;
  Counts most;
  for (const std::size_t k : open) {
    demand.push_back(mix.kernels[k].demand());
    most.push_back(mix.most.empty() ? occupancy(demand.back(), mix.machine.sm.capacity) : mix.most[k]);
  }
  std::vector<Counts> groups;
  for (Counts& ctas : partitions) {
    for (std::size_t k = 0; k < kernels; ++k) ctas[k] = std::min(ctas[k], most[k]);
    if (make_fit(ctas, demand, mix.machine.sm.capacity) && std::ranges::find(groups, ctas) == groups.end())
      groups.push_back(ctas);
  }
  const std::size_t shared = groups.size();
  const auto alone = [&](std::size_t k) {
    Counts ctas(kernels, CtaCount(0));
    ctas[k] = most[k];
    return ctas;
  };
  for (std::size_t k = 0; k < kernels; ++k) groups.push_back(alone(k));
  /// Mean rate of each open kernel on the SMs of each group: SM i is of group i mod n.
  const auto seen = [&](const std::vector<Counts>& lists, double window) {
    std::vector<QuotaTable> tables(mix.kernels.size(), QuotaTable(sms, 0));
    for (std::size_t k = 0; k < kernels; ++k)
      for (std::uint32_t sm = 0; sm < sms; ++sm) tables[open[k]][sm] = lists[sm % lists.size()][k].value();
    const std::vector<std::vector<double>> rates = measure(tables, window);
    std::vector<std::vector<double>> means(lists.size(), std::vector<double>(kernels));
    for (std::uint32_t sm = 0; sm < sms; ++sm)
      for (std::size_t k = 0; k < kernels; ++k) {
        const std::size_t g = sm % lists.size(), of_group = sms / lists.size() + (g < sms % lists.size() ? 1 : 0);
        means[g][k] += rates[open[k]][sm] / static_cast<double>(of_group);
      }
    return means;
  };
  const auto everywhere = [&](const Counts& ctas) { return seen({ctas}, windows.everywhere).front(); };

  const std::vector<std::vector<double>> first = seen(groups, windows.groups);
  std::vector<double> whole;  // of each kernel alone
  for (std::size_t k = 0; k < kernels; ++k) whole.push_back(first[shared + k][k]);
  const std::vector<BalanceWish> wishes(kernels);
  const auto rated = [&](const Counts& ctas, const std::vector<double>& blocks, bool again) {
    BalanceCandidate c{ctas, {}, 0, again};
    for (std::size_t k = 0; k < kernels; ++k) c.rates.push_back(whole[k] > 0 ? blocks[k] / whole[k] : 0);
    c.score = balance_score(c.rates, wishes);
    return c;
  };
  std::vector<BalanceCandidate> all;
  for (std::size_t g = 0; g < shared; ++g) all.push_back(rated(groups[g], first[g], false));
  std::ranges::stable_sort(all, std::greater(), &BalanceCandidate::score);
  SideBySide found{all, {}};
  all.resize(std::min(all.size(), windows.again));
  std::ranges::reverse(all);  // the best is in force in the end

  std::vector<std::vector<double>> blocks;
  const auto rate_all = [&] {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = rated(all[i].ctas, blocks[i], true);
  };
  for (const BalanceCandidate& c : all) blocks.push_back(everywhere(c.ctas));
  rate_all();
  if (std::ranges::all_of(all, [keep](const BalanceCandidate& c) { return c.score < keep; })) {
    for (std::size_t k = 0; k < kernels; ++k) whole[k] = everywhere(alone(k))[k];
    rate_all();
  }
  found.again = std::move(all);
  return found;
}

}  // namespace sluice::gpu
