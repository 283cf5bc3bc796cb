// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/balance_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
  lived_.assign(kernels.size(), false);
  round_ = steady_ = 0;
  second_ = false;
  kept_.reset();
  report_ = {};
  make_candidates(config);
  return !candidates_.empty();
}

std::uint32_t BalanceSearchTwin::quota(std::uint32_t sm, std::size_t kernel) const {
  const std::uint32_t entry = entry_of(sm);
  if (entry >= kernels()) return candidates_[entry - kernels()].ctas[kernel];
  return entry == kernel ? kernels_[kernel].fits : 0;
}

std::uint32_t BalanceSearchTwin::entry_of(std::uint32_t sm) const {
  if (second_ || sm < entries()) return sm % entries();
  return kernels() + (kernels() == 2 ? static_cast<std::uint32_t>(candidates_.size() / 2) : 0);
}

std::size_t BalanceSearchTwin::owner(std::uint32_t sm) const {
  const std::uint32_t entry = entry_of(sm), like_it = second_ || sm < entries() ? sm / entries() : sm;
  return entry < kernels() ? entry : (like_it + round_) % kernels();
}

void BalanceSearchTwin::take(std::uint32_t sm, std::uint32_t instructions) {
  const std::uint32_t entry = entry_of(sm);
  Counted& counted = entry < kernels() ? alone_[entry] : candidates_[entry - kernels()].counted[owner(sm)];
  counted.instructions += instructions;
  ++counted.sms;
}

/// A candidate's speed-up over one after the other, units of 1 / kOne: of its rates, which are instructions an SM over those of
/// the kernel alone (sw/partition/balance.h). 0 where a kernel was not counted, there or alone. A rate is 4 at most.
void BalanceSearchTwin::score(Candidate& candidate) {
  BalanceCandidate& told = report_.candidates.emplace_back();
  told.again = second_;
  std::vector<std::uint64_t> rates;
  std::uint64_t rates_in_all = 0, weights = 0;
  bool known = true;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const Counted &with = candidate.counted[k], &alone = alone_[k];
    const std::uint64_t divisor = alone.instructions * with.sms;
    const std::uint64_t rate =
        divisor == 0 ? 0 : std::min<std::uint64_t>(with.instructions * alone.sms * kOne / divisor, 4 * kOne);
    known &= rate != 0;
    candidate.sum += weight(k) * rate;
    if (rate < floor(k)) candidate.shortfall = std::max(candidate.shortfall, floor(k) - static_cast<std::uint32_t>(rate));
    rates.push_back(rate);
    rates_in_all += rate;
    weights += weight(k);
    told.ctas.emplace_back(candidate.ctas[k]);
    told.rates.push_back(static_cast<double>(rate) / kOne);
  }
  if (!known) return;
  std::size_t first = 0;  // to end
  for (std::size_t k = 1; k < rates.size(); ++k)
    if (rates[k] * weight(first) > rates[first] * weight(k)) first = k;
  const std::uint64_t done = weights * rates[first];
  candidate.score = static_cast<std::uint32_t>(done * kOne / (done + weight(first) * kOne - weight(first) * rates_in_all));
  told.score = static_cast<double>(candidate.score) / kOne;
}

void BalanceSearchTwin::ended(std::uint32_t sm) {
  const std::uint32_t entry = entry_of(sm);
  if (entry < kernels()) lived_[entry] = true;
}

/// Kernels are not even over a CTA's life, and the first CTAs are all at the same point of theirs. So the look goes on until
/// every counter has counted each kernel when a CTA of each had ended, if that comes in time.
bool BalanceSearchTwin::end_of_window() {
  ++round_;
  if (std::ranges::find(lived_, false) == lived_.end()) ++steady_;
  if (steady_ < kernels() && round_ < std::max(kMostWindows, kernels())) return false;
  decide();
  return true;
}

/// Each kernel alone again, what is kept, the next best, and both with a third fewer CTAs of each kernel in turn: on more SMs
/// each, and among their like.
bool BalanceSearchTwin::look_again() {
  if (second_ || !kept_ || steady_ < kernels()) return false;
  const std::vector<std::uint32_t> best = candidates_[*kept_].ctas;
  std::vector<std::vector<std::uint32_t>> list{best};
  first_look_ = candidates_[*kept_].score;
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(*kept_));
  const auto next = std::ranges::max_element(candidates_, {}, &Candidate::score);
  if (next != candidates_.end() && next->score != 0 && num_sm_ > kernels() + 1) list.push_back(next->ctas);
  const std::vector<std::vector<std::uint32_t>> bases = list;
  for (const auto& base : bases)
    for (std::size_t k = 0; k < base.size() && list.size() + kernels() < num_sm_; ++k) {
      std::vector<std::uint32_t> fewer = base;
      fewer[k] -= (fewer[k] + 2) / 3;
      if (fewer[k] != 0 && std::ranges::find(list, fewer) == list.end()) list.push_back(fewer);
    }
  candidates_.clear();
  for (const auto& ctas : list) candidates_.push_back({ctas, std::vector<Counted>(kernels())});
  alone_.assign(kernels(), {});
  second_ = true;
  round_ = steady_ = 0;
  return true;
}

/// Of the candidates that come nearest to the floors and are within 1 / 32 of the highest score, the one of the largest sum of
/// weight times rate, the first of equals. In a second look it is what the first has kept, if that is among them; the mean of its
/// score there and of the highest here has to reach `keep`. A second look that saw nothing changes nothing.
void BalanceSearchTwin::decide() {
  const std::size_t before = report_.candidates.size();
  for (Candidate& c : candidates_) score(c);
  kept_.reset();
  std::uint32_t highest = 0, shortfall = std::numeric_limits<std::uint32_t>::max();
  for (const Candidate& c : candidates_)
    if (c.score != 0) shortfall = std::min(shortfall, c.shortfall);
  for (const Candidate& c : candidates_)
    if (c.shortfall == shortfall) highest = std::max(highest, c.score);
  const bool promised = std::ranges::any_of(kernels_, [](const Kernel& k) { return k.wish.floor > 0; });
  const std::uint32_t keep = promised ? 1U : std::max(1U, static_cast<std::uint32_t>(std::ceil(settings_.keep * kOne)));
  const std::uint32_t equal = std::max(1U, highest - highest / 32);
  const bool worth = second_ ? first_look_ + highest >= 2 * keep : highest >= keep;
  const std::uint32_t least = second_ ? equal : std::max(keep, equal);
  for (std::size_t c = 0; worth && c < candidates_.size(); ++c) {
    if (second_ && kept_ == 0U) break;
    const Candidate& here = candidates_[c];
    if (here.score >= least && here.shortfall == shortfall && (!kept_ || here.sum > candidates_[*kept_].sum)) kept_ = c;
  }
  if (second_ && std::ranges::all_of(candidates_, [](const Candidate& c) { return c.score == 0; })) kept_ = 0;
  report_.kept = kept_ ? static_cast<std::int32_t>(before + *kept_) : -1;
  report_.floors = !kept_ || candidates_[*kept_].shortfall == 0;
}

}  // namespace sluice
