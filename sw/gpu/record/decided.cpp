// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/decided.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::gpu {

namespace {

std::vector<std::string> operands_of(const SassInstruction& s) {
  std::vector<std::string> out;
  std::string_view text = s.operands;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (part.ends_with(".reuse")) part.remove_suffix(6);
    out.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}
/// R12, UR4: the number, and the letters before it.
std::optional<std::pair<std::string, unsigned>> numbered(std::string_view text) {
  const std::size_t letters = text.starts_with("UR") ? 2 : text.starts_with('R') ? 1 : 0;
  if (letters == 0 || !is_number(text.substr(letters))) return {};
  return std::pair(std::string(text.substr(0, letters)), static_cast<unsigned>(std::stoul(std::string(text.substr(letters)))));
}
bool is_predicate_register(std::string_view text) {
  if (text.starts_with('U')) text.remove_prefix(1);
  return text.size() == 2 && text[0] == 'P' && text[1] >= '0' && text[1] <= '9';
}

bool writes_one_register(const SassInstruction& s) {
  constexpr std::string_view kNames[] = {"MOV",  "UMOV", "IMAD",  "UIMAD", "IADD3", "UIADD3", "VIADD", "LEA",  "ULEA", "SHF",
                                         "USHF", "LOP3", "ULOP3", "PRMT",  "SEL",   "FADD",   "FMUL",  "FFMA", "S2R",  "S2UR",
                                         "IABS", "LDG",  "LDS",   "LDC",   "ULDC",  "VIMNMX", "POPC",  "FSEL", "FMNMX"};
  const bool wide = s.opcode.find(".WIDE") != std::string::npos || s.opcode.find("64") != std::string::npos ||
                    s.opcode.find("128") != std::string::npos;
  return !wide && std::ranges::find(kNames, s.name()) != std::end(kNames);
}

/// What a thread that comes to one place knows.
struct Known {
  std::map<std::string, unsigned, std::less<>> values;       // of registers that were written
  std::map<std::string, std::pair<unsigned, bool>> compare;  // of predicates: a comparison, and whether they are its opposite
  std::map<unsigned, bool> facts;                            // of comparisons
};

class Decider {
 public:
  explicit Decider(const SassKernel& kernel)
      : kernel_(kernel), ways_(kernel.blocks.size(), 0), decided_(kernel.instructions.size()) {
    for (const SassBlock& block : kernel.blocks) {
      for (const auto& to : {block.target, block.fall})
        if (to) ++ways_[*to];
      for (const std::uint32_t to : block.table) ++ways_[to];
    }
    if (!ways_.empty()) ++ways_[0];  // the kernel begins there
  }

  std::vector<std::optional<bool>> run() {
    std::vector<std::pair<std::uint32_t, Known>> open;
    for (std::uint32_t b = 0; b < ways_.size(); ++b)
      if (b == 0 || ways_[b] != 1) open.emplace_back(b, Known{});
    while (!open.empty()) {
      auto [b, known] = std::move(open.back());
      open.pop_back();
      const SassBlock& block = kernel_.blocks[b];
      for (std::uint32_t i = block.begin; i < block.end; ++i) {
        const SassInstruction& s = kernel_.instructions[i];
        decided_[i] = value_of(known, s.guard);
        execute(known, s, i);
      }
      const SassInstruction& last = kernel_.instructions[block.end - 1];
      const bool plain = !last.operands.starts_with('P') && !last.operands.starts_with("!P") && !last.operands.starts_with('U');
      for (const auto& [to, taken] : {std::pair(block.target, true), {block.fall, false}}) {
        if (!to || *to == 0 || ways_[*to] != 1) continue;
        Known then = known;
        if (plain) learn(then, last.guard, taken);
        open.emplace_back(*to, std::move(then));
      }
      for (const std::uint32_t to : block.table)
        if (to != 0 && ways_[to] == 1) open.emplace_back(to, known);
    }
    return decided_;
  }

 private:
  static std::optional<bool> value_of(const Known& known, std::string_view guard) {
    const bool inverted = guard.starts_with('!');
    if (inverted) guard.remove_prefix(1);
    if (guard == "PT" || guard == "UPT") return !inverted;  // ptxas puts @!PT LDS in front of copies to the scratchpad
    const auto comparison = known.compare.find(std::string(guard));
    if (comparison == known.compare.end()) return {};
    const auto fact = known.facts.find(comparison->second.first);
    if (fact == known.facts.end()) return {};
    return (fact->second != comparison->second.second) != inverted;
  }
  static void learn(Known& known, std::string_view guard, bool holds) {
    const bool inverted = guard.starts_with('!');
    if (inverted) guard.remove_prefix(1);
    const auto comparison = known.compare.find(std::string(guard));
    if (comparison != known.compare.end())
      known.facts[comparison->second.first] = (holds != inverted) != comparison->second.second;
  }

