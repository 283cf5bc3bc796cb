// SPDX-License-Identifier: Apache-2.0
// What tracer version 6 has more than the versions before it.
#include <algorithm>
#include <charconv>
#include <limits>

#include "sw/trace/trace_fields.h"

namespace sluice {

/// Of version 6, with uniform registers and predicates: pseudo registers above those of the kernel, as far as there are some.
std::uint8_t TraceReader::register_of(Fields& fields) const {
  if (header_.tracer_version < 6) return fields.register_index();
  const std::string_view text = fields.word("a register");
  const std::size_t letters = std::min(text.find_first_of("0123456789"), text.size());
  unsigned number = 0;
  const auto [stop, error] = std::from_chars(text.data() + letters, text.data() + text.size(), number);
  const bool whole = error == std::errc{} && stop == text.data() + text.size() && number < 256;
  struct Kind {
    std::string_view letters;
    unsigned none, base;  ///< none: this number and those above it are the zero register, or the predicate that is always true
  };
  constexpr unsigned kUniform = 63, kPredicates = 7;
  for (const Kind& k : {Kind{"R", 255, 0}, Kind{"UR", kUniform, 0}, Kind{"P", kPredicates, kUniform},
                        Kind{"UP", kPredicates, kUniform + kPredicates}}) {
    if (!whole || text.substr(0, letters) != k.letters) continue;
    if (number >= k.none) return kNoRegister;
    const unsigned index = number + (k.letters == "R" ? 0 : header_.registers_per_thread + k.base);
    return static_cast<std::uint8_t>(std::min(index, unsigned{kNoRegister}));
  }
  lines_.fail(fmt::format("register {}: must be R, UR, P or UP and a number, 0..255", text));
}

/// What the engine copies: some tiles' addresses, of so many bytes in all. The instruction's record may stand several times: a
/// record counts at most 255 lines.
std::uint32_t TraceReader::add_tiles(Instruction& instruction, Fields& fields, std::uint32_t mask, std::uint32_t width,
                                     TraceWarp& warp) {
  constexpr std::uint64_t kSectorBytes = 32, kMostBytes = 1ULL << 20, kMostTiles = 1U << 14;
  (void)fields.address();  // of the mbarrier
  if (fields.number<unsigned>("multicast flag", 10, 0, 1) == 1) fields.number<std::uint64_t>("multicast mask", 16, 0, 0xffff);
  const auto bytes = fields.number<std::uint64_t>("bytes", 10, 0, kMostBytes);
  fields.number<std::uint64_t>("bytes out of bounds", 10, 0, kMostBytes);
  const auto mode = fields.number<unsigned>("address mode", 10, 3, 4);
  std::uint64_t at = mode == 4 ? fields.address() : 0;
  const auto tiles = fields.number<std::uint64_t>("number of addresses", 10, 0, kMostTiles);
  const std::uint64_t each = std::max<std::uint64_t>(1, tiles == 0 || bytes == 0 ? width : (bytes + tiles - 1) / tiles);
  const std::size_t begin = warp.lines.size();
  for (std::uint64_t i = 0; i < tiles; ++i) {
    if (mode == 3)
      at = fields.address();
    else if (i > 0)
      at += static_cast<std::uint64_t>(fields.number<std::int64_t>(
          "address difference", 10, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
    const std::uint64_t first = at ^ global_memory_;
    for (std::uint64_t sector = first / kSectorBytes; sector <= (first + each - 1) / kSectorBytes; ++sector) {
      const std::uint64_t line = sector * kSectorBytes & ~std::uint64_t{127};
      const auto bit = static_cast<std::uint8_t>(1U << sector % 4);
      if (warp.lines.size() > begin && warp.lines.back().address == line)
        warp.lines.back().sectors |= bit;
      else
        warp.lines.push_back({line, bit});
    }
    if (warp.lines.size() - begin > kMostBytes / kSectorBytes) lines_.fail("the tiles have more than a MiB");
  }
  instruction.active_lanes = 1;
  if (mask == 0 || warp.lines.size() == begin) {
    warp.lines.resize(begin);
    instruction.op = OpClass::Alu;
    instruction.pipe = Pipe::None;
    return 0;
  }
  instruction.copies = instruction.op == OpClass::Load ? CopyRole::Copy : CopyRole::None;  // no warp waits for it
  instruction.bypass_l1 = true;
  std::size_t count = warp.lines.size() - begin;
  constexpr std::uint32_t kMostLines = (1U << (32 - kTraceRecordIndexBits)) - 1;
  for (; count > kMostLines; count -= kMostLines)
    warp.records.push_back(intern(instruction) | kMostLines << kTraceRecordIndexBits);
  return static_cast<std::uint32_t>(count);
}

/// Behind "Val" the values of each register: how many there are, 1 or 32, and the values. "NoVal": none.
void TraceReader::skip_values(Fields& fields, unsigned registers) {
  const std::string_view kind = fields.word("Val or NoVal");
  if (kind == "NoVal") return;
  if (kind != "Val") lines_.fail(fmt::format("text after the end of the instruction: {}", kind));
  for (unsigned r = 0; r < registers; ++r) {
    const auto values = fields.number<unsigned>("number of values", 10, 1, kWarpSize);
    if (values != 1 && values != kWarpSize) lines_.fail(fmt::format("number of values = {}: must be 1 or 32", values));
    for (unsigned v = 0; v < values; ++v) {
      const std::string_view text = fields.word("a value");
      const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
      std::uint64_t value = 0;
      const auto [stop, error] = std::from_chars(text.data() + (prefixed ? 2 : 0), text.data() + text.size(), value, 16);
      if (error != std::errc{} || stop != text.data() + text.size())
        lines_.fail(fmt::format("value {}: must be hexadecimal", text));
    }
  }
}

}  // namespace sluice
