#include "systemc/partition/tlm_partition_core.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace sluice {

namespace {

constexpr std::uint32_t kLeadingOne = 1U << kEntryFractionBits;
constexpr std::uint32_t kBest = kPerfOne - 1;  // 1.0 of a performance in the allocator, else units of 1 / kPerfOne
constexpr unsigned kTwoCycleEntries = 32;      // tables up to this size take two cycles a sample
constexpr unsigned kSampleLatency = 6;         // cycles from taking a sample to its write
constexpr unsigned kSampleMultiplies = 2;      // and to the second use of the multiplier
constexpr unsigned kReciprocalCycles = 14;     // of a division
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
  const Entry best = unpack(steps_.back().value), entry = unpack(steps_[step].value);
  const std::uint32_t reciprocal = std::min(kBest, kPerfOne * kLeadingOne / best.mantissa);
  return ((entry.mantissa * reciprocal) >> kEntryFractionBits) >> (best.exponent - entry.exponent);
}

TlmPartitionCore::TlmPartitionCore(unsigned max_kernels, unsigned max_ctas)
    : ratio_bits_(12 + static_cast<unsigned>(std::bit_width(max_ctas - 1))),
      max_ctas_(max_ctas),
      two_cycles_(max_kernels * max_ctas <= kTwoCycleEntries) {}

void TlmPartitionCore::forget() {
  collecting_ = false;
  walk_.known = false;
  taken_.clear();
  pending_.clear();
  finished_.clear();
  align_left_.fill(0);
  divide_left_ = decided_in_ = first_in_ = loaded_ = 0;
}

bool TlmPartitionCore::may_take(const PartitionCoreIn& in) const {
  return collecting_ && !(divide_left_ > 0 && for_sum_) &&
         !(two_cycles_ &&
           std::ranges::any_of(taken_, [](const Scaled& s) { return s.in == kSampleLatency - kSampleMultiplies; })) &&
         !loads();
}

TlmPartitionCore::Walk TlmPartitionCore::walked(const PartitionCoreIn& in) const {
  const bool follows = walk_.known && walk_.kernel == in.sample_kernel && walk_.ctas < in.sample_ctas;
  return {true, in.sample_kernel, follows ? walk_.ctas + 1 : 1};
}

/// docs/blocks/ipc_scaler.md and perf_table.md, row by row of their tables.
std::uint32_t TlmPartitionCore::scale(const PartitionCoreIn& in) const {
  const auto up = static_cast<unsigned>(std::min(5, std::countl_zero(static_cast<std::uint16_t>(config_.window_cycles))));
  const std::uint32_t window = (config_.window_cycles << up) >> 3;
  const std::uint32_t stall = ((in.sample_stall_cycles << up) >> 4) * 2;
  const std::uint32_t share = (in.sample_ctas * ratio_[in.sample_kernel]) >> (ratio_bits_ - 13) & 16383;
  const std::uint32_t factor = (window - stall + ((stall * share) >> 13)) & 16383;

  const int zeros = std::min(15, std::countl_zero(in.sample_warp_insts) - 14);  // of 18 bits
  const std::uint32_t product = ((in.sample_warp_insts << zeros) >> 5) * factor;
  const int more = std::min(7, std::countl_zero(product) - 5);  // of 27 bits
  const std::uint32_t mantissa = (product << more) >> 14;
  const int exponent = (15 - zeros + static_cast<int>(up)) % 16 - more;
  if (mantissa < kLeadingOne || exponent <= 0) return 0;
  return (static_cast<std::uint32_t>(exponent) << kEntryFractionBits) | (mantissa - kLeadingOne);
}

