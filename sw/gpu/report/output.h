// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sw/gpu/report/stats.h"
#include "sw/report/page.h"

namespace sluice::gpu {

using Values = std::vector<double>;

/// What the report collects on its way: the page, the figures behind it, and whether every check held.
struct Output {
  report::Page page;
  nlohmann::json summary = nlohmann::json::object();
  bool good = true;
  report::Section& section(std::string id, std::string heading, std::string text);
};

/// What machine.json says of a GPU and its measurements: a page's footer.
[[nodiscard]] nlohmann::ordered_json provenance(const nlohmann::json& machine);
/// A page's sentences and tables, for a terminal.
[[nodiscard]] std::string terminal_text(const report::Page& page);

/// Medians and geometric means as points of a chart, with their 95 % intervals by bootstrap.
/// @param over  what each value is a multiple of
[[nodiscard]] report::Point median_point(const Values& values, double over = 1);
[[nodiscard]] report::Point mean_point(const Values& ratios);
/// {"geometric_mean", "ci"}
[[nodiscard]] nlohmann::json mean_json(const Values& ratios);
/// "1.129 [1.084, 1.182]"
[[nodiscard]] std::string mean_text(const Values& ratios);

/// The last line of each key of a file of measurements: one that was interrupted and repeated counts once.
[[nodiscard]] std::vector<nlohmann::json> lines(const std::filesystem::path& file);

/// An array, or an object's arrays, with one element a line: short for a difference of versions, and for the eye.
void write_json(const std::filesystem::path& file, const nlohmann::json& value);

}  // namespace sluice::gpu
