// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "sw/gpu/record/walk.h"

namespace sluice::gpu {

/// One instruction that a warp executes.
struct WarpStep {
  std::uint32_t instruction = 0;
  std::uint32_t mask = 0;      ///< threads that are there
  std::array<Use, 32> uses{};  ///< of the threads that are there, where Walker::has_use
  std::uint32_t leaving = 0;   ///< of a branch: threads that take it; of an end: threads that end
};

/// Runs the threads of a warp along their ways, together as the hardware does: threads that a branch parts go on apart until the
/// BSYNC of the barrier that a BSSY before the branch has set, or a WARPSYNC.
/// @param paths  of each thread; nullptr: the warp has no such thread
/// @return times that threads waited for others that never came, and went on
std::uint64_t run_warp(const Walker& walker, const SassKernel& sass, const std::array<const SassPath*, 32>& paths,
                       const std::function<void(const WarpStep&)>& emit);

}  // namespace sluice::gpu
