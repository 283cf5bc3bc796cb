// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

namespace sluice {

inline constexpr std::uint32_t kMaxKernels = 8;  ///< of any configuration of the hardware
inline constexpr std::uint32_t kMaxCtas = 32;

inline constexpr std::uint32_t kPerfOne = 1U << 14;  ///< 1.0 of a normalised performance: a kernel's own best

inline constexpr std::uint32_t kEntryFractionBits = 12;  ///< of an entry's mantissa, under its leading one
inline constexpr int kEntryExponentBias = 10;            ///< an entry is (2^12 + mantissa) x 2^(exponent - bias) instructions

/// IPC within the ceiling (docs/reference/blocks/profile_counters.md) of an entry of the performance table as the hardware shows
/// it, for a window of this many cycles. The hardware leaves out the division by the window
/// (docs/reference/blocks/partition_core.md).
[[nodiscard]] inline double scaled_ipc(std::uint32_t scaled, std::uint32_t window_cycles) {
  constexpr std::uint32_t kLeadingOne = 1U << kEntryFractionBits;
  const std::uint32_t exponent = scaled >> kEntryFractionBits;
  if (exponent == 0) return 0;
  return std::ldexp(scaled % kLeadingOne + kLeadingOne, static_cast<int>(exponent) - kEntryExponentBias) / window_cycles;
}

/// Input ports of the partition core (rtl/decision/partition_core.sv), one clock cycle's worth. Widths as in sluice_pkg.
struct PartitionCoreIn {
  bool rst_n = true;
  bool abort = false;            ///< drops the decision under way: no done
  bool start = false;            ///< pulse: a new decision; the fields up to `loss_limit` are sampled here
  std::uint8_t num_kernels = 0;  ///< 1..kMaxKernels
  std::uint8_t kept = 0;         ///< mask of kernels without samples: their curves are those of an earlier decision
  std::array<std::uint8_t, kMaxKernels> rows{0, 1, 2, 3,
                                             4, 5, 6, 7};  ///< of the table, for each kernel; not looked at without CHURN
  std::uint32_t capacity_warps = 0, capacity_registers = 0, capacity_shared_bytes = 0, capacity_slots = 0;
  std::array<std::uint32_t, kMaxKernels> demand_warps{}, demand_registers{}, demand_shared_bytes{};
  std::uint32_t epsilon = 0;     ///< saturation threshold, units of 1/2**PerfW of a kernel's best
  std::uint32_t loss_limit = 0;  ///< of 1 / num_kernels: what a kernel may lose of its best, units of 1/kPerfOne, 16 bits
  bool sample_valid = false;     ///< one (kernel, CTA count) sample; each kernel's counts 1..n in order
  std::uint8_t sample_kernel = 0;
  std::uint8_t sample_ctas = 0;         ///< 1..kMaxCtas
  std::uint32_t sample_warp_insts = 0;  ///< that SM's within its ceiling; 0: none, or dropped
  bool sample_final = false;            ///< last sample of its kernel
};

/// Output ports.
struct PartitionCoreOut {
  bool scaled_valid = false;  ///< an entry of the performance table is written: for tracing
  std::uint8_t scaled_kernel = 0, scaled_ctas = 0;
  std::uint32_t scaled = 0;  ///< exponent and mantissa: see scaled_ipc()
  bool done = false;         ///< pulse: the fields below are valid until the next start
  bool no_fit = false;       ///< one CTA of each kernel does not fit together: no intra-SM partition
  bool spatial = false;      ///< loss guard: fall back to spatial
  std::array<std::uint8_t, kMaxKernels> ctas{};
};

/// The partition core, one clock cycle a call: ports in, ports out as they stand just before the rising edge, then the edge.
/// twin and Verilated RTL implement it cycle for cycle alike.
class IPartitionCore {
 public:
  virtual ~IPartitionCore() = default;
  virtual PartitionCoreOut cycle(const PartitionCoreIn& in) = 0;
};

[[nodiscard]] std::unique_ptr<IPartitionCore> make_twin_partition_core();

}  // namespace sluice
