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
  std::string symbol;           ///< of the kernel in its PTX
  bool threads_leave = false;   ///< threads may return before barriers of the others
  bool waits = false;           ///< blocks may wait for others: what is claimed is begun
  std::uint32_t registers = 0;  ///< most of a thread, allotted(), where the kernel's text sets no limit; 0: any
  /// That the assembler is told beyond. Told no limit, or just what a thread may have, it computes values again in the kernel's
  /// loops, which the loop around the kernel leaves no room for; told a little more, it seldom takes more.
  std::uint32_t slack = 3;
  unsigned counterweight = kCounterweight;
};

/// With so many registers each, an SM has all the threads that it takes.
inline constexpr std::uint32_t kOfFullSm = 32;
/// As the device allots them; not fewer than those.
[[nodiscard]] constexpr std::uint32_t allotted(std::uint32_t registers) {
  constexpr std::uint32_t kUnit = 8;
  return std::max((registers + kUnit - 1) / kUnit * kUnit, kOfFullSm);
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
