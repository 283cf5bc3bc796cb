// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/program_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sw/trace/opcodes.h"

namespace sluice {

namespace {

constexpr std::uint32_t kHopper = 90;
constexpr std::uint64_t kArrayBytes = (1ULL << 31) + 33 * kLineBytes;  // arrays begin in different channels
constexpr std::uint64_t kFootprintLines = 65536;
constexpr std::uint64_t kSectorsALine = 4;

std::uint64_t rounded(std::uint64_t total, std::uint64_t parts) { return parts == 0 ? 0 : (total + parts / 2) / parts; }
std::uint64_t at_least(std::uint64_t total, std::uint64_t parts) { return parts == 0 ? 0 : (total + parts - 1) / parts; }

std::uint64_t scattered(std::uint64_t x) {  // splitmix64's finalizer
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// 3 of "P3", "!P3"; none: PT, or no predicate.
std::uint8_t predicate(std::string_view text) {
  if (text.starts_with('!')) text.remove_prefix(1);
  if (text.size() < 2 || text[0] != 'P' || text[1] < '0' || text[1] > '6') return kNoRegister;
  return static_cast<std::uint8_t>(text[1] - '0');
}

/// Groups of copies that a DEPBAR leaves under way: "SB0, 0x1".
std::uint8_t groups_left(std::string_view operands) {
  const std::size_t at = operands.find("0x");
  unsigned left = 0;
  if (at != std::string_view::npos) std::from_chars(operands.data() + at + 2, operands.data() + operands.size(), left, 16);
  return static_cast<std::uint8_t>(std::min(left, 63U));
}

/// Registers of the program: its predicates are counted on behind them.
std::uint32_t highest_register(const std::vector<SassText>& texts) {
  std::uint32_t highest = 0;
  for (const SassText& text : texts) {
    if (text.destination) highest = std::max(highest, *text.destination + access_bytes(text.opcode) / 4);
    for (const std::uint8_t source : text.sources) highest = std::max<std::uint32_t>(highest, source);
  }
  return highest;
}

}  // namespace

ProgramSource::ProgramSource(const KernelDescriptor& kernel, std::uint32_t address_space)
    : kernel_(kernel),
      program_(*kernel_.program),
      walk_(program_),
      fresh_(std::max(0.0, 1 - kernel.behaviour.reuse_fraction - kernel.behaviour.footprint_fraction)),
      reused_(fresh_ < 1 ? kernel.behaviour.reuse_fraction / (1 - fresh_) : 0),
      base_((static_cast<std::uint64_t>(address_space) + 1) << 44) {
  const std::uint32_t predicates = highest_register(walk_.texts()) + 1;
  for (std::size_t i = 0; i < program_.instructions.size(); ++i)
    add_instruction(program_.instructions[i], walk_.texts()[i], predicates);
}

void ProgramSource::add_instruction(const ProgramInstruction& counted, const SassText& text, std::uint32_t predicates) {
  const auto pseudo = [&](std::uint8_t p) {
    const std::uint32_t index = predicates + p;
    return p == kNoRegister || index >= kNoRegister ? kNoRegister : static_cast<std::uint8_t>(index);
  };
  const std::optional<Opcode> opcode = find_opcode(text.name(), kHopper);
  if (!opcode) unknown_[std::string(text.name())] += counted.warps;
  Instruction out;
  out.op = opcode ? opcode->op : OpClass::Alu;
  out.pipe = opcode ? opcode->pipe : Pipe::Int;
  out.copies = opcode ? opcode->copies : CopyRole::None;
  out.pc = static_cast<std::uint32_t>(counted.address - program_.instructions.front().address);
  out.active_lanes = static_cast<std::uint8_t>(std::min<std::uint64_t>(kWarpSize, rounded(counted.threads, counted.warps)));
  out.dst = text.destination ? *text.destination : pseudo(predicate(text.operands));
  std::copy(text.sources.begin(), text.sources.end(), std::begin(out.src));
  if (text.sources.size() < std::size(out.src)) out.src[text.sources.size()] = pseudo(predicate(text.guard));
  if (out.copies == CopyRole::Wait) out.groups_left = groups_left(text.operands);
  if (out.op == OpClass::Exit) out.op = OpClass::Alu;  // of some threads; a warp ends behind its way

  Access access;
  if (is_memory(out.op)) {
    const std::uint32_t registers = std::max(1U, access_bytes(text.opcode) / 4);
    if (out.dst != kNoRegister) out.dst_count = static_cast<std::uint8_t>(std::min(registers, 255U - out.dst));
    const auto passes = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(rounded(counted.passes, counted.warps), 1, 255));
    out.bypass_l1 = text.opcode.find(".STRONG.GPU") != std::string::npos || text.opcode.find(".BYPASS") != std::string::npos;
    if (out.active_lanes == 0 || (counted.lines == 0 && opcode->space != MemorySpace::Shared && counted.passes == 0)) {
      out.op = OpClass::Alu;
      out.pipe = Pipe::None;
      out.copies = CopyRole::None;
    } else if (counted.lines == 0) {
      out.op = OpClass::Shared;
      out.interval = passes;
    } else {
      access.array = base_ + accesses_.size() * kArrayBytes;
      access.lines_each = at_least(counted.lines, counted.warps);
      access.rounds = at_least(counted.warps, std::uint64_t{kernel_.grid_ctas} * kernel_.warps_per_cta());
      access.only_new = out.op == OpClass::Store;
      if (out.op == OpClass::Load)
        out.interval = static_cast<std::uint8_t>(
            std::clamp<std::uint64_t>(at_least(counted.sectors, counted.warps * kSectorsALine), 1, kWarpSize));
    }
  }
  instructions_.push_back(out);
  accesses_.push_back(access);
}

std::uint32_t ProgramSource::add_lines(std::uint32_t instruction, std::uint64_t ordinal, std::uint64_t slot,
                                       TraceWarp& warp) const {
  const ProgramInstruction& counted = program_.instructions[instruction];
  const Access& access = accesses_[instruction];
  const std::uint64_t lines = share(counted.lines, counted.warps, ordinal),
                      sectors = share(counted.sectors, counted.warps, ordinal);
  for (std::uint64_t l = 0; l < lines; ++l) {
    const std::uint64_t index = slot * access.lines_each + l, dice = scattered(index ^ access.array);
    const double fresh = access.only_new ? 1 : fresh_;
    const auto newest = static_cast<std::uint64_t>(std::floor(static_cast<double>(index) * fresh));
    std::uint64_t line = newest;
    if (static_cast<std::uint64_t>(std::floor(static_cast<double>(index + 1) * fresh)) == newest) {
      const bool reuses = static_cast<double>(dice >> 11) * 0x1p-53 < reused_;
      line -= scattered(dice) % std::min<std::uint64_t>(newest + 1, reuses ? kSectorsALine : kFootprintLines);
    }
    const std::uint64_t touched = std::clamp<std::uint64_t>(share(sectors, lines, l), 1, kSectorsALine);
    warp.lines.push_back((access.array + line * kLineBytes) | ((1U << touched) - 1));
  }
  return static_cast<std::uint32_t>(lines);
}

const Instruction* ProgramSource::fill(std::uint32_t cta, TraceCta& warps) {
  const std::uint32_t index = cta % kernel_.grid_ctas, a_cta = kernel_.warps_per_cta();
  if (index == 0) walk_.restart();
  warps.resize(a_cta);
  for (std::uint32_t w = 0; w < a_cta; ++w) {
    TraceWarp& warp = warps[w];
    warp.records.clear();
    warp.lines.clear();
    for (const ProgramWalk::Visit& visit : walk_.next_warp()) {
      const ProgramWalk::Block& block = walk_.blocks()[visit.block];
      for (std::uint32_t i = block.begin; i < block.end; ++i) {
        const Access& access = accesses_[i];
        const std::uint64_t slot = (std::uint64_t{index} * access.rounds + visit.nth) * a_cta + w;
        const std::uint32_t lines = access.array == 0 ? 0 : add_lines(i, visit.ordinal, slot, warp);
        warp.records.push_back(i | lines << kTraceRecordIndexBits);
      }
    }
  }
  return instructions_.data();
}

}  // namespace sluice
