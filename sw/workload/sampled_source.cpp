// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/sampled_source.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

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
  return SamplePlan(grid, resident, blocks, simulated / blocks);
}

std::uint32_t SamplePlan::first_of(std::uint32_t block) const {
  return static_cast<std::uint32_t>(std::uint64_t{block} * (grid_ - block_) / (blocks_ - 1));
}

std::uint32_t SamplePlan::index(std::uint32_t simulated) const { return first_of(simulated / block_) + simulated % block_; }

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
    const std::size_t from = std::size_t{b} * block_ + resident_, last = begun.size() - 1;
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

/// Rates by how many changes have come, between the blocks and beyond them.
class SamplePlan::Rates {
 public:
  explicit Rates(const std::vector<Rate>& all) {
    for (const Rate& rate : all)
      if (rate.alike) by_changes_[rate.changed].push_back(rate);
    for (const Rate& rate : all)
      if (!by_changes_.contains(rate.changed)) by_changes_[rate.changed] = {rate};
  }
  /// Where none was measured, the nearest.
  [[nodiscard]] const std::vector<Rate>& of(std::size_t changed) const {
    const auto apart = [&](std::size_t other) { return other > changed ? other - changed : changed - other; };
    return std::ranges::min_element(by_changes_, {}, [&](const auto& e) { return apart(e.first); })->second;
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
                                          double later) const {
  constexpr std::uint32_t kPieces = 64;  // of what lies between two blocks
  const std::vector<Rate> measured = rates(begun, changes);
  const Rates rates(measured);
  std::map<std::size_t, double> left;  // CTAs left out, by changes that had come
  Estimate out;
  const auto changed = [&](double simulated) {
    const double whole = simulated + later + out.cycles;
    return static_cast<std::size_t>(std::ranges::count_if(changes, [&](const Change& e) { return e.whole < whole; }));
  };
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    const auto begin = static_cast<double>(begun[std::size_t{b} * block_]);
    if (const std::size_t now = changed(begin); now != measured[b].changed)
      out.cycles += block_ * (rates.at(measured[b].at, now) - measured[b].cycles);
    out.so_far.emplace_back(begin, later + out.cycles);
    if (b + 1 == blocks_) break;
    const auto next = static_cast<double>(begun[(b + std::size_t{1}) * block_]);
    const double first = first_of(b) + block_, piece = (first_of(b + 1) - first) / kPieces;
    for (std::uint32_t p = 0; p < kPieces; ++p) {
      const std::size_t now = changed(next);
      out.cycles += piece * rates.at(first + (p + 0.5) * piece, now);
      left[now] += piece;
    }
  }
  double squares = 0;
  for (const auto& [now, ctas] : left) {
    const std::vector<Rate>& of = rates.of(now);
    double mean = 0, apart = 0;
    for (const Rate& r : of) mean += r.cycles / static_cast<double>(of.size());
    for (const Rate& r : of) apart += (r.cycles - mean) * (r.cycles - mean);
    if (of.size() > 1) squares += ctas * ctas * apart / static_cast<double>((of.size() - 1) * of.size());
  }
  out.interval = 1.96 * std::sqrt(squares);
  return out;
}

double SamplePlan::Estimate::before(double simulated) const {
  const auto next = std::ranges::find_if(so_far, [&](const auto& s) { return s.first >= simulated; });
  if (next == so_far.begin()) return 0;
  if (next == so_far.end()) return so_far.back().second;
  const auto last = std::prev(next);
  return last->second + (next->second - last->second) * (simulated - last->first) / (next->first - last->first);
}

SampledSource::SampledSource(std::unique_ptr<IInstructionSource> grid, const SamplePlan& plan, std::function<std::uint64_t()> now)
    : source_(std::move(grid)), plan_(plan), now_(std::move(now)) {
  index_.reserve(plan.simulated());
  for (std::uint32_t i = 0; i < plan.simulated(); ++i) index_.push_back(plan.index(i));
}

std::uint32_t SampledSource::begin_cta(std::uint32_t cta) {
  const std::uint32_t at = index_.at(cta);
  for (; next_ < at; ++next_) source_->end_cta(source_->begin_cta(next_));
  ++next_;
  begun_.push_back(now_());
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
