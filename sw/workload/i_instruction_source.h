#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sw/core/kernel.h"

namespace sluice {

enum class OpClass : std::uint8_t { Alu, Sfu, Load, Store, Shared, Barrier, Exit };

inline constexpr std::uint8_t kNoRegister = 255;

/// One warp instruction as the SM sees it.
struct Instruction {
  OpClass op = OpClass::Exit;
  std::uint8_t interval = 1;  ///< cycles it holds its ALU pipeline
  std::uint8_t dst = kNoRegister;
  std::uint8_t src[3] = {kNoRegister, kNoRegister, kNoRegister};
  std::uint8_t active_lanes = 32;
  std::uint8_t fetch_cycles = 0;  ///< extra cycles before the instruction buffer holds it
};

/// Where a warp stands in its program.
struct WarpCursor {
  std::uint32_t cta = 0, warp = 0;  ///< CTA index in the grid (counts on across relaunches), warp index in the CTA
  std::uint32_t position = 0;       ///< instructions already fetched
};

/// Feeds the warps of one kernel. Pure functions of the cursor: two equal cursors give equal answers, whatever ran before.
class IInstructionSource {
 public:
  virtual ~IInstructionSource() = default;
  /// Registers a warp's scoreboard must track, 1..255.
  [[nodiscard]] virtual std::uint32_t num_registers() const = 0;
  /// The instruction at the cursor, which moves on. After the last one: Exit, for ever.
  virtual Instruction next(WarpCursor& cursor) const = 0;
  /// Byte addresses of the 128-byte lines that the global access `position` of this warp touches, appended to `lines`.
  virtual void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<std::uint64_t>& lines) const = 0;
};

}  // namespace sluice
