// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/trace/control_bits.h"
#include "sw/trace/line_reader.h"
#include "sw/trace/opcodes.h"
#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Header of one kernel's trace.
struct TraceHeader {
  std::string kernel_name;
  std::uint32_t kernel_id = 0;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::array<std::uint32_t, 3> launched{};  ///< the grid that a part was recorded of; zeros: not told
  std::uint32_t shared_bytes = 0;           ///< per CTA, static + dynamic
  std::uint32_t registers_per_thread = 0;   ///< 0..255
  std::uint32_t binary_version = 0;         ///< as 80
  std::uint64_t stream = 0;
  std::uint64_t shared_base = 0, local_base = 0;  ///< windows of generic addresses; 0 = not known
  std::uint32_t tracer_version = 0;               ///< 3, 4, 5, 6
  bool line_info = false;
  /// By PC: bytes that its addresses go on by from block to block of `launched`, for each dimension of the grid. None: the trace
  /// is of its CTAs alone.
  std::map<std::uint32_t, std::array<std::int64_t, 3>> steps;

  [[nodiscard]] std::uint32_t ctas() const { return grid[0] * grid[1] * grid[2]; }
  [[nodiscard]] std::uint32_t launched_ctas() const { return std::max(ctas(), launched[0] * launched[1] * launched[2]); }
  [[nodiscard]] bool repeats() const { return !steps.empty(); }
  [[nodiscard]] std::uint32_t grid_ctas() const { return repeats() ? launched_ctas() : ctas(); }  ///< that run
  [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] std::uint32_t warps() const { return (threads() + kWarpSize - 1) / kWarpSize; }
};

/// One warp of a CTA, decoded: a record is an index into TraceReader::instructions() in its low 24 bits and a count above them
/// (lines of a global access, passes of a scratchpad access).
struct TraceWarp {
  std::vector<std::uint32_t> records;
  std::vector<LineAccess> lines;
};
using TraceCta = std::vector<TraceWarp>;

inline constexpr std::uint32_t kTraceRecordIndexBits = 24;

/// Reads one kernel of an Accel-Sim SASS trace (tracer versions 3 to 6, text, .xz or .tracez), a CTA at a time, in file order.
/// What it holds is one CTA and the distinct instructions seen so far, whatever the file's length. Every defect is an InputError
/// `file:line: why`: cut files, wrong counts, absurd sizes, fields that do not parse.
class TraceReader {
 public:
  /// @param launch   local memory of launches is apart, of up to 256 of them
  /// @param process  so is global memory of processes, of up to 16
  explicit TraceReader(const std::filesystem::path& path, std::uint32_t launch = 0, std::uint32_t process = 0);
  TraceReader(std::string_view text, std::string name);  ///< a trace in memory

  [[nodiscard]] const TraceHeader& header() const { return header_; }
  /// The next CTA, into `cta` (whose memory is reused). False when the grid is complete; then the file must end as well.
  bool next_cta(TraceCta& cta);
  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  /// What is taken for something else: opcodes that no table has, for ALU ones; "BAR of n threads", for a barrier of the CTA.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& unknown_opcodes() const { return unknown_; }

 private:
  struct Parsed;
  struct Fields;

  void read_header();
  void read_header_line(std::string_view line);
  bool next_content(std::string_view& line);  ///< skips blank lines
  void read_warp(TraceWarp& warp, std::uint32_t index);
  /// @return the record; nothing: the line is none of the kernel's instructions
  std::optional<std::uint32_t> parse_instruction(std::string_view line, TraceWarp& warp, std::uint32_t index, bool& plain);
  std::uint8_t register_of(Fields& fields) const;
  std::uint32_t add_tiles(Instruction& instruction, Fields& fields, std::uint32_t mask, std::uint32_t width, TraceWarp& warp);
  void skip_values(Fields& fields, unsigned registers);
  /// Addresses of the lanes that are on, in their order.
  void read_addresses(Fields& fields, std::uint32_t mask, std::uint64_t* addresses);
  std::uint32_t add_memory(Instruction& instruction, MemorySpace space, std::uint64_t* addresses, std::uint32_t mask,
                           std::uint32_t width, TraceWarp& warp, std::uint32_t index);
  void count_unknown(const std::string& key);
  void read_control(std::string_view pc, std::string_view bits);
  void read_step(std::string_view pc, Fields& bytes);
  std::uint32_t intern(const Instruction& instruction);
  Opcode classify(std::string_view mnemonic);

  LineReader lines_;
  TraceHeader header_;
  std::set<std::string, std::less<>> given_;  ///< keys of the header
  std::uint32_t ctas_read_ = 0;
  static constexpr std::size_t kBlocksOfAPage = 512;
  std::unordered_map<std::uint64_t, std::bitset<kBlocksOfAPage>> seen_;  ///< thread blocks, by page
  std::vector<Instruction> instructions_;
  std::vector<std::uint32_t> instruction_slots_;  ///< hash table into instructions_; 0 = free, else index + 1
  std::map<std::string, std::uint64_t> unknown_;
  std::uint64_t unknown_count_ = 0;
  ControlTable control_;

  /// Lines without memory operands repeat word for word: their records by text.
  struct Known {
    std::uint64_t hash = 0;
    std::uint32_t text = 0, length = 0, record = 0;
  };
  std::vector<Known> known_;
  std::string known_text_;
  std::uint64_t local_memory_;       ///< address of this launch's
  std::uint64_t global_memory_ = 0;  ///< of this process's, in bits that no address of a device has
};

/// The kernel as the dispatcher sees it.
/// @param register_unit  registers of a warp are allocated in multiples of this many
[[nodiscard]] KernelDescriptor describe(const TraceHeader& header, std::uint32_t register_unit);

}  // namespace sluice
