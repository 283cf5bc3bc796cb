// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/balance_unit.h"

#include <algorithm>
#include <numeric>

namespace sluice {

namespace {

constexpr std::uint32_t kMostRate = (1U << 15U) - 1;  // below 4
constexpr std::uint32_t kMostTime = (1U << 17U) - 1;

/// The product of the kernels' means over the base's is less than 7 / 8. At 16 it ends.
bool bought(const BalanceUnitEntry& here, const BalanceUnitEntry& base) {
  std::uint64_t product = 1U << 14U;
  for (std::size_t k = 0; k < here.means.size(); ++k) {
    product = product * here.means[k] / base.means[k];
    if (product >= 1U << 18U) return false;
  }
  return product < 7U << 11U;
}

/// By more than 1 / 64 of the time of `part`.
bool faster(const BalanceUnitEntry& here, const BalanceUnitEntry& than, const BalanceUnitEntry& part) {
  return than.time >= here.time && than.time - here.time > part.time / 64;
}

}  // namespace

std::uint32_t balance_unit_mean(std::uint32_t sum, std::uint32_t samples) { return samples == 0 ? 0 : sum * 8 / samples; }

BalanceUnitEntry balance_unit_entry(std::vector<std::uint32_t> means, std::span<const std::uint32_t> alone,
                                    const BalanceUnitSettings& settings) {
  BalanceUnitEntry entry{std::move(means), true};
  std::uint64_t first = kMostTime, sum = 0;
  for (std::size_t k = 0; k < entry.means.size(); ++k) {
    const std::uint32_t mean = entry.means[k];
    const std::uint32_t rate = mean >= 4 * alone[k] ? kMostRate : mean * (1U << 13U) / alone[k];
    if (alone[k] == 0 || rate == 0) {
      entry.measured = false;
      return entry;
    }
    sum += rate;
    if (settings.floors[k] > rate) entry.shortfall = std::max(entry.shortfall, settings.floors[k] - rate);
    const std::uint32_t weight = settings.weights[k];
    if (8 * weight < rate) first = std::min<std::uint64_t>(first, (weight << 20U) / rate);
  }
  const std::uint64_t weights = std::reduce(settings.weights.begin(), settings.weights.end());
  entry.time = static_cast<std::uint32_t>((weights << 7U) + first - (first * sum >> 13U));
  return entry;
}

std::optional<std::size_t> balance_unit_climb(std::span<const BalanceUnitEntry> entries,
                                              const std::optional<BalanceUnitEntry>& before) {
  const BalanceUnitEntry& base = entries.front();
  if (!base.measured) return 0;
  if (before && before->shortfall <= base.shortfall && faster(*before, base, base)) return std::nullopt;
  std::size_t best = 0;
  for (std::size_t e = 1; e < entries.size(); ++e) {
    const BalanceUnitEntry &here = entries[e], &than = entries[best];
    if (!here.measured || here.shortfall > than.shortfall) continue;
    if (here.shortfall == than.shortfall && !(best == 0 ? faster(here, than, here) : here.time < than.time)) continue;
    if (here.shortfall == base.shortfall && bought(here, base)) continue;
    best = e;
  }
  return best;
}

bool balance_unit_turns(const BalanceUnitEntry& base, const BalanceUnitEntry& in_turn) {
  return in_turn.measured && (!base.measured || faster(in_turn, base, in_turn));
}

bool balance_unit_shares(const BalanceUnitEntry& entry, const BalanceUnitSettings& settings) {
  const std::uint64_t weights = std::reduce(settings.weights.begin(), settings.weights.end());
  return std::uint64_t{entry.time} * settings.keep >> 18U <= weights << 4U;
}

}  // namespace sluice
