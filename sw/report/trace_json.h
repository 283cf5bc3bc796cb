#pragma once
#include <nlohmann/json.hpp>

#include "sw/device/i_device.h"
#include "sw/device/run_pool.h"

namespace sluice {

/// What `sluice trace --json` prints (docs/traces.md): the run's cycles, rates, stalls, and one entry a kernel.
[[nodiscard]] nlohmann::json trace_json(const RunSpec& spec, const RunResult& result, const HostCost& cost);

}  // namespace sluice
