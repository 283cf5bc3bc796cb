// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/partition_core.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace sluice {

namespace {

constexpr std::uint32_t kLeadingOne = 1U << kEntryFractionBits;
constexpr std::uint32_t kBest = kPerfOne - 1;  // 1.0 of a performance in the allocator, else units of 1 / kPerfOne
constexpr unsigned kReciprocalCycles = 14;     // of a division
constexpr unsigned kHullCycles = 6;            // of an entry, from its read to its place in the list
constexpr unsigned kLoads = 4;                 // steps that are loaded of each kernel, the first one included
constexpr unsigned kNormaliseCycles = 3;       // from loading a step to its performance
constexpr unsigned kJudgeCycles = 3;  // from that of the last kernel with one CTA: its place in the order, the last verdict, done

struct Entry {
  std::uint32_t mantissa, exponent;
};
/// With the leading one, which zero has not.
Entry unpack(std::uint32_t value) {
  const std::uint32_t exponent = value >> kEntryFractionBits, fraction = value % kLeadingOne;
  return {exponent == 0 ? fraction : fraction + kLeadingOne, exponent};
}

constexpr unsigned kCurveGuardBits = 3;  // of a value relative to the best, below the best's last bit
constexpr unsigned kLineGuardBits = 4;   // of the line, below those

/// value / n, in units of the line: by the reciprocal of n, 14 bits with the top one set.
std::uint64_t a_cta_of(std::uint32_t value, unsigned n) {
  const unsigned shift = static_cast<unsigned>(std::bit_width(n - 1));
  return (std::uint64_t{value} * ((1U << (13 + shift)) / n)) >> (13 - kLineGuardBits) >> shift;
}

std::uint32_t linear(std::uint32_t performance) { return performance == kBest ? kPerfOne : performance; }

/// What the allocator decided, and how many cycles of steps and marks it took.
struct Allocation {
  bool no_fit = false;
  unsigned cycles = 0;
  std::array<std::uint8_t, kMaxKernels> ctas{};
  std::array<std::uint32_t, kMaxKernels> performance{};
};

/// Warped-Slicer section IV: may this kernel lose what it loses?
bool loses_too_much(std::uint32_t performance, const PartitionCoreIn& config) {
  const std::uint64_t loss = kPerfOne - performance;
  return loss * config.num_kernels > config.loss_limit;
}

class Pool {
 public:
  explicit Pool(const PartitionCoreIn& c)
      : left_{c.capacity_warps, c.capacity_registers, c.capacity_shared_bytes, c.capacity_slots} {}
  bool take(const PartitionCoreIn& c, unsigned kernel, unsigned count) {
    const std::array<std::uint64_t, 4> need{std::uint64_t{c.demand_warps[kernel]} * count,
                                            std::uint64_t{c.demand_registers[kernel]} * count,
                                            std::uint64_t{c.demand_shared_bytes[kernel]} * count, count};
    for (std::size_t r = 0; r < need.size(); ++r) {
      if (need[r] > left_[r]) return false;
    }
    for (std::size_t r = 0; r < need.size(); ++r) left_[r] -= need[r];
    return true;
  }

 private:
  std::array<std::uint64_t, 4> left_;
};

Allocation allocate(const PartitionCoreIn& config, const std::array<PerfTableRow, kMaxKernels>& curves) {
  Allocation result;
  Pool pool(config);
  for (unsigned k = 0; k < config.num_kernels; ++k) {
    if (!pool.take(config, k, 1)) {
      result.no_fit = true;
      return result;
    }
    result.ctas[k] = 1;
    result.performance[k] = curves[k].performance(0);
  }
  std::array<std::size_t, kMaxKernels> step{};
  std::array<bool, kMaxKernels> full{};
  for (;;) {
    std::optional<unsigned> worst;
    for (unsigned k = 0; k < config.num_kernels; ++k) {
      if (!full[k] && (!worst || result.performance[k] < result.performance[*worst])) worst = k;
    }
    if (!worst) return result;
    ++result.cycles;
    const unsigned k = *worst;
    full[k] = curves[k].last(step[k]);
    if (full[k]) continue;
    const unsigned count = curves[k].ctas(step[k] + 1) - result.ctas[k];
    if (count > 1) ++result.cycles;  // its demand is a product
    const std::uint32_t performance = curves[k].performance(step[k] + 1);
    const bool too_little = config.epsilon != 0 && linear(performance) - result.performance[k] <= config.epsilon * count;
    full[k] = too_little || !pool.take(config, k, count);
    if (full[k]) continue;
    ++step[k];
    result.ctas[k] = static_cast<std::uint8_t>(result.ctas[k] + count);
    result.performance[k] = performance;
  }
}

}  // namespace

std::uint32_t PerfTableRow::performance(std::size_t step) const {
  if (last(step)) return kBest;
  const std::uint32_t reciprocal = std::min(kBest, kPerfOne * kLeadingOne / best_mantissa_);
  return (steps_[step].value * reciprocal) >> (kEntryFractionBits + kCurveGuardBits);
}

