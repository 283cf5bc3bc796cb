// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::gpu {

/// What a thread logs at one statement, behind the record of the statement's block.
enum class LoggedKind : std::uint8_t {
  None,
  Address64,  ///< of a global or generic access: two words, the low one first; all ones where a predicate switched it off
  Address32,  ///< of a shared or local access: one word, likewise
  Predicate,  ///< 1 where a predicated statement ran, else 0
};
/// The memory that an access names.
enum class PtxSpace : std::uint8_t { None, Global, Shared, Local, Generic };

/// One statement of the kernel. Its number, from 1, is its line in the PTX for the disassembler.
struct PtxLine {
  std::string op;  ///< "ld.global.u32"
  std::uint32_t block = 0;
  bool guarded = false, control = false;  ///< predicated; a branch or an end
  PtxSpace space = PtxSpace::None;
  LoggedKind logged = LoggedKind::None;
  std::uint32_t word = 0;  ///< where its words are behind the block's record
};

/// What the words of a log mean. A thread writes a record for each basic block that it enters: kBlockTag with the block's number,
/// then the words of the block's statements.
struct RecordPlan {
  std::vector<PtxLine> lines;        ///< line n is lines[n - 1]
  std::vector<std::uint32_t> words;  ///< of each block, its record included
  std::vector<std::uint32_t> loops;  ///< blocks that are in a loop
};
inline constexpr std::uint32_t kBlockTag = 0xB1000000, kBlockMask = 0x00FFFFFF;

/// The kernel's last parameter. Rows have a word for each lane: word i of a thread is in row i of its warp.
struct RecordJob {
  std::uint64_t log = 0;     ///< address of row 0
  std::uint64_t starts = 0;  ///< u32[warps + 1]: each warp's first row; equal neighbours: rows are counted and not written
  std::uint64_t counts = 0;  ///< u32[warps * 32]: rows that each thread had, from row 0 of the log
  std::uint32_t ctas = 0;    ///< CTAs that are recorded, from the first in x, then y, then z
  std::uint32_t warps = 0;   ///< of a CTA
};
static_assert(sizeof(RecordJob) == 32);

struct Instrumented {
  std::string ptx;         ///< the module with the kernel that logs, under the name `entry`
  std::string entry;       ///< parameters as the kernel's, and a RecordJob behind them
  std::string with_lines;  ///< the module as it was, with a .loc for every statement of the kernel
  RecordPlan plan;
};
/// @param ptx  normalised, with one kernel (only_kernel)
/// @throws InputError for a kernel that calls functions, or has an address that is not understood
[[nodiscard]] Instrumented instrument(const std::string& ptx, const std::string& symbol);

/// A module whose kernel takes an address and writes two there: the generic addresses at which shared and local memory begin.
/// @param ptx  whose header it gets
[[nodiscard]] std::string windows_module(const std::string& ptx);
inline constexpr const char* kWindowsEntry = "sluice_windows";

}  // namespace sluice::gpu
