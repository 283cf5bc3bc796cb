// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sw/core/machine.h"
#include "sw/policy/corun_table.h"
#include "sw/scheduler/fake_executor.h"

namespace sluice {

/// Task times of jobs that run in pairs at the rates of a table. Where a plan holds two jobs with CTA counts that the table has,
/// a task of either takes as long as its CTAs on an SM need for one each, at that IPC over the kernel's IPC alone. Every other
/// task takes the job's own time: an overlap of other shapes costs and gains nothing.
/// @param jobs  as run_fake takes them; task_time is that with as many CTAs as fit, alone
[[nodiscard]] TaskTimes pair_times(const MachineConfig& machine, std::vector<FakeJob> jobs, CoRunTable table);

}  // namespace sluice
