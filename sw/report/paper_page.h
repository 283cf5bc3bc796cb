// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

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

/// A ratio's distance from one: "+1.2 %".
[[nodiscard]] inline std::string gain_text(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }
/// "1.23 %"
[[nodiscard]] inline std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// figures.json: `meta`, and `figures` by id.
[[nodiscard]] inline nlohmann::ordered_json page_json(const std::vector<Figure>& figures, const nlohmann::ordered_json& meta) {
  nlohmann::ordered_json json = {{"meta", meta}};
  for (const Figure& f : figures)
    json["figures"][f.id] = {{"title", f.title}, {"published", f.published}, {"measured", f.measured}, {"data", f.data}};
  return json;
}

}  // namespace sluice::figures