PartitionCoreOut TlmPartitionCore::cycle(const PartitionCoreIn& in) {
  if (!in.rst_n) forget();
  PartitionCoreOut out = results_;
  out.done = decided_in_ == 1;
  out.prepare_ready = collecting_ && !in.start && pending_.empty() && divide_left_ == 0;
  out.sample_ready = may_take(in) && walked(in).ctas == in.sample_ctas;
  if (const Scaled* entry = writing()) {
    out.scaled_valid = true;
    out.scaled_kernel = static_cast<std::uint8_t>(entry->kernel);
    out.scaled_ctas = static_cast<std::uint8_t>(entry->ctas);
    out.scaled = entry->value;
  }
  if (in.rst_n) clock(in, out);
  return out;
}

void TlmPartitionCore::clock(const PartitionCoreIn& in, const PartitionCoreOut& out) {
  if (in.abort || in.start) {
    forget();
    collecting_ = in.start && !in.abort;
    if (collecting_) config_ = in;
    return;
  }
  const bool walks = in.sample_valid && may_take(in);
  if (decided_in_ > 0) --decided_in_;
  if (first_in_ > 0 && --first_in_ == 0) {
    collecting_ = false;
    decide();
  }
  load();
  for (unsigned& left : align_left_) left -= left > 0 ? 1 : 0;
  divide(in, out);
  if (const Scaled* entry = writing()) {
    curves_[entry->kernel].write(entry->ctas, entry->value);
    if (entry->final) pending_.insert(entry->kernel);
    taken_.pop_front();
  }
  for (Scaled& sample : taken_) --sample.in;
  if (walks) walk_ = walked(in);
  if (in.prepare_valid && out.prepare_ready) walk_.known = false;
  if (in.sample_valid && out.sample_ready)
    taken_.push_back({in.sample_kernel, in.sample_ctas, scale(in), in.sample_final, kSampleLatency - 1});
}

/// docs/blocks/step_prefetch.md: kernel by kernel, some cycles each, beside divisions but not beside samples.
bool TlmPartitionCore::loads() const {
  const unsigned kernel = loaded_ / kLoads;
  return collecting_ && taken_.empty() && kernel < config_.num_kernels && finished_.contains(kernel) &&
         (loaded_ % kLoads != 0 || align_left_[kernel] == 0);
}

void TlmPartitionCore::load() {
  if (!loads()) return;
  if (loaded_ == kLoads * (config_.num_kernels - 1U)) first_in_ = kNormaliseCycles;
  ++loaded_;
}

/// One division at a time: sums that are prepared, and best performances once they are known.
void TlmPartitionCore::divide(const PartitionCoreIn& in, const PartitionCoreOut& out) {
  if (divide_left_ > 0) {
    if (--divide_left_ == 0 && !for_sum_) finished_.insert(dividing_);
    return;
  }
  const bool sum = in.prepare_valid && out.prepare_ready && !finished_.contains(in.prepare_kernel);
  if (pending_.empty() && !sum) return;
  for_sum_ = pending_.empty();
  divide_left_ = for_sum_ ? ratio_bits_ + 1 : kReciprocalCycles;
  if (!for_sum_) {
    dividing_ = *pending_.begin();
    pending_.erase(pending_.begin());
    align_left_[dividing_] = max_ctas_ - static_cast<unsigned>(curves_[dividing_].steps());
  } else {
    const std::uint32_t one = 1U << ratio_bits_;
    ratio_[in.prepare_kernel] = std::min(one - 1, in.num_samples * one / in.prepare_sum);
  }
}

void TlmPartitionCore::decide() {
  const Allocation allocation = allocate(config_, curves_);
  results_.no_fit = allocation.no_fit;
  results_.ctas = allocation.ctas;
  results_.spatial = false;
  for (unsigned k = 0; k < config_.num_kernels && !allocation.no_fit; ++k)
    results_.spatial |= loses_too_much(linear(allocation.performance[k]), config_);
  decided_in_ = allocation.cycles + kJudgeCycles;
}

std::unique_ptr<IPartitionCore> make_tlm_partition_core(unsigned max_kernels, unsigned max_ctas) {
  return std::make_unique<TlmPartitionCore>(max_kernels, max_ctas);
}

}  // namespace sluice
