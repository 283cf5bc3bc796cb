// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/balance_search.h"

#include <algorithm>
#include <cmath>

namespace sluice {

bool BalanceSearchTwin::fits(const SluiceConfig& c, const Counts& ctas) const {
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

/// One more CTA of `to`, for which CTAs of `off` leave; then what else fits, `to` first.
std::optional<BalanceSearchTwin::Counts> BalanceSearchTwin::shifted(const SluiceConfig& config, Counts from, std::size_t to,
                                                                    std::size_t off) const {
  ++from[to];
  while (!fits(config, from)) {
    if (from[off] == 1) return std::nullopt;
    --from[off];
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t k = (to + i) % from.size();
    do ++from[k];
    while (fits(config, from));
    --from[k];
  }
  return from;
}

void BalanceSearchTwin::add(const Counts& ctas) {
  if (entries_.size() <= room() && std::ranges::find(tried_, ctas) == tried_.end() &&
      std::ranges::find(entries_, ctas, &Entry::ctas) == entries_.end())
    entries_.push_back({ctas});
}

/// The base; the one before it; its neighbours; a third fewer CTAs of each kernel in turn; and, of two kernels, neighbours of the
/// neighbours. Nothing that an earlier round has measured but the base before.
void BalanceSearchTwin::list(const SluiceConfig& config) {
  entries_.assign(1, {base_});
  if (before_) entries_.push_back({before_->ctas});
  std::vector<Counts> near;
  for (std::size_t to = 0; to < kernels(); ++to)
    for (std::size_t off = 0; off < kernels(); ++off) {
      const auto neighbour = to == off ? std::nullopt : shifted(config, base_, to, off);
      if (neighbour) near.push_back(*neighbour);
    }
  for (const Counts& c : near) add(c);
  for (std::size_t k = 0; k < kernels(); ++k) {
    Counts fewer = base_;
    fewer[k] -= (fewer[k] + 2) / 3;
    if (fewer[k] != 0) add(fewer);
  }
  for (const Counts& c : near)
    for (std::size_t to = 0; kernels() == 2 && to < 2; ++to)
      if (const auto far = shifted(config, c, to, 1 - to)) add(*far);
}

/// All CTAs that fit: of whichever comes in turn, or of one kernel.
void BalanceSearchTwin::list_on_all(std::size_t what) {
  on_all_ = what;
  in_turn_ = what == kInTurn;
  entries_.assign(1, {base_});
  for (std::size_t k = 0; what != kBase && k < kernels(); ++k)
    entries_.front().ctas[k] = in_turn_ || what == kAlone + k ? kernels_[k].fits : 0;
}

void BalanceSearchTwin::alone(std::size_t kernel, std::uint32_t instructions) {
  if (alone_.size() <= kernel) alone_.resize(kernel + 1);
  alone_[kernel].instructions += instructions;
  ++alone_[kernel].sms;
}

bool BalanceSearchTwin::begin(const SluiceConfig& config, const std::vector<Kernel>& kernels, const Counts& base) {
  kernels_ = kernels;
  base_ = base;
  alone_.resize(kernels.size());
  tried_.clear();
  before_.reset();
  report_ = {};
  window_ = round_ = 0;
  score_ = 0;
  on_all_.reset();
  held_.clear();
  in_order_ = in_turn_ = false;
  list(config);
  if (entries_.size() == 1) list_on_all(kBase);
  for (Entry& e : entries_) e.counted.resize(kernels.size());
  return settings_.candidates > 0;
}

/// SMs of the groups lie between those of the base, and those of one group apart.
std::uint32_t BalanceSearchTwin::entry_of(std::uint32_t sm) const {
  const std::uint32_t others = static_cast<std::uint32_t>(entries_.size()) - 1, in_groups = others * group();
  const std::uint32_t at = in_groups * sm / num_sm_;
  return at == in_groups * (sm + 1) / num_sm_ ? 0 : 1 + at % others;
}

std::uint32_t BalanceSearchTwin::quota(std::uint32_t sm, std::size_t kernel) const { return entries_[entry_of(sm)].ctas[kernel]; }

std::size_t BalanceSearchTwin::owner(std::uint32_t sm) const {
  return on_all_ && *on_all_ >= kAlone ? *on_all_ - kAlone : (sm + window_) % kernels();
}

void BalanceSearchTwin::take(std::uint32_t sm, std::uint32_t instructions) {
  Counted& counted = entries_[entry_of(sm)].counted[owner(sm)];
  counted.instructions += instructions;
  ++counted.sms;
}

/// How many times as fast as one after the other (sw/partition/balance.h), units of 1 / kOne. 0 where a rate is.
std::uint32_t BalanceSearchTwin::score(const std::vector<std::uint64_t>& rates) const {
  std::uint64_t sum = 0, weights = 0;
  std::size_t first = 0;  // to end
  for (std::size_t k = 0; k < rates.size(); ++k) {
    if (rates[k] == 0) return 0;
    sum += rates[k];
    weights += weight(k);
    if (rates[k] * weight(first) > rates[first] * weight(k)) first = k;
  }
  const std::uint64_t done = weights * rates[first];
  return static_cast<std::uint32_t>(done * kOne / (done + weight(first) * kOne - weight(first) * sum));
}

std::uint32_t BalanceSearchTwin::shortfall(const std::vector<std::uint64_t>& rates) const {
  std::uint32_t most = 0;
  for (std::size_t k = 0; k < rates.size(); ++k)
    if (rates[k] < floor(k)) most = std::max(most, floor(k) - static_cast<std::uint32_t>(rates[k]));
  return most;
}

/// Rates are instructions an SM over those of the kernel alone, 4 at most; 0 where a kernel was not counted, there or alone.
void BalanceSearchTwin::measure(Entry& e) {
  BalanceCandidate& told = report_.candidates.emplace_back();
  told.again = round_ != 0 || on_all_;
  e.rates.clear();
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const Counted &with = e.counted[k], &alone = alone_[k];
    const std::uint64_t divisor = alone.instructions * with.sms;
    e.rates.push_back(divisor == 0 ? 0 : std::min<std::uint64_t>(with.instructions * alone.sms * kOne / divisor, 4 * kOne));
    told.ctas.emplace_back(e.ctas[k]);
    told.rates.push_back(static_cast<double>(e.rates[k]) / kOne);
  }
  e.score = score(e.rates);
  e.shortfall = shortfall(e.rates);
  told.score = static_cast<double>(e.score) / kOne;
}

/// A kernel pays for what the others gain: the product of the rates is less than 7 / 8 of the base's. It does not depend on what
/// the kernels do alone, which a few SMs among others overrate where bandwidth is what a kernel lacks.
bool BalanceSearchTwin::bought(const Entry& here, const Entry& than) const {
  double product = 1;
  for (std::size_t k = 0; k < kernels(); ++k)
    product *= static_cast<double>(here.rates[k]) / static_cast<double>(std::max<std::uint64_t>(1, than.rates[k]));
  return product * 8 < 7;
}

/// The base gives way to what comes nearer to the floors, or as near with a score more than 1 / 64 higher; the best of these, the
/// first of equals. And to the base before it, which it has replaced, where it scores more than 1 / 64 less than that did there.
/// @return it has changed, and its neighbours are to be measured
bool BalanceSearchTwin::climb() {
  const std::size_t before = report_.candidates.size() - entries_.size();
  const Entry& base = entries_.front();
  report_.kept = static_cast<std::int32_t>(before);
  report_.floors = base.shortfall == 0;
  if (base.score == 0) return false;
  if (before_ && before_->shortfall <= base.shortfall && std::uint64_t{before_->score} * 63 > std::uint64_t{base.score} * 64) {
    base_ = before_->ctas;
    report_.kept = static_cast<std::int32_t>(before) + 1;
    report_.floors = before_->shortfall == 0;
    return false;
  }
  std::size_t best = 0;
  for (std::size_t e = 1; e < entries_.size(); ++e) {
    const Entry &here = entries_[e], &than = entries_[best];
    if (here.score == 0 || here.shortfall > than.shortfall) continue;
    if (here.shortfall == base.shortfall && bought(here, base)) continue;
    const std::uint64_t least = best == 0 ? std::uint64_t{than.score} * 65 : std::uint64_t{than.score} * 64;
    if (here.shortfall < than.shortfall || std::uint64_t{here.score} * 64 > least) best = e;
  }
  if (best == 0) return false;
  before_ = base;
  base_ = entries_[best].ctas;
  report_.kept = static_cast<std::int32_t>(before + best);
  report_.floors = entries_[best].shortfall == 0;
  return true;
}

/// Scores what every SM has held, and keeps the best: the base, unless CTAs in turn score more than 1 / 64 more.
/// @return its score
std::uint32_t BalanceSearchTwin::keep_best() {
  for (Entry& e : held_) measure(e);
  if (held_.size() > 1) report_.candidates.back().ctas.clear();  // no quotas
  const Entry &base = held_.front(), &last = held_.back();
  in_turn_ = std::uint64_t{last.score} * 64 > std::uint64_t{base.score} * 65;
  const Entry& best = in_turn_ ? last : base;
  if (best.score == 0) return 0;
  report_.kept = static_cast<std::int32_t>(report_.candidates.size() - (in_turn_ ? 1 : held_.size()));
  report_.floors = best.shortfall == 0;
  return best.score;
}

/// @return there is more to see on all SMs
bool BalanceSearchTwin::next_on_all() {
  const Entry& here = entries_.front();
  const std::size_t what = *on_all_;
  if (what < kAlone) {
    held_.push_back(here);
  } else if (here.counted[what - kAlone].sms != 0) {
    alone_[what - kAlone] = here.counted[what - kAlone];
  }
  if (what >= kAlone && what + 1 < kAlone + kernels()) {
    list_on_all(what + 1);
    return true;
  }
  const std::uint64_t score = keep_best();
  const bool turns = what == kBase && tried_.empty();
  const bool alone = what < kAlone && std::max<std::uint64_t>(score, score_) < keep();
  if (score != 0 && !promised() && (turns || alone)) {
    list_on_all(turns ? kInTurn : kAlone);
    return true;
  }
  in_order_ = what >= kAlone && score < keep();
  if (in_order_) report_.kept = -1;
  in_turn_ = in_turn_ && !in_order_;
  if (in_turn_) base_ = held_.back().ctas;
  return false;
}

bool BalanceSearchTwin::next(const SluiceConfig& config) {
  window_ = 0;
  bool more = true;
  if (on_all_) {
    more = next_on_all();
  } else {
    for (Entry& e : entries_) measure(e);
    for (const Entry& e : entries_) tried_.push_back(e.ctas);
    if (climb() && ++round_ < settings_.rounds) {
      list(config);
    } else {
      score_ = std::ranges::find(entries_, base_, &Entry::ctas)->score;
      more = score_ != 0;
      if (more) list_on_all(kBase);
    }
  }
  for (Entry& e : entries_) e.counted.resize(kernels());
  return more;
}

}  // namespace sluice
