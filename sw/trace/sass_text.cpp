// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/sass_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "sw/workload/i_instruction_source.h"

namespace sluice {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

namespace {

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
    if (operand[i] == 'R' && !inside && std::isdigit(static_cast<unsigned char>(operand[i + 1])) != 0) {
      unsigned value = kNoRegister;
      std::from_chars(operand.data() + i + 1, operand.data() + operand.size(), value);
      if (value < kNoRegister) found.push_back(static_cast<std::uint8_t>(value));
    }
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

void read_registers(SassText& i) {
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

}  // namespace

SassText parse_sass(std::string_view text) {
  SassText i;
  text = trimmed(text);
  if (text.starts_with('@')) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    i.guard = text.substr(1, blank - 1);
    text = trimmed(text.substr(blank));
  }
  const std::size_t blank = std::min(text.find(' '), text.size());
  i.opcode = text.substr(0, blank);
  i.operands = trimmed(text.substr(blank));
  read_registers(i);
  return i;
}

bool is_end(const SassText& i) { return i.name() == "EXIT" || i.name() == "KILL"; }

bool is_branch(const SassText& i) { return i.name() == "BRA" || i.name() == "BRX" || i.name() == "BRXU" || i.name() == "JMP"; }

bool ends_block(const SassText& i) {
  return is_end(i) || is_branch(i) || i.name() == "CALL" || i.name() == "RET" || i.name() == "BSYNC" || i.name() == "WARPSYNC";
}

bool is_conditional(const SassText& i) {
  if (i.guarded()) return true;
  // An unconditional branch may still name a predicate behind its opcode: BRA P0, `(.L_x_1).
  const std::vector<std::string_view> operands = split(i.operands);
  return is_branch(i) && ((!operands.empty() && is_predicate(operands.front())) || i.opcode.find("DIV") != std::string::npos ||
                          i.opcode.find("CONV") != std::string::npos);
}

}  // namespace sluice
