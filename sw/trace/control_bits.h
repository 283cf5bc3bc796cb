// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace sluice {

/// What the assembler says about the issue of an instruction (bits 105 to 125 of its encoding since Volta; Jia, Maggioni, Staiger
/// and Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, section 2.1).
struct ControlBits {
  std::uint32_t stall = 0;      ///< cycles from its issue to that of the warp's next instruction
  bool yield = false;           ///< the scheduler may prefer another warp
  std::uint32_t write = kNone;  ///< barrier that its result releases
  std::uint32_t read = kNone;   ///< barrier that its sources release, once they are read
  std::uint32_t waits = 0;      ///< mask of the barriers that it waits for
  static constexpr std::uint32_t kNone = 7;
  static constexpr std::uint32_t kBarriers = 6;

  [[nodiscard]] static ControlBits of(std::uint32_t bits) {
    return {bits & 15, (bits >> 4 & 1) == 0, bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63};
  }
};

}  // namespace sluice
