#include "systemc/partition/tlm_partition_core.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace sluice {

namespace {

constexpr unsigned kScalerDivideCycles = 14;  // reciprocal of 26 bits, two a cycle, and the cycle that takes the result
constexpr unsigned kTableDivideCycles = 10;   // reciprocal of 18 bits, two a cycle, and the cycle that stores it
constexpr unsigned kScalerPipeline = 3;
constexpr unsigned kPerfFraction = 14;
constexpr std::uint64_t kScaledMax = (1U << 24) - 1;

/// floor(2**26 / x), 26 bits; saturates at all ones.
std::uint64_t reciprocal26(std::uint64_t x) { return x <= 1 ? (1U << 26) - 1 : (std::uint64_t{1} << 26) / x; }

/// Equations 3 and 4 in the hardware's fixed point (docs/blocks/ipc_scaler.md).
std::uint64_t scale(const PartitionCoreIn& in, std::uint32_t window, std::uint64_t sum_reciprocal) {
  const unsigned shift = std::min(5, std::countl_zero(static_cast<std::uint16_t>(window)));
  const std::uint64_t window_reciprocal = std::min<std::uint64_t>(reciprocal26(std::uint64_t{window} << shift), (1U << 12) - 1);
  const std::uint64_t stall = (std::uint64_t{std::min(in.sample_stall_cycles, window)} << shift) >> 4;
  const std::uint64_t phi = (stall * window_reciprocal) >> 10;
  const std::uint64_t share = std::uint64_t{in.sample_ctas} * in.num_samples;
  const std::uint64_t ratio = std::min<std::uint64_t>((share * (sum_reciprocal >> 6)) >> 8, 8U << 12);
  const std::int64_t factor =
      ((std::int64_t{1} << 24) + static_cast<std::int64_t>(phi) * (static_cast<std::int64_t>(ratio) - 4096)) >> 12;
  return std::min<std::uint64_t>((std::uint64_t{in.sample_warp_insts} * static_cast<std::uint64_t>(factor)) >> 8, kScaledMax);
}

/// What the allocator decided, and how many cycles of stepping it took.
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
    ++result.cycles;
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
    ++result.cycles;
    std::optional<unsigned> worst;
    for (unsigned k = 0; k < config.num_kernels; ++k) {
      if (!full[k] && (!worst || result.performance[k] < result.performance[*worst])) worst = k;
    }
    if (!worst) return result;
    const unsigned k = *worst;
    full[k] = curves[k].last(step[k]);
    if (full[k]) continue;
    const unsigned count = curves[k].ctas(step[k] + 1) - result.ctas[k];
    const std::uint32_t performance = curves[k].performance(step[k] + 1);
    const bool too_little = config.epsilon != 0 && performance - result.performance[k] <= config.epsilon * count;
    full[k] = too_little || !pool.take(config, k, count);
    if (full[k]) continue;
    ++step[k];
    result.ctas[k] = static_cast<std::uint8_t>(result.ctas[k] + count);
    result.performance[k] = performance;
  }
}

}  // namespace

std::uint32_t PerfTableRow::performance(std::size_t step) const {
  const std::uint64_t best = steps_.back().value;
  if (best == 0 || steps_[step].value == best) return kPerfOne;
  unsigned shift = 0;
  while (((best << shift) & (1U << 23)) == 0) ++shift;
  const std::uint64_t reciprocal = (std::uint64_t{1} << 40) / (best << shift);
  return static_cast<std::uint32_t>(((steps_[step].value << shift) * reciprocal) >> (40 - kPerfFraction));
}

PartitionCoreOut TlmPartitionCore::cycle(const PartitionCoreIn& in) {
  if (!in.rst_n) *this = TlmPartitionCore();
  PartitionCoreOut out = results_;
  out.done = decided_in_ == 1;
  out.sample_ready = in.rst_n && !in.start && scaler_wait_ == 0 && started_;
  out.prepare_ready = out.sample_ready;
  if (in.rst_n && !pipeline_.empty() && pipeline_.front().first == 1) {
    const Scaled& scaled = pipeline_.front().second;
    out.scaled_valid = true;
    out.scaled_kernel = static_cast<std::uint8_t>(scaled.kernel);
    out.scaled_ctas = static_cast<std::uint8_t>(scaled.ctas);
    out.scaled = static_cast<std::uint32_t>(scaled.value);
  }
  if (in.rst_n) clock(in, out.sample_ready);
  return out;
}

void TlmPartitionCore::clock(const PartitionCoreIn& in, bool ready) {
  if (in.abort) {
    *this = TlmPartitionCore();
    return;
  }
  if (in.start) {
    *this = TlmPartitionCore();
    config_ = in;
    started_ = true;
    scaler_wait_ = kScalerDivideCycles;
    return;
  }
  if (decided_in_ > 0) --decided_in_;
  if (started_ && finished_ == config_.num_kernels) {
    finished_ = 0;
    decide();
  }
  if (table_wait_ > 0) {
    if (--table_wait_ == 0) ++finished_;
  } else if (!pending_.empty()) {
    pending_.erase(pending_.begin());
    table_wait_ = kTableDivideCycles;
  }
  for (auto& [cycles, scaled] : pipeline_) --cycles;
  if (!pipeline_.empty() && pipeline_.front().first == 0) {
    const Scaled& scaled = pipeline_.front().second;
    curves_[scaled.kernel].write(scaled.ctas, scaled.value);
    if (scaled.final) pending_.insert(scaled.kernel);
    pipeline_.pop_front();
  }
  if (scaler_wait_ > 0) --scaler_wait_;
  if (ready && in.sample_valid) {
    const std::uint64_t value = scale(in, config_.window_cycles, sum_reciprocal_[in.sample_kernel]);
    pipeline_.push_back({kScalerPipeline, {in.sample_kernel, in.sample_ctas, value, in.sample_final}});
  }
  if (ready && in.prepare_valid) {
    sum_reciprocal_[in.prepare_kernel] = reciprocal26(in.prepare_sum);
    scaler_wait_ = kScalerDivideCycles;
  }
}

void TlmPartitionCore::decide() {
  const Allocation allocation = allocate(config_, curves_);
  results_.no_fit = allocation.no_fit;
  results_.ctas = allocation.ctas;
  results_.spatial = false;
  if (!allocation.no_fit) {
    for (unsigned k = 0; k < config_.num_kernels; ++k) results_.spatial |= loses_too_much(allocation.performance[k], config_);
  }
  decided_in_ = allocation.cycles + 2 + (allocation.no_fit ? 0 : config_.num_kernels);
}

std::unique_ptr<IPartitionCore> make_tlm_partition_core() { return std::make_unique<TlmPartitionCore>(); }

}  // namespace sluice
