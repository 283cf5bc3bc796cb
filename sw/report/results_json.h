// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "sw/report/eval_results.h"
#include "sw/report/summary.h"

namespace sluice {

/// Version of the results.json schema (docs/reference/results_schema.md), written as meta.schema_version.
inline constexpr int kResultsSchemaVersion = 1;

/// The document of docs/reference/results_schema.md: meta, solo, runs, summary (computed here). Unknown numbers become null.
[[nodiscard]] nlohmann::ordered_json to_json(const EvalResults& results);

/// @param source  file name for messages
/// @throws InputError naming the source, the field and what is wrong with it
[[nodiscard]] EvalResults results_from_json(const nlohmann::ordered_json& json, const std::string& source);

/// @throws InputError when the file can't be read, is not JSON, or does not follow the schema
[[nodiscard]] EvalResults read_results(const std::filesystem::path& path);

/// Text of results.json: two spaces of indentation, arrays of numbers on one line.
[[nodiscard]] std::string results_text(const EvalResults& results);

}  // namespace sluice
