// SPDX-License-Identifier: Apache-2.0
#include "study/run_one.h"

#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "systemc/model_device.h"

namespace sluice {

MeasuredRun run_one(const RunSpec& spec) {
  MeasuredRun run;
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, 1);
  if (!pool.run({spec}, [&](std::size_t, const RunResult& r, const HostCost& c) { run = {r, c}; }))
    throw Interrupted("interrupted: nothing was written");
  return run;
}

}  // namespace sluice
