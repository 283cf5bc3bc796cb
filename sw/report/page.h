// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sw/report/chart.h"
#include "sw/report/table.h"

// The one writer of HTML pages: static, without script or network, light and dark, readable at 1,300 and at 400 pixels.
namespace sluice::report {

/// A chart as wide as the page.
struct Large {
  Chart chart;
};
/// Small charts side by side.
struct Multiples {
  std::vector<Chart> charts;
};
/// A table that is shown when the reader asks for it: what the charts are drawn from.
struct Folded {
  std::string summary;
  Table table;
};
/// A sentence or more.
struct Paragraph {
  std::string text;
};
/// Who says what, one under the other: {"Published", ...}, {"This model", ...}.
struct Said {
  std::vector<std::pair<std::string, std::string>> lines;
};
using Block = std::variant<Large, Multiples, Table, Folded, Paragraph, Said>;

/// A heading, a paragraph and what shows it.
struct Section {
  std::string id, heading;
  std::vector<Block> blocks{};
  std::string name{};  ///< in the list of sections; the heading where empty
};

struct Page {
  std::string title;  ///< what was found, computed from the data
  std::string lead{};
  std::vector<Block> opening{};  ///< the large chart
  std::vector<Section> sections{};
  nlohmann::ordered_json provenance = nlohmann::ordered_json::object();  ///< command, commit, machine, seed, ...: the footer
};

/// The page; every text is escaped here.
[[nodiscard]] std::string html(const Page& page);

}  // namespace sluice::report
