// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sw/gpu/rewrite/transform.h"

namespace sluice::gpu {

/// Why the warps of a kernel's blocks have to begin each block together, in words; nothing when each can go on to a next block
/// by itself: where no warp can tell but through global memory that another of its block exists.
/// @param module  the kernel alone, with its functions
/// @param blocks  of the grid
[[nodiscard]] std::optional<std::string> needs_warps_together(const std::string& module, const TransformSpec& spec,
                                                              std::uint64_t blocks);

/// Whether it is worth it (docs/reference/how_sharing_works.md).
[[nodiscard]] bool warps_end_apart(const TransformSpec& spec);

/// The warp's own part of the kernel's body: what it reads of its thread's index comes from registers of the loop.
[[nodiscard]] std::string with_thread_index(const std::string& body, const std::array<std::uint32_t, 3>& block);

/// Division as the loop does it: n / divisor = n * inverse_of(divisor) >> kInverseBits, exact for numbers and divisors below
/// 1,024.
inline constexpr int kInverseBits = 20;
[[nodiscard]] constexpr std::uint32_t inverse_of(std::uint32_t divisor) { return (1U << kInverseBits) / divisor + 1; }

/// The loop (warp_loop.ptx) around the body where warps go on by themselves. A CTA claims blocks one after the other as ever; its
/// warps, whichever is free, take the block's warps in turn. So every block is begun and finished by one CTA, all its warps at
/// the same time or soon after each other, and a slow warp keeps nobody waiting. A word of shared memory has block and next warp:
/// one addition takes the next piece of work.
/// @param body  with `bra $SLUICE_END` for returns
[[nodiscard]] std::string warps_apart_loop(const std::string& body, const TransformSpec& spec);

}  // namespace sluice::gpu
