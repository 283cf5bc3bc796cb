// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sw/trace/control_bits.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// The six barriers of a warp by which the assembler orders instructions whose latency it does not know.
class Barriers {
 public:
  void clear() { *this = {}; }
  /// An instruction takes the barrier; `released` gives it back. Without a barrier (kNone) nothing happens.
  void take(std::uint8_t barrier) {
    if (barrier < ControlBits::kBarriers) ++taken_[barrier];
  }
  void released(std::uint8_t barrier, std::uint64_t cycle) {
    if (barrier >= ControlBits::kBarriers) return;
    --taken_[barrier];
    until(barrier, cycle);
  }
  /// It is held until a cycle that is known.
  void until(std::uint8_t barrier, std::uint64_t cycle) {
    if (barrier < ControlBits::kBarriers) free_[barrier] = std::max(free_[barrier], cycle);
  }
  /// Cycle from which all barriers of the mask are free; kNever: one waits for memory
  [[nodiscard]] std::uint64_t ready(std::uint32_t mask) const {
    std::uint64_t cycle = 0;
    for (; mask != 0; mask &= mask - 1) {
      const auto b = static_cast<std::size_t>(std::countr_zero(mask));
      if (b >= ControlBits::kBarriers) break;
      cycle = std::max(cycle, taken_[b] != 0 ? kNever : free_[b]);
    }
    return cycle;
  }

 private:
  std::array<std::uint32_t, ControlBits::kBarriers> taken_{};
  std::array<std::uint64_t, ControlBits::kBarriers> free_{};
};

}  // namespace sluice
