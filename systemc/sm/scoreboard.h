// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sw/workload/i_instruction_source.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// When each register of each warp can be read; kNever: a load that writes it is in flight. RAW and WAW wait here.
class Scoreboard {
 public:
  Scoreboard(std::size_t warps, std::uint32_t registers_per_warp)
      : registers_per_warp_(registers_per_warp), ready_(warps * registers_per_warp) {}

  void clear(std::uint32_t warp) {
    std::fill_n(ready_.begin() + static_cast<std::ptrdiff_t>(warp * registers_per_warp_), registers_per_warp_, 0);
  }
  void set(std::uint32_t warp, std::uint8_t dst, std::uint8_t count, std::uint64_t cycle) {
    if (dst != kNoRegister) std::fill_n(&ready_[warp * registers_per_warp_ + dst], count, cycle);
  }
  /// First cycle in which `next` finds its sources and may write its destination.
  [[nodiscard]] std::uint64_t operands_ready(std::uint32_t warp, const Instruction& next) const {
    const std::uint64_t* ready = &ready_[warp * registers_per_warp_];
    std::uint64_t cycle = 0;
    if (next.dst != kNoRegister) {
      for (unsigned i = 0; i < next.dst_count; ++i) cycle = std::max(cycle, ready[next.dst + i]);
    }
    for (const std::uint8_t src : next.src) {
      if (src != kNoRegister) cycle = std::max(cycle, ready[src]);
    }
    return cycle;
  }

 private:
  std::size_t registers_per_warp_;
  std::vector<std::uint64_t> ready_;  ///< [warp][register]
};

}  // namespace sluice
