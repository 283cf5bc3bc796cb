// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/pipe.h"

namespace sluice {

/// Which pipeline an instruction takes. Atomic: a global access that is done at L2. Shared: scratchpad.
enum class OpClass : std::uint8_t { Alu, Sfu, Dp, Tensor, Load, Store, Atomic, Shared, Barrier, Exit };

[[nodiscard]] constexpr bool is_global(OpClass op) {
  return op == OpClass::Load || op == OpClass::Store || op == OpClass::Atomic;
}
[[nodiscard]] constexpr bool is_memory(OpClass op) { return is_global(op) || op == OpClass::Shared; }

inline constexpr std::uint8_t kNoRegister = 255;
inline constexpr std::uint32_t kLineBytes = 128;  ///< coalescing granule and cache line

/// Addresses from here on are the host's memory, read over PCIe.
inline constexpr std::uint64_t kHostMemory = 1ULL << 60;

/// Asynchronous copies into the scratchpad: Copy begins one, Commit closes the group of those begun since the last, Wait waits
/// for the older groups.
enum class CopyRole : std::uint8_t { None, Copy, Commit, Wait };

/// One warp instruction as the SM sees it.
struct Instruction {
  OpClass op = OpClass::Exit;
  std::uint8_t interval = 1;  ///< cycles it holds its ALU or matrix pipeline at least; Shared: passes over the scratchpad's banks
  std::uint8_t dst = kNoRegister;
  std::uint8_t dst_count = 1;  ///< consecutive registers from `dst`
  std::uint8_t src[5] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  std::uint8_t active_lanes = 32;
  std::uint8_t fetch_cycles = 0;  ///< extra cycles before the instruction buffer holds it
  bool bypass_l1 = false;         ///< Load: is looked up in L2 only
  std::uint32_t pc = kNoPc;       ///< byte address in the kernel's code; kNoPc: no instruction cache is modelled for it
  static constexpr std::uint32_t kNoPc = 0xffffffff;
  Pipe pipe = Pipe::Fma;  ///< Alu: which one, on machines with sub-cores
  bool timed = false;     ///< the next four are what the assembler says (sw/trace/control_bits.h); else registers decide
  std::uint8_t stall = 1, waits = 0, write_barrier = kNoBarrier, read_barrier = kNoBarrier;
  CopyRole copies = CopyRole::None;
  std::uint8_t groups_left = 0;  ///< Wait: so many groups, the youngest, may still be under way
  static constexpr std::uint8_t kNoBarrier = 7;
  bool yields = true;       ///< timed: its scheduler need not stay with this warp
  std::uint8_t banked = 0;  ///< mask of `src`: read from the register file's banks (docs/user/machines.md)
  std::uint8_t pairs = 0;   ///< mask of `src`: with the next register, 64 bits
  std::uint8_t kept = 0;    ///< mask of `src`: kept for the warp's next instruction

  bool operator==(const Instruction&) const = default;
};

/// One 128-byte line of a global access, and which of its four 32-byte sectors are touched.
struct LineAccess {
  std::uint64_t address = 0;  ///< of the line's first byte
  std::uint8_t sectors = 0xf;
  std::uint8_t whole = 0xf;     ///< Store: sectors of which every byte is written
  std::uint8_t part_bytes = 0;  ///< Store: bytes written of each other touched sector, the mean
  bool operator==(const LineAccess&) const = default;
};

/// Where a warp stands in its program.
struct WarpCursor {
  std::uint32_t cta = 0, warp = 0;               ///< CTA index in the grid (counts on across relaunches), warp index in the CTA
  std::uint32_t position = 0;                    ///< instructions already fetched
  std::uint32_t handle = 0;                      ///< what begin_cta returned
  std::uint32_t lines_begin = 0, lines_end = 0;  ///< for the source: lines of the instruction fetched last
  std::uint32_t stage = 0;                       ///< for the source: parts of its program that it has behind it
  std::uint32_t round = 0;                       ///< for a source that runs another one's CTAs: twice those begun, less 1 in one
};

/// Feeds the warps of one kernel. `next` and `lines` are pure functions of the cursor: two equal cursors give equal answers,
/// whatever ran before, as long as the CTA lives.
class IInstructionSource {
 public:
  virtual ~IInstructionSource() = default;
  /// Registers a warp's scoreboard must track, 1..255.
  [[nodiscard]] virtual std::uint32_t num_registers() const = 0;
  /// A CTA begins. CTAs begin in order of their index. @return handle for its cursors
  virtual std::uint32_t begin_cta(std::uint32_t /*cta*/) { return 0; }
  virtual void end_cta(std::uint32_t /*handle*/) {}  ///< no cursor of this CTA is used any more
  /// The instruction at the cursor, which moves on. After the last one: Exit, for ever.
  virtual Instruction next(WarpCursor& cursor) const = 0;
  /// The 128-byte lines that the global access `position` of this warp touches, appended to `lines`.
  virtual void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const = 0;
  /// Opcodes that were not recognised, and how many instructions had them.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> unknown_opcodes() const { return {}; }
};

}  // namespace sluice
