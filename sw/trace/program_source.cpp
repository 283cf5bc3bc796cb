// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/program_source.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "sw/trace/opcodes.h"
#include "sw/trace/trace_reader.h"

namespace sluice {

namespace {

constexpr std::uint32_t kHopper = 90;
constexpr std::uint64_t kArrayLines = 1ULL << 27;   // of one instruction
constexpr std::uint64_t kArrays = 1ULL << 9;        // instructions with one of their own
constexpr std::uint64_t kRecentLines = 1ULL << 16;  // 8 MB: what a load that the L2 answers goes back at most
constexpr std::uint64_t kMostLines = 512;           // of one instruction: a copy of 64 KB
constexpr unsigned kPredicates = 7, kUniform = 63;

/// Predicates and uniform registers as registers above those of the kernel, as long as there are numbers left.
class Flags {
 public:
  explicit Flags(const std::vector<SassText>& texts) {
    for (const SassText& text : texts) {
      for (const std::uint8_t r : text.sources) first_ = std::max(first_, r + 4U);  // a vector has four
      if (text.destination) first_ = std::max(first_, *text.destination + 4U);
    }
  }
  /// Adds those that `text` names.
  void add(const SassText& text, Instruction& instruction) const {
    std::size_t used = text.sources.size();
    const auto read = [&](std::optional<std::uint8_t> flag) {
      if (flag && used < std::size(instruction.src)) instruction.src[used++] = *flag;
    };
    read(flag_at(text.guard, text.guard.starts_with('!') ? 1 : 0));
    for (std::size_t i = 0; i < text.operands.size(); ++i) {
      if (i != 0 && std::isalnum(static_cast<unsigned char>(text.operands[i - 1])) != 0) continue;
      const std::optional<std::uint8_t> flag = flag_at(text.operands, i);
      if (i == 0 && flag && text.name() != "BRA" && text.name() != "VOTEU") {
        instruction.dst = *flag;
      } else {
        read(flag);
      }
    }
  }

 private:
  [[nodiscard]] std::optional<std::uint8_t> flag_at(std::string_view text, std::size_t at) const {
    const bool uniform = at < text.size() && text[at] == 'U';
    if (uniform) ++at;
    if (at >= text.size() || (text[at] != 'P' && !(uniform && text[at] == 'R'))) return std::nullopt;
    const bool predicate = text[at] == 'P';
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
    if (error != std::errc{} || number >= (predicate ? kPredicates : kUniform)) return std::nullopt;
    const unsigned flag = first_ + number + (predicate ? (uniform ? kPredicates : 0) : 2 * kPredicates);
    return flag < kNoRegister ? std::optional(static_cast<std::uint8_t>(flag)) : std::nullopt;
  }
  unsigned first_ = 0;
};

/// 0x120 of "0x2, 0x120": the threads that a barrier waits for, where it says so.
std::optional<unsigned> barrier_threads(std::string_view operands) {
  const std::size_t at = operands.rfind(", 0x");
  unsigned threads = 0;
  if (at == std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(operands.data() + at + 4, operands.data() + operands.size(), threads, 16);
  return error == std::errc{} ? std::optional(threads) : std::nullopt;
}

std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t times(std::uint64_t count, double fraction) {
  return static_cast<std::uint64_t>(static_cast<double>(count) * fraction);
}

}  // namespace

ProgramSource::ProgramSource(const KernelDescriptor& kernel, std::uint32_t address_space)
    : program_(kernel.program),
      walk_(*program_),
      instructions_(program_->instructions.size()),
      even_(program_->instructions.size()),
      grid_ctas_(kernel.grid_ctas),
      warps_per_cta_(kernel.warps_per_cta()),
      block_threads_(kernel.block_threads),
      base_((static_cast<std::uint64_t>(address_space) + 1) << 44) {
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) decode(i);
  const Flags flags(walk_.texts());
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) flags.add(walk_.texts()[i], instructions_[i]);
}

void ProgramSource::decode(std::uint32_t index) {
  const ProgramInstruction& counted = program_->instructions[index];
  const SassText& text = walk_.texts()[index];
  Instruction& out = instructions_[index];
  const std::optional<Opcode> known = find_opcode(text.name(), kHopper);
  if (!known && counted.warps != 0 && unknown_.size() < 1000) unknown_[std::string(text.name())] += counted.warps;
  const Opcode opcode = known.value_or(Opcode());
  out.op = opcode.op;
  out.pipe = opcode.pipe;
  out.copies = opcode.copies;
  out.pc = static_cast<std::uint32_t>(counted.address - program_->instructions.front().address);
  for (std::size_t i = 0; i < std::min(text.sources.size(), std::size(out.src)); ++i) out.src[i] = text.sources[i];
  if (text.destination) out.dst = *text.destination;
  if (is_global(out.op) && counted.lines == 0) {  // a generic access to the scratchpad, an engine's copy, local memory
    out.op = opcode.space == MemorySpace::Generic ? OpClass::Shared : OpClass::Alu;
    if (out.op == OpClass::Alu) make_plain(out);
  }
  if (text.name() == "SYNCS") make_plain(out);
  // Barriers of a part of the warps, and arrivals that nobody waits at, hold no warp here.
  if (out.op == OpClass::Barrier &&
      (text.opcode.find(".ARV") != std::string::npos || barrier_threads(text.operands).value_or(block_threads_) < block_threads_))
    make_plain(out);
  if (is_memory(out.op)) {
    out.bypass_l1 = (has_part(text.opcode, "STRONG") && has_part(text.opcode, "GPU")) || has_part(text.opcode, "BYPASS");
    if (out.dst != kNoRegister)
      out.dst_count =
          static_cast<std::uint8_t>(std::clamp<unsigned>(loaded_registers(text.opcode), 1, std::max(1, kNoRegister - out.dst)));
  }
  if (out.copies == CopyRole::Wait) {
    const std::size_t at = text.operands.rfind("0x");
    unsigned left = 0;
    if (at != std::string::npos)
      std::from_chars(text.operands.data() + at + 2, text.operands.data() + text.operands.size(), left, 16);
    out.groups_left = static_cast<std::uint8_t>(std::min(left, 63U));
  }
  if (out.op == OpClass::Tensor) out.interval = matrix_cycles(text.opcode);
  if (is_bulk(text.name())) {  // the engine's copies wait for no register, and no warp for them
    out.copies = out.op == OpClass::Load ? CopyRole::Copy : CopyRole::None;
    out.bypass_l1 = true;
  }
  const std::uint64_t warps = std::max<std::uint64_t>(1, counted.warps);
  even_[index] = counted.threads % warps == 0 && counted.threads != 0 && counted.passes % warps == 0 && !is_global(out.op);
  out.active_lanes = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(counted.threads / warps, 1, kWarpSize));
  if (out.op == OpClass::Shared)
    out.interval = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(counted.passes / warps, 1, 255));
}

