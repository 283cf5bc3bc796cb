// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sw/trace/sass_text.h"

namespace sluice::gpu {

/// One SASS instruction, as `nvdisasm -g -c`, or with -hex, prints it.
struct SassInstruction : SassText {
  std::uint32_t pc = 0, line = 0;        ///< line of the PTX it comes from; 0: none is given
  std::vector<std::uint32_t> targets;    ///< instructions that a branch may go to, by index
  std::optional<std::uint32_t> barrier;  ///< of BSSY and BSYNC
  std::optional<std::uint32_t> control;  ///< bits 105 to 125 of the encoding: sw/trace/control_bits.h
};

/// Instructions that run one after the other. Internal routines that a kernel calls have none.
struct SassBlock {
  std::uint32_t begin = 0, end = 0;
  std::optional<std::uint32_t> target, fall;  ///< blocks behind a branch that is taken, and behind one that is not
  std::vector<std::uint32_t> table;           ///< of an indexed branch, in place of both
  bool ends = false;                          ///< threads may end here
  bool calls = false;                         ///< an internal routine runs before `fall`
};

struct SassKernel {
  std::vector<SassInstruction> instructions;
  std::vector<SassBlock> blocks;  ///< the kernel begins with the first
};

/// @throws InputError when there is no such kernel in it, or a line is not understood
[[nodiscard]] SassKernel parse_listing(std::string_view text, const std::string& symbol);

}  // namespace sluice::gpu
