// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/sampled_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "sw/core/errors.h"

namespace sluice {

namespace {
constexpr std::uint32_t kWaves = 4;  ///< of a block, each of as many CTAs as the machine holds: one warms the caches
constexpr std::uint32_t kMostBlocks = 64;
}  // namespace

std::uint32_t SamplePlan::most_ratio(std::uint32_t grid, std::uint32_t resident) {
  return std::max(1U, grid / (kBlocks * kWaves * std::max(1U, resident)));
}

std::optional<SamplePlan> SamplePlan::of(std::uint32_t grid, std::uint32_t resident, std::uint32_t ratio) {
  const std::uint32_t used = std::min(ratio, most_ratio(grid, resident));
  if (used < 2) return std::nullopt;
  const std::uint32_t simulated = grid / used, wave = kWaves * std::max(1U, resident);
  const std::uint32_t blocks = std::clamp(simulated / wave, kBlocks, kMostBlocks);
  return SamplePlan(grid, resident, blocks, simulated / blocks, 0);
}

std::optional<SamplePlan> SamplePlan::behind(std::uint32_t begun) const {
  constexpr std::uint32_t kLeast = 3;
  const std::uint32_t left = simulated() - std::min(begun, simulated()), wave = kWaves * std::max(1U, resident_);
  if (left < kLeast * wave) return std::nullopt;
  const std::uint32_t blocks = std::clamp(left / wave, kLeast, kMostBlocks);
  return SamplePlan(grid_, resident_, blocks, left / blocks, begun + left % blocks);
}

std::uint32_t SamplePlan::first_of(std::uint32_t block) const {
  return head_ + static_cast<std::uint32_t>(std::uint64_t{block} * (grid_ - head_ - block_) / (blocks_ - 1));
}

std::uint32_t SamplePlan::index(std::uint32_t simulated) const {
  if (simulated < head_) return simulated;
  return first_of((simulated - head_) / block_) + (simulated - head_) % block_;
}

/// Of a block.
struct SamplePlan::Rate {
  double at = 0, cycles = 0;  ///< middle of the block in the grid; cycles a CTA
  std::size_t changed = 0;    ///< changes that had come by then
  bool alike = true;          ///< none came in it
};

/// A CTA begins when another ends: begins from the block's second wave to the next block's are the ends of the block's CTAs.
/// CTAs may end in waves, so a rate is over whole ones.
std::vector<SamplePlan::Rate> SamplePlan::rates(const std::vector<std::uint64_t>& begun,
                                                const std::vector<Change>& changes) const {
  std::vector<Rate> rates;
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    const std::size_t from = begin_of(b) + resident_, last = begun.size() - 1;
    const std::size_t to = b + 1 < blocks_ ? from + block_ : last - (last - from) % resident_;
    const auto first = static_cast<double>(begun.at(from)), until = static_cast<double>(begun.at(to));
    const auto by = [&](double cycle) {
      return static_cast<std::size_t>(std::ranges::count_if(changes, [&](const Change& e) { return e.simulated < cycle; }));
    };
    rates.push_back({first_of(b) + block_ / 2.0, (until - first) / static_cast<double>(to - from), by((first + until) / 2),
                     by(first) == by(until)});
  }
  return rates;
}

/// The parts into which changes divide the blocks, behind the first wave, in whole waves: those that a decision made begin
/// together end together.
std::vector<SamplePlan::Rate> SamplePlan::parts(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes,
                                                const std::vector<std::uint32_t>& alive) const {
  std::vector<Rate> parts;
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    const std::size_t end = b + 1 < blocks_ ? begin_of(b + std::size_t{1}) : begun.size() - 1;
    std::size_t from = begin_of(b);
    for (std::size_t changed = 0; changed <= changes.size(); ++changed) {
      std::size_t to = from, wave = alive.empty() ? resident_ : 1;
      for (; to < end; ++to) {
        if (changed < changes.size() && static_cast<double>(begun[to]) >= changes[changed].simulated) break;
        if (!alive.empty()) wave = std::max<std::size_t>(wave, alive[to]);
      }
      const std::size_t first = from + wave, last = first + (to > first ? (to - first) / wave * wave : 0);
      if (last > first)
        parts.push_back({first_of(b) + static_cast<double>(first + last) / 2 - static_cast<double>(begin_of(b)),
                         static_cast<double>(begun[last] - begun[first]) / static_cast<double>(last - first), changed, true});
      from = to;
    }
  }
  return parts;
}

