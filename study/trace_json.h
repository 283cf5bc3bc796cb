// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "study/run_pool.h"
#include "sw/driver/i_device.h"

namespace sluice {

/// What `sluice trace --json` prints (docs/user/traces.md): the run's cycles, rates, stalls, and one entry a kernel.
[[nodiscard]] nlohmann::json trace_json(const RunSpec& spec, const RunResult& result, const HostCost& cost);

}  // namespace sluice
