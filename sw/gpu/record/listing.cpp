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

std::uint32_t number(std::string_view text, int base) {
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || stop == text.data())
    throw InputError(fmt::format("nvdisasm: `{}` should begin with a number", text));
  return value;
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
  static_cast<SassText&>(i) = parse_sass(text.substr(0, text.rfind(';')));
  if ((i.name() == "BSSY" || i.name() == "BSYNC" || i.name() == "BREAK") && i.operands.starts_with('B'))
    i.barrier = number(std::string_view(i.operands).substr(1), 10);
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
    block.ends = is_end(last) || last.name() == "RET";
    block.calls = last.name() == "CALL";
    if (last.targets.size() == 1 && is_branch(last)) block.target = block_at[last.targets[0]];
    if (last.targets.size() > 1)
      for (const std::uint32_t t : last.targets) block.table.push_back(block_at[t]);
    if (block.end < all.size() && (is_conditional(last) || !(block.ends || is_branch(last)))) block.fall = block_at[block.end];
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
