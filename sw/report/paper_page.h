// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sw/report/page.h"

// A page of the figures and tables of a paper's evaluation, each beside what the paper states.
namespace sluice::figures {

struct Figure {           // NOLINT(bugprone-exception-escape): of the JSON class
  std::string id, title;  ///< id: "1", "3a", ..., "energy": also its anchor and its key in figures.json
  std::string published;  ///< what the paper states, in numbers where it gives them; plain text
  std::string measured;   ///< one sentence of the same kind; plain text
  std::string html;       ///< charts of a figure that has no blocks yet
  nlohmann::ordered_json data;
  std::vector<report::Block> blocks{};  ///< charts and tables
};

using TableRow = std::vector<std::string>;  ///< plain text, escaped when it is drawn

/// A ratio's distance from one: "+1.2 %".
[[nodiscard]] std::string gain_text(double ratio);
/// "1.23 %"
[[nodiscard]] std::string share_text(double share);

/// An HTML table that scrolls.
/// @param css  class of the table, as "words"
[[nodiscard]] std::string table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view css = {});

/// One page with all of them, a section each.
/// @param title    the finding, plain text
/// @param meta     what was run: version, commit, machine, seed, ...
/// @param where    what Figure::measured is of: at the begin of a sentence
/// @param opening  the large chart
[[nodiscard]] std::string page(std::string title, const std::vector<Figure>& figures, const nlohmann::ordered_json& meta,
                               std::string_view where = "This model", std::vector<report::Block> opening = {},
                               std::string lead = {});

/// The same as JSON: `meta`, and `figures` by id.
[[nodiscard]] nlohmann::ordered_json page_json(const std::vector<Figure>& figures, const nlohmann::ordered_json& meta);

}  // namespace sluice::figures
