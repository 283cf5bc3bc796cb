// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/service_coverage.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace sluice::interpose {

std::vector<CoverageLine> coverage_lines(const std::string& text) {
  constexpr std::pair<const char*, sluice_way> kWays[] = {
      {"quota", SLUICE_QUOTA}, {"split", SLUICE_SPLIT}, {"native", SLUICE_NATIVE}};
  std::vector<CoverageLine> lines;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return lines;
  const auto reasons = json.value("reasons", nlohmann::json::object());
  for (const auto& [name, way] : kWays) {
    const auto part = json.find(name);
    if (part == json.end() || !part->is_object() || !part->contains("kernels") || !(*part)["kernels"].is_object()) continue;
    for (const auto& [kernel, counts] : (*part)["kernels"].items()) {
      CoverageLine line{way, kernel, "", 0, 0};
      if (counts.is_number_unsigned()) line.launches = counts.get<std::uint64_t>();
      if (counts.is_object()) {
        line.launches = counts.value("launches", std::uint64_t{0});
        line.gpu_ns = static_cast<std::uint64_t>(counts.value("gpu_ms", 0.0) * 1e6);
      }
      if (way != SLUICE_QUOTA && reasons.contains(kernel) && reasons[kernel].is_string()) line.reason = reasons[kernel].get<std::string>();
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace sluice::interpose
