// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
  std::uint32_t reuse = 0;      ///< mask of the sources' places in the encoding: kept for the warp's next instruction
  static constexpr std::uint32_t kNone = 7;
  static constexpr std::uint32_t kBarriers = 6;

  [[nodiscard]] static ControlBits of(std::uint32_t bits) {
    return {bits & 15, (bits >> 4 & 1) == 0, bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63, bits >> 17 & 7};
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
  /// Gives the instruction the bits of its PC, if there are some. @pre its class, pipeline and sources are known
  void apply(Instruction& instruction) const {
    const std::size_t index = instruction.pc / kInstructionBytes;
    if (index >= bits_.size() || bits_[index] == kNone) return;
    const ControlBits bits = ControlBits::of(bits_[index]);
    instruction.timed = true;
    instruction.stall = static_cast<std::uint8_t>(bits.stall);
    instruction.waits = static_cast<std::uint8_t>(bits.waits);
    instruction.write_barrier = static_cast<std::uint8_t>(bits.write);
    instruction.read_barrier = static_cast<std::uint8_t>(bits.read);
    instruction.yields = bits.yield;
    if (!reads_banks(instruction)) return;
    for (unsigned i = 0; i < std::size(instruction.src); ++i)
      if (instruction.src[i] != kNoRegister) instruction.banked |= static_cast<std::uint8_t>(1U << i);
    instruction.kept = kept(instruction, bits.reuse);
  }

 private:
  /// Instructions of known latency, whose sources the banks must give in time.
  [[nodiscard]] static bool reads_banks(const Instruction& i) {
    if (i.op == OpClass::Dp) return true;
    return i.op == OpClass::Alu && (i.pipe == Pipe::Fma || i.pipe == Pipe::Imad || i.pipe == Pipe::Int || i.pipe == Pipe::Half);
  }
  /// Which of the sources have the places of `reuse`: a trace has registers in the order of the places, not the places.
  [[nodiscard]] static std::uint8_t kept(const Instruction& i, std::uint32_t reuse) {
    std::uint32_t count = 0;
    for (std::uint32_t s = 0; s < std::size(i.src); ++s)
      if (i.src[s] != kNoRegister) count = s + 1;
    if (count == 0) return 0;
    std::uint32_t mask = (reuse & 1) | (reuse & 2 && count == 1 ? 1 : reuse & 2) | (reuse & 4 ? 1U << (count - 1) : 0);
    if (static_cast<std::uint32_t>(std::popcount(reuse)) >= count) mask = (1U << count) - 1;
    return static_cast<std::uint8_t>(mask);
  }
  static constexpr std::uint32_t kInstructionBytes = 16, kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> bits_;  ///< by instruction
};

}  // namespace sluice
