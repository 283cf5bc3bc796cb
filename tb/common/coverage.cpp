// SPDX-License-Identifier: Apache-2.0
#include "tb/common/coverage.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

namespace sluice::tb {

Coverage::~Coverage() {
  const char* dir = std::getenv("SLUICE_COVERAGE_DIR");
  if (dir == nullptr) return;
  try {
    write(std::string(dir) + "/" + block_ + ".bins.json");
  } catch (const std::exception& e) {  // counts that are lost must not look like bins that were missed
    std::fprintf(stderr, "%s: %s\n", dir, e.what());
    std::abort();
  }
}

/// Adds to what an earlier test of the same bench left.
void Coverage::write(const std::string& path) const {
  nlohmann::json all = nlohmann::json::object();
  if (std::ifstream before(path); before) all = nlohmann::json::parse(before);
  for (const auto& [name, bin] : bins_) {
    const std::uint64_t counted = all.contains(name) ? all[name]["count"].get<std::uint64_t>() : 0;
    all[name] = {{"meaning", bin.meaning}, {"count", counted + bin.count}};
  }
  std::ofstream(path) << all.dump(1) << '\n';
}

}  // namespace sluice::tb
