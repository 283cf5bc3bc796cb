// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "study/run_pool.h"
#include "sw/driver/i_device.h"

namespace sluice {

struct MeasuredRun {
  RunResult result;
  HostCost cost;
};

/// Runs one spec on the GPU model, in a process of its own.
/// @throws Interrupted on Ctrl-C, otherwise as RunPool::run
[[nodiscard]] MeasuredRun run_one(const RunSpec& spec);

}  // namespace sluice
