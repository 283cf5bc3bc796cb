// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::gpu {

using Values = std::vector<double>;

/// What the report collects on its way: tables for the terminal, sections for the page, and whether every check held.
struct Output {
  std::string terminal, html;
  nlohmann::json summary = nlohmann::json::object();
  bool good = true;
  /// @param rows  the first one is the heading
  void table(const std::string& title, const std::vector<std::vector<std::string>>& rows);
  void note(const std::string& text);
};

/// The last line of each key of a file of measurements: one that was interrupted and repeated counts once.
[[nodiscard]] std::vector<nlohmann::json> lines(const std::filesystem::path& file);

/// An array, or an object's arrays, with one element a line: short for a difference of versions, and for the eye.
void write_json(const std::filesystem::path& file, const nlohmann::json& value);

}  // namespace sluice::gpu
