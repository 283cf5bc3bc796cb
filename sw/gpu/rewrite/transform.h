// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::gpu {

/// What the transformation needs to know of a kernel beside its PTX.
struct TransformSpec {
  std::string symbol;                           ///< of the kernel in its PTX
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads of a CTA
  std::uint32_t ctas_per_sm = 0;  ///< registers for as many CTAs on an SM; 0: the limits of the untransformed kernel
  bool stand_in = false;          ///< threads that return early stand in at the barriers of the others
  int grid_axes = 3;              ///< the grid has one block along all later axes
  bool warps_apart = false;  ///< warps go on to the next block each by itself (warps_apart.h); launched as whole warps along x
};

/// The kernel as a persistent one: its PTX, as the compiler made it from the user's unchanged text, in a loop around the calls of
/// the runtime, with the block index and the grid's size read from shared memory. All its own instructions stay as they are, its
/// parameters too; one more follows them, the SluiceJob (docs/user/gpu.md).
/// @param ptx      module with the kernel
/// @param runtime  PTX of runtime/quota_runtime.cuh
/// @throws InputError when the module has no such kernel
[[nodiscard]] std::string transform(const std::string& ptx, const std::string& runtime, const TransformSpec& spec);

/// Why a kernel cannot be made persistent, in words for a user; nothing when it can.
/// @param stand_in  as in TransformSpec
[[nodiscard]] std::optional<std::string> ineligible(const std::string& ptx, bool stand_in);

}  // namespace sluice::gpu
