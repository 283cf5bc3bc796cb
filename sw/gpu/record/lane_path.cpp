// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/lane_path.h"

#include <fmt/format.h>

#include "sw/core/errors.h"

namespace sluice::gpu {

LanePath lane_path(const RecordedLog& log, const RecordPlan& plan, std::uint32_t warp, std::uint32_t lane) {
  const std::uint32_t count = log.counts[std::size_t{warp} * 32 + lane];
  const auto fail = [&](const char* why) { throw InputError(fmt::format("log of warp {}, lane {}: {}", warp, lane, why)); };
  if (count > log.starts[warp + 1] - log.starts[warp]) fail("the run that logged took another way than the one that counted");
  LanePath path;
  for (std::uint32_t at = 0; at < count;) {
    const std::uint32_t word = lane_word(log, warp, lane, at), block = word & kBlockMask;
    if ((word & ~kBlockMask) != kBlockTag || block >= plan.words.size() || plan.words[block] == 0) fail("a record of no block");
    path.blocks.push_back(block);
    path.at.push_back(at);
    at += plan.words[block];
    if (at > count) fail("it ends within a block");
  }
  return path;
}

}  // namespace sluice::gpu
