// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/partition_core.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace sluice {

namespace {

constexpr std::uint32_t kLeadingOne = 1U << kEntryFractionBits;
constexpr unsigned kPerformanceBits = 15;                        // of a quotient and of a product's factor
constexpr std::uint32_t kNoBest = (1U << kPerformanceBits) - 1;  // quotients of zeros

struct Entry {
  std::uint32_t mantissa, exponent;
};
/// With the leading one, which zero has not.
Entry unpack(std::uint32_t value) {
  const std::uint32_t exponent = value >> kEntryFractionBits, fraction = value % kLeadingOne;
  return {exponent == 0 ? fraction : fraction + kLeadingOne, exponent};
}

/// What the core knows while it fills an SM, and the cycles that it took.
class Filling {
 public:
  Filling(const PartitionCoreIn& config, const std::array<PerfTableRow, kMaxKernels>& curves) : c_(config), curves_(curves) {}

  PartitionCoreOut decide() {
    ctas_.fill(1);
    PartitionCoreOut out;
    out.no_fit = !fits(ctas_);
    while (!out.no_fit) {
      const auto worst = worst_off();
      if (!worst) break;
      const std::uint32_t count = next_step(*worst);
      auto wanted = ctas_;
      wanted[*worst] = count;
      if (gains_enough(*worst, count) && fits(wanted))
        ctas_ = wanted;
      else
        full_[*worst] = true;
    }
    for (unsigned k = 0; k < c_.num_kernels && !out.no_fit; ++k) out.spatial |= loses_too_much(at(k, ctas_[k]));
    for (unsigned k = 0; k < c_.num_kernels; ++k) out.ctas[k] = static_cast<std::uint8_t>(ctas_[k]);
    return out;
  }
  [[nodiscard]] unsigned cycles() const { return cycles_; }

 private:
  using Counts = std::array<std::uint32_t, kMaxKernels>;
  [[nodiscard]] std::uint32_t at(unsigned kernel, std::uint32_t ctas) const { return curves_[c_.rows[kernel]].performance(ctas); }

  /// A demand a cycle is taken from each resource in turn; a look before each kernel, and at the end, ends it.
  bool fits(const Counts& counts) {
    const std::array<std::uint32_t, 4> capacity{c_.capacity_slots, c_.capacity_warps, c_.capacity_registers,
                                                c_.capacity_shared_bytes};
    ++cycles_;  // the end
    bool below = false;
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      ++cycles_;
      std::uint64_t wanted = 0;
      for (unsigned k = 0; k < c_.num_kernels; ++k) {
        ++cycles_;
        if (below) return false;
        const std::array<std::uint32_t, 4> demand{1, c_.demand_warps[k], c_.demand_registers[k], c_.demand_shared_bytes[k]};
        cycles_ += counts[k];
        wanted += std::uint64_t{counts[k]} * demand[r];
        below = wanted > capacity[r];
      }
    }
    return !below;
  }

  std::optional<unsigned> worst_off() {
    std::optional<unsigned> worst;
    std::uint32_t least = kPerfOne;
    for (unsigned k = 0; k < c_.num_kernels; ++k) {
      cycles_ += full_[k] ? 1 : 4;
      if (full_[k] || at(k, ctas_[k]) >= least) continue;
      worst = k;
      least = at(k, ctas_[k]);
    }
    ++cycles_;
    return worst;
  }

  std::uint32_t next_step(unsigned kernel) {
    std::uint32_t count = ctas_[kernel];
    ++cycles_;
    do {
      ++count;
      cycles_ += 3;
    } while (at(kernel, count) == at(kernel, ctas_[kernel]));
    return count;
  }

  bool gains_enough(unsigned kernel, std::uint32_t count) {
    if (c_.epsilon == 0) return true;
    const std::uint32_t more = count - ctas_[kernel];
    cycles_ += 2 + more;
    const bool enough = at(kernel, count) - at(kernel, ctas_[kernel]) > c_.epsilon * more;
    cycles_ += enough ? 0 : 1;  // the end of a fit that is not tried
    return enough;
  }

  /// Warped-Slicer section IV: may a kernel lose what it loses?
  bool loses_too_much(std::uint32_t performance) {
    cycles_ += 3U + c_.num_kernels;
    return performance < kPerfOne && (kPerfOne - performance) * c_.num_kernels > c_.loss_limit;
  }

  const PartitionCoreIn& c_;
  const std::array<PerfTableRow, kMaxKernels>& curves_;
  Counts ctas_{};
  std::array<bool, kMaxKernels> full_{};
  unsigned cycles_ = 0;
};

}  // namespace

unsigned PerfTableRow::finish() {
  const auto levels = static_cast<unsigned>(words_.size());
  unsigned cycles = 3 * levels + 1;
  for (unsigned n = 1; n < levels; ++n) words_[n] = std::max(words_[n], words_[n - 1]);
  const Entry best = unpack(words_.back());
  for (std::uint32_t& word : words_) {
    const Entry entry = unpack(word);
    const unsigned places = kPerformanceBits - (best.exponent - entry.exponent);
    word = best.mantissa == 0 ? kNoBest : ((entry.mantissa << places) >> 1) / best.mantissa;  // 28 bits at most
    cycles += 2 + std::max(1U, places);
  }
  unsigned anchor = levels;
  for (unsigned n = levels - 1; n > 0; --n) {
    const std::uint32_t line = words_[anchor - 1] * n / anchor;
    if (words_[n - 1] > line)
      anchor = n;
    else
      words_[n - 1] = line;
    cycles += 2 * kPerformanceBits + 6;
  }
  return cycles + 2;  // it begins, and the next kernel does
}

void PartitionCoreTwin::forget() {
  collecting_ = false;
  writing_.reset();
  decided_in_ = 0;
}

/// docs/reference/blocks/partition_core.md: the top bit of 18, in a place from 3 to 17, leads the mantissa.
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
    if (collecting_) {
      config_ = in;
      finals_left_ = in.num_kernels - static_cast<unsigned>(std::popcount(in.kept));
    }
    return;
  }
  if (decided_in_ > 0) --decided_in_;
  if (writing_) curves_[config_.rows[writing_->kernel]].write(writing_->ctas, writing_->value);
  writing_.reset();
  if (!collecting_) return;
  if (in.sample_valid) {
    writing_ = Scaled{in.sample_kernel, in.sample_ctas, entry(in.sample_warp_insts)};
    finals_left_ -= in.sample_final ? 1 : 0;
  } else if (finals_left_ == 0) {
    decide();
  }
}

void PartitionCoreTwin::decide() {
  collecting_ = false;
  decided_in_ = 1;
  for (unsigned k = 0; k < config_.num_kernels; ++k) decided_in_ += kept(k) ? 2 : curves_[config_.rows[k]].finish();
  Filling filling(config_, curves_);
  results_ = filling.decide();
  decided_in_ += filling.cycles();
}

std::unique_ptr<IPartitionCore> make_twin_partition_core() { return std::make_unique<PartitionCoreTwin>(); }

}  // namespace sluice
