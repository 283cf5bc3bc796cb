// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// One SASS instruction of a kernel, and what a profiler counted at it over the whole grid.
struct ProgramInstruction {
  std::uint64_t address = 0;
  std::string text;             ///< "@P0 LDG.E R2, desc[UR4][R2.64]"
  std::uint64_t warps = 0;      ///< warps that executed it
  std::uint64_t threads = 0;    ///< their threads whose predicate was on
  std::uint64_t divergent = 0;  ///< a branch: how often threads of a warp parted at it
  std::uint64_t lines = 0;      ///< a global access: different 128-byte lines of each warp, added up
  std::uint64_t sectors = 0;    ///< a global access: different 32-byte sectors of each warp, added up
  std::uint64_t passes = 0;     ///< a scratchpad access: passes over its banks

  bool operator==(const ProgramInstruction&) const = default;
};

/// The code of a kernel, in order of its addresses.
struct KernelProgram {
  std::string file;          ///< the source page that it comes from, as a workload names it
  std::uint32_t kernel = 0;  ///< the how manieth of that page, from 0
  std::string name;          ///< as the page has it
  std::vector<ProgramInstruction> instructions;
  double l1_misses = 1;  ///< of the sectors of loads, those that the L1 passes on, 0..1
  double l2_misses = 1;  ///< of these, those that come from DRAM, 0..1
};

}  // namespace sluice