/// Rates by how many changes have come, between the blocks and beyond them: of blocks in which none comes; where no block is, of
/// parts of blocks.
class SamplePlan::Rates {
 public:
  Rates(const std::vector<Rate>& blocks, const std::vector<Rate>& parts) {
    for (const Rate& rate : blocks)
      if (rate.alike) by_changes_[rate.changed].push_back(rate);
    const std::map<std::size_t, std::vector<Rate>> whole = by_changes_;
    for (const Rate& rate : parts)
      if (!whole.contains(rate.changed)) by_changes_[rate.changed].push_back(rate);
    for (const Rate& rate : blocks)
      if (!by_changes_.contains(rate.changed)) by_changes_[rate.changed] = {rate};
  }
  [[nodiscard]] bool measured(std::size_t changed) const {
    const auto found = by_changes_.find(changed);
    return found != by_changes_.end() && found->second.front().alike;
  }
  /// Where none was measured, the nearest.
  [[nodiscard]] const std::vector<Rate>& of(std::size_t changed) const {
    const auto apart = [&](std::size_t other) { return other > changed ? other - changed : changed - other; };
    return std::ranges::min_element(by_changes_, {}, [&](const auto& e) { return apart(e.first); })->second;
  }
  static double mean(const std::vector<Rate>& of) {
    double sum = 0;
    for (const Rate& r : of) sum += r.cycles;
    return sum / static_cast<double>(of.size());
  }
  /// Variance of a rate over its square, of all whose number of changes has several; nothing: none has.
  [[nodiscard]] std::optional<double> variance() const {
    double squares = 0, free = 0;
    for (const auto& [changed, of] : by_changes_) {
      for (const Rate& r : of) squares += std::pow(r.cycles / mean(of) - 1, 2);
      free += static_cast<double>(of.size() - 1);
    }
    return free > 0 ? std::optional(squares / free) : std::nullopt;
  }
  [[nodiscard]] double at(double cta, std::size_t changed) const {
    const std::vector<Rate>& rates = of(changed);
    const auto next = std::ranges::find_if(rates, [&](const Rate& r) { return r.at >= cta; });
    if (next == rates.begin()) return next->cycles;
    if (next == rates.end()) return rates.back().cycles;
    const Rate& last = *std::prev(next);
    return last.cycles + (next->cycles - last.cycles) * (cta - last.at) / (next->at - last.at);
  }

 private:
  std::map<std::size_t, std::vector<Rate>> by_changes_;
};

