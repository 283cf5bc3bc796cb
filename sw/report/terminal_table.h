// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sw/report/eval_results.h"

namespace sluice {

/// Plain-text table: columns as wide as their widest cell, the first aligned left, the others right. A row may be short; a row
/// with no cell is a rule.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header), {}} {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void add_rule() { rows_.emplace_back(); }
  [[nodiscard]] std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "1.234", or "-" for an unknown number.
[[nodiscard]] std::string format_ratio(double value, int digits = 3);
/// "+23.4 %" for 1.234, or "-".
[[nodiscard]] std::string format_gain(double ratio);

/// What `sluice eval` and `sluice report` print: normalised IPC of every mix under every policy with the partition that
/// warped_slicer chose, geometric means by category, fairness, and warped_slicer's gains beside the published ones.
[[nodiscard]] std::string terminal_report(const EvalResults& results);

}  // namespace sluice
