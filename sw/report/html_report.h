#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

/// A page that shows results.json (docs/results_schema.md): no network, no script, charts as inline SVG.
[[nodiscard]] std::string html_report(const nlohmann::json& results);

}  // namespace sluice
