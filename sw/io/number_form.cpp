// SPDX-License-Identifier: Apache-2.0
#include "sw/io/number_form.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace sluice {

namespace {

constexpr std::size_t kGroup = 3;  // digits between thousands separators

/// The decimal sign that a cell must have been written with; 0: either, or none.
char decimal_of(std::string_view cell, NumberForm::Kind kind) {
  if (cell.find_first_not_of("0123456789.,eE+-") != std::string_view::npos) return 0;
  const std::string_view mantissa = cell.substr(0, cell.find_first_of("eE"));
  const std::size_t last = mantissa.find_last_of(".,");
  if (last == std::string_view::npos) return 0;
  const char sign = mantissa[last], other = sign == '.' ? ',' : '.';
  if (mantissa.find(other) != std::string_view::npos) return sign;
  if (mantissa.find(sign) != last) return other;
  const bool grouped = last >= 1 && last <= kGroup && mantissa[0] != '0' && mantissa.size() - last - 1 == kGroup;
  return grouped && kind == NumberForm::Kind::Count && mantissa.size() == cell.size() ? 0 : sign;
}

}  // namespace

bool NumberForm::see(std::string_view cell, Kind kind) {
  const char decimal = decimal_of(cell, kind);
  if (decimal != 0 && decimal_ == 0) decimal_ = decimal;
  return decimal == 0 || decimal == decimal_;
}

bool NumberForm::may_be_both(std::string_view cell, Kind kind) const {
  return decimal_ == 0 && cell.find('.') != std::string_view::npos && decimal_of(cell, kind) == 0;
}

std::optional<double> NumberForm::read(std::string_view cell, Kind kind) const {
  const char decimal = decimal_ == 0 ? '.' : decimal_, thousands = decimal == '.' ? ',' : '.';
  const std::size_t whole = std::min(cell.find_first_of(decimal == '.' ? ".eE" : ",eE"), cell.size());
  if (may_be_both(cell, kind)) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (i < whole && cell[i] == thousands) {
      const bool first = digits.size() == i;  // no separator before this one
      const bool follows = i != 0 && (first ? i <= kGroup : i > kGroup && cell[i - kGroup - 1] == thousands);
      if (!follows || (whole - i - 1) % (kGroup + 1) != kGroup) return std::nullopt;
    } else {
      digits += cell[i] == decimal ? '.' : cell[i];
    }
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace sluice
