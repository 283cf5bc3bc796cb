// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/balance_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice {

bool BalanceSearchTwin::fits(const SluiceConfig& c, const std::vector<std::uint32_t>& ctas) const {
  std::uint64_t warps = 0, registers = 0, shared = 0, slots = 0;
  for (std::size_t k = 0; k < ctas.size(); ++k) {
    const std::uint32_t slot = kernels_[k].slot;
    warps += std::uint64_t{ctas[k]} * c.demand_warps[slot];
    registers += std::uint64_t{ctas[k]} * c.demand_registers[slot];
    shared += std::uint64_t{ctas[k]} * c.demand_shared[slot];
    slots += ctas[k];
  }
  return warps <= c.capacity_warps && registers <= c.capacity_registers && shared <= c.capacity_shared &&
         slots <= c.capacity_slots;
}

/// Adds what still fits, a CTA of each kernel in turn, the youngest first.
void BalanceSearchTwin::fill(const SluiceConfig& config, std::vector<std::uint32_t>& ctas) const {
  for (bool added = true; added;) {
    added = false;
    for (std::size_t j = ctas.size(); j-- > 0;) {
      ++ctas[j];
      if (fits(config, ctas)) {
        added = true;
      } else {
        --ctas[j];
      }
    }
  }
}

/// Of two kernels all points of the frontier, or as many of them as there may be, evenly spaced. Of more: all have the same
/// part, then each in turn twice what the others have; and what is left is filled.
void BalanceSearchTwin::make_candidates(const SluiceConfig& config) {
  candidates_.clear();
  const std::uint32_t k = kernels(), room = num_sm_ - k;
  std::vector<std::vector<std::uint32_t>> found;
  if (k == 2) {
    for (std::uint32_t first = 1; fits(config, {first, 1}); ++first) {
      std::uint32_t second = 1;
      while (fits(config, {first, second + 1})) ++second;
      if (!fits(config, {first + 1, second})) found.push_back({first, second});
    }
    const std::size_t all = found.size(), n = std::min<std::size_t>({all, settings_.candidates, room});
    for (std::size_t i = 0; i < n; ++i) found[i] = found[(2 * i + 1) * all / (2 * n)];
    found.resize(n);
  }
  for (std::uint32_t i = 0; k > 2 && i <= k && found.size() < room; ++i) {
    std::vector<std::uint32_t> ctas;
    for (std::uint32_t j = 0; j < k; ++j) {
      const std::uint32_t part = i == j + 1 ? 2 : 1, whole = i == 0 ? k : k + 1;
      ctas.push_back(std::max(1U, kernels_[j].fits * part / whole));
    }
    if (!fits(config, ctas)) continue;
    fill(config, ctas);
    if (std::ranges::find(found, ctas) == found.end()) found.push_back(ctas);
  }
  for (const auto& ctas : found) candidates_.push_back({ctas, std::vector<Counted>(k)});
}

bool BalanceSearchTwin::begin(const SluiceConfig& config, const std::vector<Kernel>& kernels) {
  kernels_ = kernels;
  alone_.assign(kernels.size(), {});
  round_ = 0;
  kept_.reset();
  report_ = {};
  make_candidates(config);
  return !candidates_.empty();
}

std::uint32_t BalanceSearchTwin::quota(std::uint32_t sm, std::size_t kernel) const {
  const std::uint32_t entry = sm % entries();
  if (entry >= kernels()) return candidates_[entry - kernels()].ctas[kernel];
  return entry == kernel ? kernels_[kernel].fits : 0;
}

std::size_t BalanceSearchTwin::owner(std::uint32_t sm) const {
  const std::uint32_t entry = sm % entries();
  return entry < kernels() ? entry : (sm / entries() + round_) % kernels();
}

void BalanceSearchTwin::take(std::uint32_t sm, std::uint32_t instructions) {
  const std::uint32_t entry = sm % entries();
  Counted& counted = entry < kernels() ? alone_[entry] : candidates_[entry - kernels()].counted[owner(sm)];
  counted.instructions += instructions;
  ++counted.sms;
}

/// The sum of a candidate's rates, units of 1 / kOne: instructions an SM over those of the kernel alone. 0 where a kernel was not
/// counted, there or alone. A rate is 4 at most: the sum of eight has 18 bits.
std::uint32_t BalanceSearchTwin::score(const Candidate& candidate) {
  BalanceCandidate& told = report_.candidates.emplace_back();
  std::uint32_t sum = 0;
  bool known = true;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const Counted &with = candidate.counted[k], &alone = alone_[k];
    const std::uint64_t divisor = alone.instructions * with.sms;
    known &= divisor != 0;
    const std::uint64_t rate =
        divisor == 0 ? 0 : std::min<std::uint64_t>(with.instructions * alone.sms * kOne / divisor, 4 * kOne);
    sum += static_cast<std::uint32_t>(rate);
    told.ctas.emplace_back(candidate.ctas[k]);
    told.rates.push_back(static_cast<double>(rate) / kOne);
  }
  if (!known) sum = 0;
  told.score = static_cast<double>(sum) / kOne;
  return sum;
}

bool BalanceSearchTwin::end_of_window() {
  ++round_;
  const bool all_counted = std::ranges::all_of(candidates_, [](const Candidate& c) {
    return std::ranges::all_of(c.counted, [](const Counted& counted) { return counted.sms != 0; });
  });
  if (!all_counted && round_ < kernels()) return false;
  decide();
  return true;
}

/// The candidate of the highest score, the first of equals.
void BalanceSearchTwin::decide() {
  std::uint32_t most = std::max(1U, static_cast<std::uint32_t>(std::ceil(settings_.keep * kOne))) - 1;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const std::uint32_t sum = score(candidates_[c]);
    if (sum <= most) continue;
    most = sum;
    kept_ = c;
  }
  if (kept_) report_.kept = static_cast<std::int32_t>(*kept_);
}

}  // namespace sluice
