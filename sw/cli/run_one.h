#pragma once
#include "sw/device/i_device.h"
#include "sw/device/run_pool.h"

namespace sluice::cli {

struct MeasuredRun {
  RunResult result;
  HostCost cost;
};

/// Runs one spec on the GPU model, in a process of its own.
/// @throws Interrupted on Ctrl-C, InputError when the run is refused
[[nodiscard]] MeasuredRun run_one(const RunSpec& spec);

}  // namespace sluice::cli