void PerfTableRow::raise() {
  const Entry best = unpack(std::ranges::max(entries_));
  best_mantissa_ = best.mantissa;
  // From the highest count down; the steps are found in the order of their counts.
  std::vector<std::uint32_t> hull(entries_.size());
  std::uint64_t line = 0, fall = 0;
  for (std::size_t n = entries_.size(); n > 0; --n) {
    const Entry most = unpack(*std::max_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(n)));
    const std::uint32_t value = (most.mantissa << kCurveGuardBits) >> (best.exponent - most.exponent);
    const bool anchor = n == entries_.size() || value > line >> kLineGuardBits;
    hull[n - 1] = anchor ? value : static_cast<std::uint32_t>(line >> kLineGuardBits);
    if (anchor) {
      line = std::uint64_t{value} << kLineGuardBits;
      fall = a_cta_of(value, static_cast<unsigned>(n));
    }
    line -= fall;
  }
  steps_.clear();
  for (unsigned n = 1; n <= hull.size(); ++n)
    if (steps_.empty() || hull[n - 1] > steps_.back().value) steps_.push_back({n, hull[n - 1]});
}

PartitionCoreTwin::PartitionCoreTwin(unsigned /*max_kernels*/, unsigned max_ctas) : max_ctas_(max_ctas) {}

void PartitionCoreTwin::forget() {
  collecting_ = false;
  writing_.reset();
  pending_.clear();
  finished_.clear();
  hull_left_.fill(0);
  operand_ = false;
  reads_left_ = divide_left_ = decided_in_ = first_in_ = loaded_ = 0;
}

/// docs/reference/blocks/perf_table.md: the top bit of 18, in a place from 3 to 17, leads the mantissa.
std::uint32_t PartitionCoreTwin::entry(std::uint32_t instructions) {
  const int top = std::bit_width(instructions) - 1;
  if (top < 3) return 0;
  const std::uint32_t mantissa = (instructions << (17 - top)) >> 5;
  return (static_cast<std::uint32_t>(top - 2) << kEntryFractionBits) | (mantissa - kLeadingOne);
}

PartitionCoreOut PartitionCoreTwin::cycle(const PartitionCoreIn& in) {
  if (!in.rst_n) forget();
  PartitionCoreOut out = results_;
  out.done = decided_in_ == 1;
  if (writing_) {
    out.scaled_valid = true;
    out.scaled_kernel = static_cast<std::uint8_t>(writing_->kernel);
    out.scaled_ctas = static_cast<std::uint8_t>(writing_->ctas);
    out.scaled = writing_->value;
  }
  if (in.rst_n) clock(in);
  return out;
}

void PartitionCoreTwin::clock(const PartitionCoreIn& in) {
  if (in.abort || in.start) {
    forget();
    collecting_ = in.start && !in.abort;
    if (collecting_) config_ = in;
    return;
  }
  const bool takes = collecting_ && in.sample_valid;
  if (decided_in_ > 0) --decided_in_;
  if (first_in_ > 0 && --first_in_ == 0) {
    collecting_ = false;
    decide();
  }
  load();
  for (unsigned& left : hull_left_) left -= left > 0 ? 1 : 0;
  operand_ = reads_left_ > 0;
  const bool reading = reads_left_ > 0;
  if (reading) --reads_left_;
  divide(reading);
  if (writing_) {
    curves_[writing_->kernel].write(writing_->ctas, writing_->value);
    if (writing_->final) pending_.insert(writing_->kernel);
  }
  writing_.reset();
  if (takes) writing_ = Scaled{in.sample_kernel, in.sample_ctas, entry(in.sample_warp_insts), in.sample_final};
}

/// docs/reference/blocks/step_prefetch.md: kernel by kernel, some cycles each, beside divisions and samples.
bool PartitionCoreTwin::loads() const {
  const unsigned kernel = loaded_ / kLoads;
  return collecting_ && kernel < config_.num_kernels && finished_.contains(kernel) && hull_left_[kernel] == 0 && !operand_;
}

void PartitionCoreTwin::load() {
  if (!loads()) return;
  if (loaded_ == kLoads * (config_.num_kernels - 1U)) first_in_ = kNormaliseCycles;
  ++loaded_;
}

/// One division at a time: best performances, once they are known.
void PartitionCoreTwin::divide(bool reading) {
  if (divide_left_ > 0) {
    if (--divide_left_ == 0) finished_.insert(dividing_);
    return;
  }
  if (pending_.empty() || reading) return;
  divide_left_ = kReciprocalCycles;
  dividing_ = *pending_.begin();
  pending_.erase(pending_.begin());
  curves_[dividing_].raise();
  reads_left_ = static_cast<unsigned>(curves_[dividing_].counts());
  hull_left_[dividing_] = reads_left_ + kHullCycles;
}

void PartitionCoreTwin::decide() {
  const Allocation allocation = allocate(config_, curves_);
  results_.no_fit = allocation.no_fit;
  results_.ctas = allocation.ctas;
  results_.spatial = false;
  for (unsigned k = 0; k < config_.num_kernels && !allocation.no_fit; ++k)
    results_.spatial |= loses_too_much(linear(allocation.performance[k]), config_);
  decided_in_ = allocation.cycles + kJudgeCycles;
}

std::unique_ptr<IPartitionCore> make_twin_partition_core(unsigned max_kernels, unsigned max_ctas) {
  return std::make_unique<PartitionCoreTwin>(max_kernels, max_ctas);
}

}  // namespace sluice
