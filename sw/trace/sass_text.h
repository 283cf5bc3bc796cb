// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A SASS instruction as disassemblers write it: "@!P0 LDG.E.64 R2, desc[UR4][R2.64]".
struct SassText {
  std::string guard;             ///< "P0", "!P0"; empty: always
  std::string opcode, operands;  ///< "LDG.E.64", "R2, desc[UR4][R2.64]"
  std::optional<std::uint8_t> destination;
  std::vector<std::uint8_t> sources;  ///< registers, at most five; RZ is left out
  [[nodiscard]] std::string_view name() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  [[nodiscard]] bool guarded() const { return !guard.empty() && guard != "PT"; }
};

/// @param text without the semicolon
[[nodiscard]] SassText parse_sass(std::string_view text);

[[nodiscard]] bool is_end(const SassText& instruction);      ///< threads may end here
[[nodiscard]] bool is_branch(const SassText& instruction);   ///< to a place that it names, or to one of a table
[[nodiscard]] bool ends_block(const SassText& instruction);  ///< warps part or join here
/// A branch, end or return that not every thread takes.
[[nodiscard]] bool is_conditional(const SassText& instruction);

[[nodiscard]] std::string_view trimmed(std::string_view text);  ///< without blanks at its ends

}  // namespace sluice
