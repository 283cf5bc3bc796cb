// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "sw/gpu/record/log.h"
#include "sw/gpu/rewrite/instrument.h"

namespace sluice::gpu {

/// The basic blocks of its PTX that one thread went through.
struct LanePath {
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint32_t> at;  ///< of each: the word of the thread's log that is its record
  bool operator==(const LanePath&) const = default;
};

/// @param warp  counted through all recorded CTAs
/// @throws InputError when the words are not what the plan says
[[nodiscard]] LanePath lane_path(const RecordedLog& log, const RecordPlan& plan, std::uint32_t warp, std::uint32_t lane);

/// A word of a thread's log.
[[nodiscard]] inline std::uint32_t lane_word(const RecordedLog& log, std::uint32_t warp, std::uint32_t lane, std::size_t word) {
  return log.words[(log.starts[warp] + word) * 32 + lane];
}

}  // namespace sluice::gpu