  unsigned number_of(const std::string& what) {
    return numbers_.try_emplace(what, static_cast<unsigned>(numbers_.size())).first->second;
  }
  /// Of a register that nothing on this way has written, of a constant, of a number: what stands there.
  unsigned value_of_operand(const Known& known, const std::string& operand) {
    if (const auto at = known.values.find(operand); at != known.values.end()) return at->second;
    if (operand.find('R') == std::string::npos || numbered(operand) || operand == "RZ" || operand == "URZ")
      return number_of(operand);
    return number_of(fmt::format("#{}", ++unique_));  // a part of a register, its opposite, an address
  }

  void execute(Known& known, const SassInstruction& s, std::uint32_t index) {
    if (s.name() == "CALL" || s.name().ends_with("GMMA") || s.name() == "R2P") {  // they write more than they name
      known = {};
      generation(known, index);
      return;
    }
    const std::vector<std::string> operands = operands_of(s);
    const bool always = s.guard.empty() || s.guard == "PT";
    const std::optional<std::string> copied = copied_by(s, operands);
    if (always && copied && numbered(operands[0]) && numbered(*copied)) {
      known.values[operands[0]] = value_of_operand(known, *copied);
      return;
    }
    const std::optional<std::pair<unsigned, bool>> comparison = always ? comparison_of(known, s, operands) : std::nullopt;
    forget(known, s, operands, index);
    if (comparison) known.compare[operands[0]] = *comparison;
  }

  static std::optional<std::string> copied_by(const SassInstruction& s, const std::vector<std::string>& operands) {
    if ((s.opcode == "MOV" || s.opcode == "UMOV") && operands.size() == 2) return operands[1];
    if ((s.opcode == "IMAD.MOV.U32" || s.opcode == "IMAD.MOV") && operands.size() == 4 && operands[1] == "RZ" &&
        operands[2] == "RZ")
      return operands[3];
    return {};
  }

  /// ISETP.GE.U32.AND P0, PT, R4, R3, PT and its like, as "not less than" or "equal".
  std::optional<std::pair<unsigned, bool>> comparison_of(const Known& known, const SassInstruction& s,
                                                         const std::vector<std::string>& operands) {
    std::string_view how = s.opcode;
    const std::size_t dot = how.find('.');
    if ((s.name() != "ISETP" && s.name() != "UISETP") || !how.ends_with(".AND") || operands.size() != 5 ||
        dot == std::string_view::npos)
      return {};
    if (operands[1] != (s.name() == "ISETP" ? "PT" : "UPT") || operands[4] != operands[1]) return {};
    const std::string_view relation = how.substr(dot + 1, 2);
    const bool whole = how.find(".U32") == std::string_view::npos;
    if (how.size() != dot + 3 + (whole ? 0 : 4) + 4) return {};
    std::string a = std::to_string(value_of_operand(known, operands[2])),
                b = std::to_string(value_of_operand(known, operands[3]));
    const bool opposite = relation == "LT" || relation == "GT" || relation == "NE";
    if (relation == "GT" || relation == "LE") std::swap(a, b);
    const bool equality = relation == "EQ" || relation == "NE";
    if (!equality && !opposite && relation != "GE" && relation != "LE") return {};
    if (equality && b < a) std::swap(a, b);
    return std::pair(number_of(fmt::format("{}{} {} {}", equality ? "eq" : "ge", equality || whole ? "" : "u", a, b)), opposite);
  }

  /// What an instruction writes is a new value: the register that it names first, and those behind it that it may mean as well.
  void forget(Known& known, const SassInstruction& s, const std::vector<std::string>& operands, std::uint32_t index) {
    const bool narrow = writes_one_register(s), two = s.name().ends_with("SETP") || s.name().ends_with("PLOP3");
    bool first = true;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (is_predicate_register(operands[o]) && (o < 2 || !two)) known.compare.erase(operands[o]);
      const auto reg = o < 2 ? numbered(operands[o]) : std::nullopt;
      if (!reg || (narrow && !first)) continue;
      first = false;
      for (unsigned more = 0; more < (narrow ? 1U : 4U); ++more) {
        const std::string name = fmt::format("{}{}", reg->first, reg->second + more);
        known.values[name] = number_of(fmt::format("@{} {}", index, name));
      }
    }
  }
  /// Every register has a new value.
  void generation(Known& known, std::uint32_t index) {
    for (const char* letters : {"R", "UR"})
      for (unsigned r = 0; r < 256; ++r) {
        const std::string name = fmt::format("{}{}", letters, r);
        known.values[name] = number_of(fmt::format("@{} {}", index, name));
      }
  }

  const SassKernel& kernel_;
  std::vector<std::uint32_t> ways_;  // to each block
  std::vector<std::optional<bool>> decided_;
  std::map<std::string, unsigned> numbers_;  // of values and comparisons, by what they are
  unsigned unique_ = 0;
};

}  // namespace

std::vector<std::optional<bool>> decided_guards(const SassKernel& kernel) { return Decider(kernel).run(); }

}  // namespace sluice::gpu
