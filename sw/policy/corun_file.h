// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sw/policy/corun_table.h"

namespace sluice {

/// {"kernels": {NAME: {"ipc", "instructions_per_block", "issue_utilisation", "memory_utilisation"}},
///  "pairs": [{"kernels": [NAME, NAME], "runs": [{"ctas": [n, m], "ipc": [x, y]}]}]}
[[nodiscard]] nlohmann::ordered_json to_json(const CoRunTable& table);

/// The table `name` of a file of several ("predicted", "executed"), as `sluice report kernelet` writes it.
/// @throws InputError naming the file, and what in it is missing or none
[[nodiscard]] CoRunTable read_co_runs(const std::filesystem::path& path, const std::string& name);

}  // namespace sluice
