// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

namespace sluice {

/// How a table writes numbers: "1,234.5", or "1.234,5" where a program or a spreadsheet wrote it under a locale with decimal
/// commas. The cells tell which; a cell that may mean both ("1.024") tells nothing.
class NumberForm {
 public:
  enum class Kind { Count, Percent };  ///< whole; 0..100, thus without thousands

  /// Takes a cell's form in. False: its decimal sign is not that of a cell before.
  bool see(std::string_view cell, Kind kind);
  /// A count that no cell before tells how to read: 1.024, or 1,024?
  [[nodiscard]] bool may_be_both(std::string_view cell, Kind kind) const;
  /// The cell's number; nothing when it is none in this form, or may be both.
  [[nodiscard]] std::optional<double> read(std::string_view cell, Kind kind) const;

 private:
  char decimal_ = 0;  ///< '.' or ','; 0: nothing told yet
};

}  // namespace sluice
