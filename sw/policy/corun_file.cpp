// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/corun_file.h"

#include <fmt/format.h>

#include <fstream>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr std::pair<const char*, double CoRunKernel::*> kFields[] = {
    {"ipc", &CoRunKernel::ipc},
    {"instructions_per_block", &CoRunKernel::instructions_per_block},
    {"issue_utilisation", &CoRunKernel::issue_utilisation},
    {"memory_utilisation", &CoRunKernel::memory_utilisation},
};

}  // namespace

nlohmann::ordered_json to_json(const CoRunTable& table) {
  nlohmann::ordered_json json = {{"kernels", nlohmann::ordered_json::object()}, {"pairs", nlohmann::ordered_json::array()}};
  for (const auto& [name, kernel] : table.kernels)
    for (const auto& [key, member] : kFields) json["kernels"][name][key] = kernel.*member;
  for (const auto& [names, runs] : table.pairs) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CoRun& run : runs)
      list.push_back({{"ctas", {run.ctas[0].value(), run.ctas[1].value()}}, {"ipc", {run.ipc[0], run.ipc[1]}}});
    json["pairs"].push_back({{"kernels", {names.first, names.second}}, {"runs", list}});
  }
  return json;
}

CoRunTable read_co_runs(const std::filesystem::path& path, const std::string& name) {
  std::ifstream in(path);
  if (!in) throw InputError(fmt::format("{}: can't be read", path.string()));
  try {
    const nlohmann::json json = nlohmann::json::parse(in).at(name);
    CoRunTable table;
    for (const auto& [kernel, figures] : json.at("kernels").items())
      for (const auto& [key, member] : kFields) table.kernels[kernel].*member = figures.at(key).get<double>();
    for (const nlohmann::json& pair : json.at("pairs")) {
      std::array<std::string, 2> names;
      for (std::size_t i = 0; i < 2; ++i) names[i] = pair.at("kernels").at(i).get<std::string>();
      if (names[0] >= names[1]) throw InputError(fmt::format("pair {} and {}: must be in order", names[0], names[1]));
      std::vector<CoRun>& runs = table.pairs[{names[0], names[1]}];
      for (const nlohmann::json& entry : pair.at("runs")) {
        CoRun& run = runs.emplace_back();
        for (std::size_t i = 0; i < 2; ++i) {
          run.ctas[i] = CtaCount(entry.at("ctas").at(i).get<std::uint32_t>());
          run.ipc[i] = entry.at("ipc").at(i).get<double>();
        }
      }
    }
    return table;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}: {}", path.string(), name, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}: {}", path.string(), name, error.what()));
  }
}

}  // namespace sluice
