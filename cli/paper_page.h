// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/common.h"
#include "sw/report/paper_page.h"

namespace sluice::cli {

/// Options that every `sluice report PAPER` has.
struct PaperOptions : CommonOptions {
  std::string out;  ///< folder of the page and of its kept runs

  PaperOptions() { partitioner = "twin"; }

  /// --machine and --workload, with these defaults.
  void add_inputs(CLI::App& app, std::string machine, std::string workload);
  /// --jobs, --json and --out.
  /// @param holds  what --out will hold
  void add_page(CLI::App& app, const std::string& holds = "index.html and figures.json");
  /// The workload's name: its file without folder and ending.
  [[nodiscard]] std::string workload_name() const;
  /// What the page says of its making: version and commit, `what` was run, seed and partitioner.
  [[nodiscard]] nlohmann::ordered_json meta(const nlohmann::ordered_json& what) const;
};

/// What every `sluice report PAPER` ends with: `figures.json` and `index.html` in `options.out`. On standard output the JSON,
/// or what the paper prints beside what was measured, how many runs were made, and where the page is.
/// @param meta  of `PaperOptions::meta`; the host's CPU time is added if no run was kept from before
/// @throws SystemError when a file cannot be written
void write_paper_page(const std::vector<figures::Figure>& drawn, nlohmann::ordered_json meta, const PaperOptions& options);

}  // namespace sluice::cli
