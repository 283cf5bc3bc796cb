// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/service_coverage.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace sluice::interpose {

std::vector<CoverageLine> coverage_lines(const std::string& text) {
  constexpr std::array<std::pair<const char*, sluice_way>, 3> kWays = {
      {{"quota", SLUICE_QUOTA}, {"split", SLUICE_SPLIT}, {"native", SLUICE_NATIVE}}};
  std::vector<CoverageLine> lines;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("table") || !json["table"].is_array()) return lines;
  for (const auto& row : json["table"]) {
    const auto way = std::ranges::find_if(kWays, [&](const auto& w) { return row.value("way", std::string()) == w.first; });
    const std::string kernel = row.value("kernel", std::string());
    if (way == kWays.end() || kernel.empty()) continue;
    const std::uint64_t launches = row.value("launches", std::uint64_t{0});
    const auto ns = static_cast<std::uint64_t>(row.value("gpu_ms", 0.0) * 1e6);
    const auto known =
        std::ranges::find_if(lines, [&](const CoverageLine& l) { return l.way == way->second && l.kernel == kernel; });
    if (known == lines.end()) {
      lines.push_back({way->second, kernel, row.value("reason", std::string()), launches, ns});
    } else {  // with another reason
      known->launches += launches;
      known->gpu_ns += ns;
    }
  }
  return lines;
}

}  // namespace sluice::interpose
