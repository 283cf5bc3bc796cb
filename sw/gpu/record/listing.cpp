// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::uint32_t number(std::string_view text, int base) {
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || stop == text.data())
    throw InputError(fmt::format("nvdisasm: `{}` should begin with a number", text));
  return value;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(trimmed(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return parts;
}

/// Numbers of the registers R<n> in an operand: "desc[UR4][R2.64+0x10]" has one, 2.
std::vector<std::uint8_t> registers_in(std::string_view operand) {
  std::vector<std::uint8_t> found;
  for (std::size_t i = 0; i + 1 < operand.size(); ++i) {
    const bool inside = i > 0 && (std::isalnum(static_cast<unsigned char>(operand[i - 1])) != 0 || operand[i - 1] == '_');
    if (operand[i] == 'R' && !inside && std::isdigit(static_cast<unsigned char>(operand[i + 1])) != 0)
      found.push_back(static_cast<std::uint8_t>(number(operand.substr(i + 1), 10)));
  }
  return found;
}

bool is_predicate(std::string_view operand) {
  if (operand.starts_with('!')) operand.remove_prefix(1);
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() == 2 && operand[0] == 'P' &&
         (operand[1] == 'T' || std::isdigit(static_cast<unsigned char>(operand[1])) != 0);
}

/// Instructions whose first register is read: they write memory, predicates or uniform registers, or control the program.
bool writes_no_register(std::string_view name) {
  constexpr std::string_view kNames[] = {"ST",     "STG",   "STS",    "STL",   "STSM",     "RED",    "REDG",      "REDAS",
                                         "LDGSTS", "BAR",   "BRA",    "BRX",   "BSSY",     "BSYNC",  "EXIT",      "CALL",
                                         "RET",    "FCHK",  "R2UR",   "R2P",   "WARPSYNC", "DEPBAR", "NANOSLEEP", "MEMBAR",
                                         "CCTL",   "SYNCS", "ERRBAR", "BREAK", "YIELD"};
  return name.ends_with("SETP") || std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("UTMA") ||
         name.starts_with("UBLK");
}

void read_registers(SassInstruction& i) {
  const std::vector<std::string_view> operands = split(i.operands);
  std::size_t first = 0;
  if (!writes_no_register(i.name())) {
    while (first < operands.size() && first < 2 && is_predicate(operands[first])) ++first;
    if (first < operands.size() && operands[first].starts_with('R')) {
      if (const auto r = registers_in(operands[first]); !r.empty()) i.destination = r.front();
      ++first;
    }
  }
  for (; first < operands.size(); ++first)
    for (const std::uint8_t r : registers_in(operands[first]))
      if (i.sources.size() < 5) i.sources.push_back(r);
}

bool is_end(const SassInstruction& i) { return i.name() == "EXIT" || i.name() == "KILL"; }
bool is_branch(const SassInstruction& i) {
  return i.name() == "BRA" || i.name() == "BRX" || i.name() == "BRXU" || i.name() == "JMP";
}
/// Warps part or join here: a block ends.
bool ends_block(const SassInstruction& i) {
  return is_end(i) || is_branch(i) || i.name() == "CALL" || i.name() == "RET" || i.name() == "BSYNC" || i.name() == "WARPSYNC";
}

/// Labels in an operand, as ".L_x_3" in "`(.L_x_3)".
std::vector<std::string> labels_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(".L_"); at != std::string_view::npos; at = text.find(".L_", at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    found.emplace_back(text.substr(at, end - at));
  }
  return found;
}

/// "/*0130*/ @!P0 BRA `(.L_x_1) ;"
SassInstruction instruction_of(std::string_view text, std::uint32_t line) {
  SassInstruction i;
  const std::size_t close = text.find("*/");
  if (close == std::string_view::npos) throw InputError(fmt::format("nvdisasm: `{}` is not understood", text));
  i.pc = number(text.substr(2, close - 2), 16);
  i.line = line;
  text = text.substr(close + 2);
  text = trimmed(text.substr(0, text.rfind(';')));
  if (text.starts_with('@')) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    i.guard = text.substr(1, blank - 1);
    text = trimmed(text.substr(blank));
  }
  const std::size_t blank = std::min(text.find(' '), text.size());
  i.opcode = text.substr(0, blank);
  i.operands = trimmed(text.substr(blank));
  if ((i.name() == "BSSY" || i.name() == "BSYNC" || i.name() == "BREAK") && i.operands.starts_with('B'))
    i.barrier = number(std::string_view(i.operands).substr(1), 10);
  read_registers(i);
  return i;
}

