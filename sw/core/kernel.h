// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/program.h"
#include "sw/core/resources.h"

namespace sluice {

/// Warped-Slicer table II, column Type.
enum class KernelType { Compute, Memory, Cache };

[[nodiscard]] std::string_view to_string(KernelType type);  ///< "compute", "memory", "cache"

/// Behaviour of a synthetic kernel, per warp instruction. These are modelling parameters (see `sluice calibrate`), not
/// published facts; each has a physical meaning that a profiler could measure.
struct KernelBehaviour {
  std::uint32_t warp_instructions = 1000;  ///< instructions of one warp over its CTA's life
  double sfu_fraction = 0.0;               ///< special-function instructions; what no fraction claims is ALU
  double load_fraction = 0.0;              ///< global loads
  double store_fraction = 0.0;             ///< global stores
  double shared_fraction = 0.0;            ///< scratchpad accesses (LDST pipeline, no L1)
  double alu_interval = 1.0;               ///< mean cycles an ALU instruction holds its pipeline, 1..8
  double dependency_distance = 4.0;        ///< mean distance, in instructions, to the producer of the operand, >= 1
  double transactions = 1.0;               ///< mean 128-byte lines per global access after coalescing, 1..32
  double reuse_fraction = 0.0;             ///< global lines that fall into the CTA's own working set (L1 reuse)
  std::uint32_t reuse_lines = 0;           ///< 128-byte lines of that working set, per CTA
  double footprint_fraction = 0.0;         ///< global lines that fall into data shared by the whole grid (L2 reuse)
  std::uint32_t footprint_lines = 0;       ///< 128-byte lines of that data; what is neither reuse nor footprint streams
  double row_locality = 1.0;               ///< probability that a streamed line follows its predecessor in memory
  static constexpr double kMaxFetchInterval = 60;
  double fetch_interval = 0.0;         ///< mean extra cycles per instruction waiting for the instruction buffer
  std::uint32_t barrier_interval = 0;  ///< instructions between CTA barriers; 0 = none
  std::uint32_t sectors = 4;           ///< 32-byte sectors that a global access touches of each of its lines, 1..4
  std::uint32_t code_bytes = 0;        ///< loop of code a warp walks, for machines with an instruction cache; 0 = always at hand

  bool operator==(const KernelBehaviour&) const = default;
};

/// A kernel that behaves otherwise from some CTA on.
struct KernelPhase {
  std::uint32_t from_cta = 1;  ///< CTAs since launch; relaunches count on
  KernelBehaviour behaviour;
};

/// Published (or measured) figures of the kernel alone, which calibration fits and reports print beside the model's.
struct SoloReference {
  double instructions = 0;                                                ///< thread instructions in `cycles`
  std::uint64_t cycles = 0;                                               ///< length of the measurement, core cycles
  double alu_utilization = 0, sfu_utilization = 0, ldst_utilization = 0;  ///< 0..1
  double l2_mpki = 0;                                                     ///< L2 misses per thousand warp instructions
};

/// Published figures of one launch of the whole grid alone, where a paper prints these two and no others.
struct LaunchReference {
  double milliseconds = 0;
  double issue_utilization = 0;  ///< share of the schedulers' cycles in which one issued, on SMs that hold a warp; 0..1
};

/// A recorded trace of a kernel's warps (docs/user/traces.md).
struct KernelTrace {
  std::string file;            ///< as the workload file names it
  std::filesystem::path path;  ///< where that is
  std::uint64_t hash = 0;      ///< of its bytes
  std::uint32_t ctas = 0;      ///< in the trace, where the grid has another number; 0: the same number
  std::uint32_t process = 0;   ///< kernels of two processes share no memory
};

/// One kernel of a mix: launch geometry and resources as published, behaviour as modelled.
struct KernelDescriptor {
  std::string name;       ///< abbreviation, unique in its workload, e.g. "DXT"
  std::string full_name;  ///< for people
  KernelType type = KernelType::Compute;
  std::uint32_t grid_ctas = 1;
  std::uint32_t block_threads = 32;        ///< as launched; 1..1024
  std::uint32_t registers_per_cta = 0;     ///< 32-bit registers
  std::uint32_t shared_bytes_per_cta = 0;  ///< static + dynamic
  /// Single-precision operations of one thread over its CTA's life, as a profiler counts them; none: not known.
  std::optional<double> flops_per_thread;
  bool in_triples = true;  ///< a member of the mixes `triples` (Warped-Slicer section V-E leaves two kernels out)
  BalanceWish wish;        ///< of policy `balance`
  KernelBehaviour behaviour;
  std::optional<KernelPhase> phase;
  std::optional<SoloReference> reference;
  std::optional<LaunchReference> launch_reference;
  /// What its warps run in place of `behaviour`, where a source page was there.
  std::shared_ptr<const KernelProgram> program;
  /// What its warps run in place of `behaviour`, where they were recorded.
  std::optional<KernelTrace> trace;

  [[nodiscard]] std::uint32_t warps_per_cta() const { return (block_threads + kWarpSize - 1) / kWarpSize; }
  /// What one CTA holds on an SM: threads rounded up to warps, one CTA slot.
  [[nodiscard]] SmResources demand() const { return {warps_per_cta() * kWarpSize, registers_per_cta, shared_bytes_per_cta, 1}; }
};

/// A workload file: its kernels in file order.
struct Workload {
  std::string name;
  std::vector<KernelDescriptor> kernels;
};

}  // namespace sluice
