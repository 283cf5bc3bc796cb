// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sw/workload/i_instruction_source.h"

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

/// The control bits of a kernel's code.
class ControlTable {
 public:
  static constexpr std::uint32_t kEnd = 1U << 24;       ///< code addresses are below it
  static constexpr std::uint32_t kMostBits = 0x1fffff;  ///< 21 bits
  void add(std::uint32_t pc, std::uint32_t bits) {
    const std::size_t index = pc / kInstructionBytes;
    if (index >= bits_.size()) bits_.resize(index + 1, kNone);
    bits_[index] = bits;
  }
  /// Gives the instruction the bits of its PC, if there are some.
  void apply(Instruction& instruction) const {
    const std::size_t index = instruction.pc / kInstructionBytes;
    if (index >= bits_.size() || bits_[index] == kNone) return;
    const ControlBits bits = ControlBits::of(bits_[index]);
    instruction.timed = true;
    instruction.stall = static_cast<std::uint8_t>(bits.stall);
    instruction.waits = static_cast<std::uint8_t>(bits.waits);
    instruction.write_barrier = static_cast<std::uint8_t>(bits.write);
    instruction.read_barrier = static_cast<std::uint8_t>(bits.read);
  }

 private:
  static constexpr std::uint32_t kInstructionBytes = 16, kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> bits_;  ///< by instruction
};

}  // namespace sluice
