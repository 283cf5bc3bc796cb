// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sw/report/page.h"

// The figures and tables of a paper's evaluation, each beside what the paper states.
namespace sluice::figures {

struct Figure {            // NOLINT(bugprone-exception-escape): of the JSON class
  std::string id, title;   ///< id: "1", "3a", ..., "energy": also its anchor and its key in figures.json
  std::string published;   ///< what the paper states, in numbers where it gives them; plain text
  std::string measured{};  ///< one sentence of the same kind; empty where the table or chart says it
  nlohmann::ordered_json data{};
  std::vector<report::Block> blocks{};  ///< charts and tables; empty where the page is drawn from the data (views.h)
};

using TableRow = std::vector<std::string>;  ///< plain text, escaped when it is drawn

/// A ratio's distance from one: "+1.2 %".
[[nodiscard]] std::string gain_text(double ratio);
/// "1.23 %"
[[nodiscard]] std::string share_text(double share);

/// A table of text; cells that are long are sentences.
[[nodiscard]] report::Table table(const TableRow& head, const std::vector<TableRow>& rows);

/// figures.json: `meta`, and `figures` by id.
[[nodiscard]] nlohmann::ordered_json page_json(const std::vector<Figure>& figures, const nlohmann::ordered_json& meta);

}  // namespace sluice::figures