std::uint32_t ProgramSource::begin_cta(std::uint32_t cta) {
  if (cta % grid_ctas_ == 0) walk_.restart();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(ctas_.size()));
    ctas_.emplace_back(warps_per_cta_);
  }
  const std::uint32_t handle = free_.back();
  free_.pop_back();
  for (Way& way : ctas_[handle]) way = walk_.next_warp();
  return handle;
}

/// The cursor's `stage` and `lines_end` are the visit and the offset in its block of the next instruction; the block's end is
/// left when that one is asked for, so that the one before them is always the last one fetched.
Instruction ProgramSource::next(WarpCursor& cursor) const {
  const Way& way = ctas_[cursor.handle][cursor.warp];
  if (cursor.stage >= way.size()) return {};
  const ProgramWalk::Block* block = &walk_.blocks()[way[cursor.stage].block];
  if (block->begin + cursor.lines_end == block->end) {
    if (cursor.stage + 1 == way.size()) return {};
    block = &walk_.blocks()[way[++cursor.stage].block];
    cursor.lines_end = 0;
  }
  const std::uint32_t index = block->begin + cursor.lines_end++;
  ++cursor.position;
  Instruction instruction = instructions_[index];
  if (even_[index]) return instruction;
  const ProgramInstruction& counted = program_->instructions[index];
  const std::uint64_t ordinal = way[cursor.stage].ordinal;
  const auto part = [&](std::uint64_t total) { return share(total, counted.warps, ordinal); };
  const std::uint64_t lanes = part(counted.threads);
  instruction.active_lanes = static_cast<std::uint8_t>(std::min<std::uint64_t>(lanes, kWarpSize));
  if (is_memory(instruction.op) && (lanes == 0 || (is_global(instruction.op) && part(counted.lines) == 0))) {
    make_plain(instruction);
  } else if (instruction.op == OpClass::Shared) {
    instruction.interval = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(part(counted.passes), 1, 255));
  } else if (instruction.op == OpClass::Load) {
    instruction.interval = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(part(counted.sectors) / 4, 1, 255));
  }
  return instruction;
}

void ProgramSource::lines(const WarpCursor& cursor, std::uint32_t, std::vector<LineAccess>& lines) const {
  const ProgramWalk::Visit& visit = ctas_[cursor.handle][cursor.warp][cursor.stage];
  const std::uint32_t index = walk_.blocks()[visit.block].begin + cursor.lines_end - 1;
  const ProgramInstruction& counted = program_->instructions[index];
  const std::uint64_t count = std::min(share(counted.lines, counted.warps, visit.ordinal), kMostLines);
  if (count == 0) return;
  const std::uint64_t sectors = std::clamp<std::uint64_t>(share(counted.sectors, counted.warps, visit.ordinal), count, count * 4);
  const std::uint64_t most = (counted.lines + counted.warps - 1) / counted.warps;
  // Warps of a CTA side by side: neighbours in time are neighbours in memory.
  const std::uint64_t warps = std::uint64_t{grid_ctas_} * warps_per_cta_;
  const std::uint64_t each = (counted.warps + warps - 1) / warps;
  std::uint64_t access = (cursor.cta * each + std::min<std::uint64_t>(visit.nth, each - 1)) * warps_per_cta_ + cursor.warp;
  if (instructions_[index].op == OpClass::Load) {
    access = times(access, program_->l1_misses);  // those that share a number find the lines in the L1
    const std::uint64_t fresh = times(access, program_->l2_misses);
    if (times(access + 1, program_->l2_misses) == fresh && fresh != 0) {
      const std::uint64_t recent = std::min(fresh, std::max<std::uint64_t>(1, kRecentLines / most));
      access = fresh - 1 - scrambled(access) % recent;
    } else {
      access = fresh;
    }
  }
  // Accesses to a part of a line fill it one after the other.
  const std::uint64_t wide = (sectors + count - 1) / count, parts = 4 / wide;
  const std::uint64_t array = base_ + index % kArrays * kArrayLines * kLineBytes;
  std::uint64_t left = sectors;
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint64_t mine = left / (count - n);
    left -= mine;
    const std::uint64_t line = (access / parts * most + n) % kArrayLines;
    const unsigned mask = ((1U << mine) - 1) << (access % parts * wide);
    lines.push_back({array + line * kLineBytes, static_cast<std::uint8_t>(mask & 15)});
  }
}

}  // namespace sluice
