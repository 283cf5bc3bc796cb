// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

#include "sw/report/paper_page.h"

namespace sluice::cli {

/// What every `sluice report PAPER` ends with: `figures.json` and `index.html` in `out`; on standard output the JSON, or how
/// many runs were made and where the page is.
/// @throws SystemError when a file cannot be written
void write_paper_page(std::string_view title, const std::vector<figures::Figure>& drawn, const nlohmann::ordered_json& meta,
                      const std::filesystem::path& out, bool json);

}  // namespace sluice::cli
