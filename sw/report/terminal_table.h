// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sw/report/table.h"

namespace sluice {

/// A table of text; `report::Table` has numbers, too.
class TextTable {
 public:
  explicit TextTable(const std::vector<std::string>& header) : table_({header.begin(), header.end()}) {}
  void add_row(const std::vector<std::string>& cells) { table_.row({cells.begin(), cells.end()}); }
  [[nodiscard]] std::string str() const { return table_.text(); }

 private:
  report::Table table_;
};

}  // namespace sluice
