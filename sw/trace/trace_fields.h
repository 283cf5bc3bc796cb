// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

#include "sw/trace/trace_reader.h"

namespace sluice {

/// Blank-separated fields of a line.
struct TraceReader::Fields {
  const LineReader& lines;
  const char* at;
  const char* end;

  void skip_blanks() {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
  }
  [[nodiscard]] bool done() {
    skip_blanks();
    return at == end;
  }
  std::string_view word(const char* what) {
    skip_blanks();
    const char* begin = at;
    while (at != end && *at != ' ' && *at != '\t') ++at;
    if (begin == at) lines.fail(fmt::format("the line ends where {} should be", what));
    return {begin, static_cast<std::size_t>(at - begin)};
  }
  template <class T>
  T number(const char* what, int base, T low, T high) {
    const std::string_view text = word(what);
    T value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || stop != text.data() + text.size() || value < low || value > high)
      lines.fail(
          fmt::format("{} = {}: must be a {} number, {}..{}", what, text, base == 16 ? "hexadecimal" : "decimal", low, high));
    return value;
  }
  /// Decimal; the largest ones, which only an unsigned number holds, too.
  std::int64_t immediate() {
    skip_blanks();
    if (at != end && *at == '-') return number<std::int64_t>("immediate", 10, std::numeric_limits<std::int64_t>::min(), 0);
    const auto value = number<std::uint64_t>("immediate", 10, 0, std::numeric_limits<std::uint64_t>::max());
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
  }
  [[nodiscard]] std::size_t words_left() const {
    std::size_t words = 0;
    for (const char* c = at; c != end; ++c)
      words += *c != ' ' && *c != '\t' && (c == at || c[-1] == ' ' || c[-1] == '\t') ? 1 : 0;
    return words;
  }
  [[nodiscard]] bool at_letter() const { return at != end && *at >= 'A' && *at <= 'Z'; }  ///< of the next field
  std::uint64_t address() {
    skip_blanks();
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) at += 2;
    return number<std::uint64_t>("address", 16, 0, std::numeric_limits<std::uint64_t>::max());
  }
  std::uint8_t register_index() {
    const std::string_view text = word("a register");
    unsigned value = 256;
    if (text.size() >= 2 && text[0] == 'R') {
      const auto [stop, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
      if (error != std::errc{} || stop != text.data() + text.size()) value = 256;
    }
    if (value > 255) lines.fail(fmt::format("register {}: must be R0..R255", text));
    return static_cast<std::uint8_t>(value);  // R255 is RZ, the zero register: kNoRegister
  }
};
static_assert(kNoRegister == 255);

}  // namespace sluice
