// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/balance_search_unit.h"

#include <algorithm>
#include <numeric>

namespace sluice {

namespace {
constexpr std::uint64_t kWord = 18, kMean = 15, kRate = 15;  // bits
constexpr std::uint64_t kState = 2;                          // cycles of a state; cycles_ counts states
}  // namespace

/// A try: from the capacity of each resource every CTA's demand is taken.
bool BalanceSearchUnit::fits(const Counts& work) {
  bool fit = true;
  for (std::size_t r = 0; r < 4; ++r) {
    ++cycles_;
    std::uint64_t needs = 0;
    for (std::size_t k = 0; k < work.size(); ++k) {
      cycles_ += 1 + std::max(1U, work[k]);
      needs += std::uint64_t{work[k]} * plan_.demand[k][r];
    }
    fit = fit && needs <= plan_.capacity[r];
  }
  ++cycles_;
  return fit;
}

/// One more CTA of `to`, for which CTAs of `off` leave; what is left is filled, `to` first. @return false: there is none
bool BalanceSearchUnit::make(Counts& work, std::size_t to, std::size_t off) {
  ++cycles_;
  ++work[to];
  while (!fits(work)) {
    if (work[off] == 1) return false;
    --work[off];
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    const std::size_t k = (to + i) % work.size();
    ++cycles_;
    ++work[k];
    while (fits(work)) ++work[k];
    --work[k];
  }
  return true;
}

void BalanceSearchUnit::add(const Counts& work) {
  const auto at = std::ranges::find(rows_, work);
  cycles_ += 2 * (static_cast<std::uint64_t>(at - rows_.begin()) + (at == rows_.end() ? 0 : 1));
  if (at != rows_.end()) return;
  rows_.push_back(work);
  list_.push_back(work);
}

void BalanceSearchUnit::make_list() {
  list_.assign(1, base_);
  if (has_before_) list_.push_back(earlier_);
  ++cycles_;
  const auto full = [this] { return list_.size() > plan_.room; };
  const auto next = [&] {
    ++cycles_;
    return !full();
  };
  const auto candidates = [&] {
    for (std::size_t to = 0; to < kernels(); ++to)
      for (std::size_t off = 0; off < kernels(); ++off) {
        if (off == to) continue;
        Counts work = base_;
        ++cycles_;
        if (make(work, to, off)) add(work);
        if (!next()) return;
      }
    for (std::size_t k = 0; k < kernels(); ++k) {
      Counts work = base_;
      cycles_ += 2;
      const bool some = work[k] > 1;
      work[k] = 2 * work[k] / 3;
      if (some) add(work);
      if (!next()) return;
    }
    for (std::size_t distant = 0; kernels() == 2 && distant < 4; ++distant) {
      const std::size_t first = distant / 2, second = distant % 2;
      Counts work = base_;
      ++cycles_;
      if (make(work, first, 1 - first) && make(work, second, 1 - second)) add(work);
      if (!next()) return;
    }
  };
  if (!full()) candidates();
  phase_ = list_.size() == 1 ? Phase::OnAll : Phase::SideBySide;
  cycles_ += kernels() * list_.size();
  clear();
}

void BalanceSearchUnit::clear() {
  if (phase_ == Phase::SideBySide) entries_.assign(list_.size(), {});
  if (phase_ == Phase::OnAll) entries_.assign(2, {});
  const std::vector<std::uint32_t> none(kernels(), 0);
  for (Entry& e : entries_)
    if (e.sums.empty()) e = {none, none, {}};
  if (phase_ == Phase::InTurn) entries_[kTurns] = {none, none, {}};
}

std::uint64_t BalanceSearchUnit::begin(Plan plan, const Counts& base) {
  plan_ = std::move(plan);
  base_ = base;
  rows_.assign(1, base);
  has_before_ = known_ = worth_ = shares_ = done_ = false;
  best_ = round_ = 0;
  cycles_ = 0;
  scored.clear();
  make_list();
  return kState * cycles_;
}

void BalanceSearchUnit::take(std::size_t entry, std::size_t kernel, std::uint32_t sample) {
  if (phase_ == Phase::OnAll) entry = 0;
  if (phase_ == Phase::InTurn) entry = kTurns;
  Entry& e = phase_ == Phase::Alone ? entries_.back() : entries_[entry];
  e.sums[kernel] += sample;
  ++e.counts[kernel];
}

/// Of a kernel's samples, in eighths.
void BalanceSearchUnit::mean(Entry& e, std::size_t kernel) {
  // There are as many of each kernel; of a kernel alone there are no others.
  const std::uint32_t count = phase_ == Phase::Alone ? e.counts[kernel] : e.counts[0];
  cycles_ += 3 + (count == 0 ? 0 : kMean);
  e.rated.means.resize(kernels());
  e.rated.means[kernel] = balance_unit_mean(e.sums[kernel], count);
}

/// Rates and Time of an entry.
void BalanceSearchUnit::rate(std::size_t at, bool with_means) {
  Entry& e = entries_[at];
  ++cycles_;
  std::uint32_t shortfall = 0;
  for (std::size_t k = 0; k < kernels(); ++k) {
    if (with_means) mean(e, k);
    const std::uint32_t here = e.rated.means[k], alone = alone_[k];
    const bool divides = here < 4 * alone;
    const std::uint32_t rate = divides ? here * (1U << 13U) / alone : (1U << kRate) - 1;
    cycles_ += 4 + (divides ? 2 + kRate : 0) + 1;
    cycles_ += 3 + 3;
    const std::uint32_t floor = plan_.settings.floors[k];
    if (floor >= rate) {
      cycles_ += 2;
      if (floor - rate >= shortfall) {
        ++cycles_;
        shortfall = floor - rate;
      }
    }
    cycles_ += 4 + (8 * plan_.settings.weights[k] < rate ? kWord + 4 : 0);
  }
  cycles_ += 2 + kWord + 3 + 2 * kernels() + 1;
  e.rated = balance_unit_entry(e.rated.means, alone_, plan_.settings);
  e.rated.shortfall = shortfall;
  scored.push_back({at, e.rated.measured, e.rated.measured ? e.rated.time : 0, kState * cycles_});
  ++cycles_;  // StepStart
}

/// Nearer to the floors than the best, or as near and faster; and no kernel pays for it.
bool BalanceSearchUnit::nearer(const BalanceUnitEntry& here) {
  cycles_ += 4;
  if (here.shortfall > best_entry_.shortfall) return false;
  if (here.shortfall == best_entry_.shortfall) {
    cycles_ += best_ == 0 ? 6 : 4;
    const std::uint32_t more = best_ == 0 ? here.time / 64 : 0;
    if (best_entry_.time <= here.time || best_entry_.time - here.time <= more) return false;
  }
  cycles_ += 4;
  const BalanceUnitEntry& base = before_;
  if (here.shortfall != base.shortfall) return true;
  ++cycles_;
  std::uint64_t product = 1U << 14U;
  for (std::size_t k = 0; k < kernels(); ++k) {
    cycles_ += 1 + kWord + 3;
    product = product * here.means[k] / base.means[k];
    if (product >= 1U << kWord) return true;
    cycles_ += kWord + 1;
  }
  cycles_ += 4;
  return product >= 7U << 11U;
}

/// A round of a list. @return there is another
bool BalanceSearchUnit::side_by_side() {
  for (std::size_t at = 0; at < list_.size(); ++at) {
    rate(at, true);
    const BalanceUnitEntry& here = entries_[at].rated;
    if (at == 0) {
      best_ = 0;
      known_ = here.measured;
      best_entry_ = here;
      if (!here.measured) return false;
      if (has_before_) {
        cycles_ += 9;
        if (here.shortfall >= before_.shortfall && here.time >= before_.time && here.time - before_.time > here.time / 64) {
          base_ = earlier_;
          rate(1, true);
          best_ = 1;
          known_ = entries_[1].rated.measured;
          best_entry_ = entries_[1].rated;
          return false;
        }
      }
      ++cycles_;
      before_ = here;
    } else if (here.measured && nearer(here)) {
      ++cycles_;
      best_ = at;
      best_entry_ = here;
    }
    ++cycles_;
  }
  ++cycles_;
  if (best_ == 0) return false;
  has_before_ = true;
  earlier_ = base_;
  base_ = list_[best_];
  return ++round_ != 3;
}

bool BalanceSearchUnit::worth_it() {
  cycles_ += 2 + kWord + 2 * kernels() + 1;
  return balance_unit_shares(best_entry_, plan_.settings);
}

/// What all SMs hold next.
void BalanceSearchUnit::hold(Phase phase, std::size_t kernel) {
  phase_ = phase;
  only_ = kernel;
  list_.assign(1, base_);
  cycles_ += phase == Phase::Alone ? 1 : 1 + kernels();
  if (phase == Phase::Alone) {
    cycles_ += kernel == 0 ? 1 : 0;
    if (kernel == 0) entries_.resize(3);
    entries_.back() = {std::vector<std::uint32_t>(kernels(), 0), std::vector<std::uint32_t>(kernels(), 0), {}};
  } else {
    clear();
  }
}

void BalanceSearchUnit::finish(bool shares) {
  shares_ = shares;
  done_ = true;
}

/// Scores what all SMs have held. @param turns  CTAs in turn were measured
void BalanceSearchUnit::on_all(bool turns) {
  const BalanceUnitEntry& here = entries_[turns ? kTurns : 0].rated;
  if (!turns) {
    best_ = 0;
    known_ = here.measured;
    best_entry_ = here;
    return;
  }
  if (!here.measured) return;
  if (known_) {
    cycles_ += 6;
    if (best_entry_.time <= here.time || best_entry_.time - here.time <= here.time / 64) return;
  }
  ++cycles_;
  best_ = kTurns;
  known_ = true;
  best_entry_ = here;
}

/// After a round on all SMs.
void BalanceSearchUnit::all_sms() {
  const bool first = rows_.size() == 1;
  const bool promised = std::ranges::any_of(plan_.settings.floors, [](std::uint32_t f) { return f != 0; });
  if (phase_ == Phase::Alone) {
    Entry& e = entries_.back();
    mean(e, only_);
    if (e.counts[only_] != 0) alone_[only_] = e.rated.means[only_];
    cycles_ += 2;
    if (only_ + 1 < kernels()) return hold(Phase::Alone, only_ + 1);
    rate(0, false);
    on_all(false);
    if (first) {
      rate(kTurns, false);
      on_all(true);
    }
  } else {
    const bool turns = phase_ == Phase::InTurn;
    rate(turns ? kTurns : 0, true);
    on_all(turns);
  }
  ++cycles_;  // KeepStart
  if (phase_ == Phase::OnAll && (!known_ || promised)) return finish(true);
  if (phase_ == Phase::OnAll && first) return hold(Phase::InTurn);
  if (phase_ == Phase::Alone && !known_) return finish(false);
  const bool worth = worth_it();
  if (phase_ == Phase::Alone) return finish(worth);
  if (worth || worth_) return finish(true);
  worth_ = worth;
  hold(Phase::Alone);
}

std::uint64_t BalanceSearchUnit::end_of_round() {
  cycles_ = 0;
  scored.clear();
  if (phase_ != Phase::SideBySide) {
    all_sms();
  } else if (side_by_side()) {
    make_list();
  } else {
    ++cycles_;
    if (!known_) {
      finish(true);
    } else {
      worth_ = worth_it();
      hold(Phase::OnAll);
    }
  }
  return kState * cycles_;
}

}  // namespace sluice