/// What lies between two blocks goes at a rate between theirs, as long as no change comes. A change comes elsewhere in the whole
/// than in the simulation, so a block, too, may have to be counted anew.
SamplePlan::Estimate SamplePlan::left_out(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes,
                                          double later, const std::vector<std::uint32_t>& alive) const {
  constexpr std::uint32_t kPieces = 64;  // of what lies between two blocks
  const std::vector<Rate> measured = rates(begun, changes);
  const Rates rates(measured, parts(begun, changes, alive));
  std::map<std::size_t, double> left;  // CTAs left out, by changes that had come
  Estimate out;
  const auto changed = [&](double simulated) {
    const double whole = simulated + later + out.cycles;
    return static_cast<std::size_t>(std::ranges::count_if(changes, [&](const Change& e) { return e.whole < whole; }));
  };
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    const auto begin = static_cast<double>(begun[begin_of(b)]);
    if (const std::size_t now = changed(begin); now != measured[b].changed)
      out.cycles += block_ * (rates.at(measured[b].at, now) - measured[b].cycles);
    out.so_far.emplace_back(begin, later + out.cycles);
    if (b + 1 == blocks_) break;
    const auto next = static_cast<double>(begun[begin_of(b + std::size_t{1})]);
    const double first = first_of(b) + block_, piece = (first_of(b + 1) - first) / kPieces;
    for (std::uint32_t p = 0; p < kPieces; ++p) {
      const std::size_t now = changed(next);
      out.cycles += piece * rates.at(first + (p + 0.5) * piece, now);
      left[now] += piece;
    }
  }
  double squares = 0, not_measured = 0;
  for (const auto& [now, ctas] : left) {
    const std::vector<Rate>& of = rates.of(now);
    const double mean = Rates::mean(of);
    double apart = 0;
    for (const Rate& r : of) apart += (r.cycles - mean) * (r.cycles - mean);
    if (!rates.measured(now) || (of.size() == 1 && !rates.variance()))
      not_measured += ctas * mean;  // no block has the rate: it may be any
    else if (of.size() == 1)
      squares += ctas * ctas * mean * mean * *rates.variance();
    else
      squares += ctas * ctas * apart / static_cast<double>((of.size() - 1) * of.size());
  }
  out.interval = 1.96 * std::sqrt(squares) + not_measured;
  return out;
}

double SamplePlan::Estimate::before(double simulated) const {
  const auto next = std::ranges::find_if(so_far, [&](const auto& s) { return s.first >= simulated; });
  if (next == so_far.begin()) return 0;
  if (next == so_far.end()) return so_far.back().second;
  const auto last = std::prev(next);
  return last->second + (next->second - last->second) * (simulated - last->first) / (next->first - last->first);
}

SampledSource::SampledSource(std::unique_ptr<IInstructionSource> grid, const SamplePlan& plan, std::function<std::uint64_t()> now,
                             std::function<bool()> undecided)
    : source_(std::move(grid)), plan_(plan), now_(std::move(now)), undecided_(std::move(undecided)), index_(plan.simulated()) {
  std::iota(index_.begin(), index_.end(), 0U);
}

void SampledSource::place() {
  const auto begun = static_cast<std::uint32_t>(begun_.size());
  if (begun != 0) {
    const std::optional<SamplePlan> rest = plan_.behind(begun);
    if (!rest)
      throw InputError(
          fmt::format("{} of the {} CTAs to simulate had begun when the partition was decided, at cycle {}: too few are "
                      "left: a smaller --sample has more",
                      begun, plan_.simulated(), now_()));
    plan_ = *rest;
  }
  for (std::uint32_t i = begun; i < plan_.simulated(); ++i) index_[i] = plan_.index(i);
  placed_ = now_();
}

std::uint32_t SampledSource::begin_cta(std::uint32_t cta) {
  const bool last = cta + 1 == plan_.simulated();  // whether decided or not, it is too late
  if (!placed_ && (last || !undecided_())) place();
  const std::uint32_t at = index_.at(cta);
  for (; next_ < at; ++next_) source_->end_cta(source_->begin_cta(next_));
  ++next_;
  begun_.push_back(now_());
  alive_.push_back(++now_alive_);
  return source_->begin_cta(at);
}

WarpCursor SampledSource::in_grid(const WarpCursor& cursor) const {
  WarpCursor out = cursor;
  out.cta = index_[cursor.cta];
  return out;
}

Instruction SampledSource::next(WarpCursor& cursor) const {
  WarpCursor at = in_grid(cursor);
  const Instruction next = source_->next(at);
  at.cta = cursor.cta;
  cursor = at;
  return next;
}

void SampledSource::lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const {
  source_->lines(in_grid(cursor), position, lines);
}

}  // namespace sluice
