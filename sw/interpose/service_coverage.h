// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sw/service/sluice_client.h"

namespace sluice::interpose {

struct CoverageLine {
  sluice_way way;
  std::string kernel, reason;
  std::uint64_t launches, gpu_ns;
};

/// The coverage table, a line for each kernel and way. Nothing of what it does not find there.
[[nodiscard]] std::vector<CoverageLine> coverage_lines(const std::string& json);

}  // namespace sluice::interpose
