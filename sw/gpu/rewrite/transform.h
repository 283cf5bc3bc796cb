// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "sw/gpu/rewrite/counterweight.h"
#include "sw/gpu/rewrite/ptx.h"

namespace sluice::gpu {

/// What the transformation needs to know of a kernel beside its PTX.
struct TransformSpec {
  std::string symbol;                           ///< of the kernel in its PTX
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads of a CTA
  std::uint32_t ctas_per_sm = 0;  ///< registers for as many CTAs on an SM; 0: the limits of the untransformed kernel
  bool threads_leave = false;     ///< threads may return before barriers of the others
  int grid_axes = 3;              ///< the grid has one block along all later axes
  bool waits = false;             ///< blocks may wait for others: what is claimed is begun
  std::uint32_t registers = 0;    ///< most of a thread, where neither ctas_per_sm nor the kernel sets a limit; 0: any
  unsigned counterweight = kCounterweight;
};

/// Registers that a thread may have, unrounded, with `ctas` CTAs of `threads` on an SM. Told no limit, the assembler stays within
/// one of its own choice and computes values again in the kernel's loops, which the loop around the kernel leaves no room for.
/// Told the multiple of eight below, or .minnctapersm, it does so too.
/// @param used  by the untransformed kernel. @return 0 where not they say how many CTAs an SM takes: then others may need them
[[nodiscard]] constexpr std::uint32_t registers_for(std::uint32_t of_sm, std::uint32_t ctas, std::uint32_t threads,
                                                    std::uint32_t used) {
  constexpr std::uint32_t kMaxRegisters = 255, kUnit = 8;
  const bool full = ctas > 0 && of_sm / ((ctas + 1) * threads) < (used + kUnit - 1) / kUnit * kUnit;
  return full ? std::min(of_sm / (ctas * threads), kMaxRegisters) : 0;
}

/// Bytes of dynamic shared memory that a transformed kernel takes behind the kernel's own, where it has shared memory: the
/// runtime's state lies there, so that the kernel's own has the addresses that it has untransformed.
inline constexpr std::uint32_t kSharedBehind = 256;

/// A kernel as a persistent one, to stand in a module beside the kernel as it was.
struct Transformed {
  TransformSpec spec;                     ///< that it was made by
  std::string entry;                      ///< its name
  std::string text;                       ///< itself, and the functions of the module that it needs in another form
  std::vector<std::string> declarations;  ///< that it shares with other transformed kernels of the module
  std::uint32_t shared_behind = 0;        ///< kSharedBehind, or 0 where the kernel has no shared memory
};

/// The kernel as the compiler made it from the user's unchanged text, in a loop around the calls of the runtime, with the block
/// index and the grid's size read from shared memory. All its own instructions stay as they are, its parameters too; one more
/// follows them, the SluiceJob (docs/reference/how_sharing_works.md).
/// @param ptx      module with the kernel, normalised
/// @param runtime  PTX of runtime/quota_runtime.cuh, normalised
/// @throws InputError when the module has no such kernel
[[nodiscard]] Transformed transform(const std::string& ptx, const std::string& runtime, const TransformSpec& spec);

/// The module with its kernels as they are, and the transformed ones beside them: all see one set of variables.
[[nodiscard]] std::string combined(const std::string& ptx, const std::string& runtime, const std::vector<Transformed>& kernels);

/// Functions of `reach` that a transformed kernel needs in another form: they read the block index, or, where threads may leave
/// early, have barriers, or call such a function.
[[nodiscard]] std::set<std::string> functions_changed(const std::string& ptx, const Reach& reach, bool threads_leave);

/// Matches __syncthreads(), whatever the source called it.
[[nodiscard]] const std::regex& plain_barrier();

}  // namespace sluice::gpu