/// "/* 0x000fe20000000800 */"
std::uint32_t control_of(std::string_view row) {
  constexpr unsigned kShift = 105 - 64, kMask = 0x1fffff;
  std::uint64_t upper = 0;
  const auto [stop, error] = std::from_chars(row.data() + 5, row.data() + row.size(), upper, 16);
  if (error != std::errc{}) throw InputError(fmt::format("nvdisasm: `{}` is not understood", row));
  return static_cast<std::uint32_t>(upper >> kShift & kMask);
}

void make_blocks(SassKernel& kernel) {
  const std::vector<SassInstruction>& all = kernel.instructions;
  std::vector<bool> leads(all.size() + 1, false);
  leads[0] = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (ends_block(all[i])) leads[i + 1] = true;
    for (const std::uint32_t t : all[i].targets) leads[t] = true;
  }
  std::vector<std::uint32_t> block_at(all.size() + 1, 0);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (leads[i]) kernel.blocks.push_back({i, i, {}, {}, {}, false, false});
    block_at[i] = static_cast<std::uint32_t>(kernel.blocks.size() - 1);
    kernel.blocks.back().end = i + 1;
  }
  for (SassBlock& block : kernel.blocks) {
    const SassInstruction& last = all[block.end - 1];
    const bool always = last.guard.empty() || last.guard == "PT";
    block.ends = is_end(last) || last.name() == "RET";
    block.calls = last.name() == "CALL";
    if (last.targets.size() == 1 && is_branch(last)) block.target = block_at[last.targets[0]];
    if (last.targets.size() > 1)
      for (const std::uint32_t t : last.targets) block.table.push_back(block_at[t]);
    // An unconditional branch may still name a predicate behind its opcode: BRA P0, `(.L_x_1).
    const bool conditional = !always || (is_branch(last) && (is_predicate(split(last.operands).front()) ||
                                                             last.opcode.find("DIV") != std::string::npos ||
                                                             last.opcode.find("CONV") != std::string::npos));
    if (block.end < all.size() && (conditional || !(block.ends || is_branch(last)))) block.fall = block_at[block.end];
  }
}

}  // namespace

SassKernel parse_listing(std::string_view text, const std::string& symbol) {
  SassKernel kernel;
  std::map<std::string, std::uint32_t, std::less<>> labels;
  std::vector<std::vector<std::string>> targets;
  bool inside = false, internal = false;
  std::uint32_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view row = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (row.starts_with(".section") && row.size() > 8 && (row[8] == ' ' || row[8] == '\t')) {
      inside = row.find(fmt::format(".text.{},", symbol)) != std::string_view::npos;
      internal = false;
    } else if (!inside || internal) {
      continue;
    } else if (row.starts_with("//##")) {
      const std::size_t found = row.find("line ");
      line = found == std::string_view::npos ? 0 : number(row.substr(found + 5), 10);
    } else if (row.starts_with("/* 0x")) {  // the upper half of the encoding of the instruction before
      if (!kernel.instructions.empty()) kernel.instructions.back().control = control_of(row);
    } else if (row.starts_with("/*")) {
      kernel.instructions.push_back(instruction_of(row, line));
      targets.push_back(labels_in(kernel.instructions.back().operands));
      if (kernel.instructions.back().name() == "BSSY") targets.back().clear();
    } else if (row.ends_with(':')) {
      const std::string_view label = row.substr(0, row.size() - 1);
      internal = label.starts_with("$__internal") || label.starts_with("$" + symbol + "$");
      labels.emplace(label, static_cast<std::uint32_t>(kernel.instructions.size()));
    }
  }
  if (kernel.instructions.empty()) throw InputError(fmt::format("nvdisasm: no kernel {}", symbol));
  // Behind the last end there is a branch to itself and padding.
  std::size_t used = kernel.instructions.size();
  while (used > 0 && (kernel.instructions[used - 1].name() == "NOP" ||
                      (kernel.instructions[used - 1].name() == "BRA" && !targets[used - 1].empty() &&
                       labels.contains(targets[used - 1][0]) && labels.at(targets[used - 1][0]) == used - 1)))
    --used;
  kernel.instructions.resize(used);
  for (std::size_t i = 0; i < used; ++i)
    for (const std::string& label : targets[i]) {
      const auto found = labels.find(label);
      if (found != labels.end() && found->second < used) kernel.instructions[i].targets.push_back(found->second);
    }
  make_blocks(kernel);
  return kernel;
}

}  // namespace sluice::gpu
