// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "sw/report/eval_results.h"

namespace sluice {

/// One page that shows an evaluation: no network, no script, charts as inline SVG, light and dark, tooltips on every mark.
/// Everything on it is computed from `results`; published figures are marked as such.
[[nodiscard]] std::string html_report(const EvalResults& results);

/// The same from the document of docs/reference/results_schema.md.
/// @throws InputError naming the field that does not follow the schema
[[nodiscard]] std::string html_report(const nlohmann::json& results);

}  // namespace sluice
