// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// A job as the fake executor runs it: every task takes the same time, whatever runs beside it.
struct FakeJob {
  KernelDescriptor kernel;  ///< grid_ctas tasks
  Time task_time{1};        ///< of one task, more than 0
  Time arrival{};
  std::int32_t priority = 0;
  Profile profile{};  ///< what profiling finds; empty: performance grows with every CTA that fits
};

/// What the executor's own steps take.
struct FakeCosts {
  Time profile{};  ///< from a plan that wants profiles to Profiled
};

struct FakeOutcome {
  Time began{}, ended{};  ///< first task, last task
  std::uint32_t evictions = 0;
  std::uint64_t tasks_done = 0;
  bool done = false;
};
struct FakeResult {
  std::vector<FakeOutcome> jobs;
  Time end{};
  /// Every job is done. Otherwise the scheduler left one without SMs and asked for no Timer.
  bool finished = false;
};

/// Runs jobs under a scheduler by discrete events: CTAs on SMs, in no more resources than these have, a task each. A share that
/// shrinks drains at the ends of tasks, one that grows is filled at once; neither costs anything. Where the scheduler's mode sets
/// no quotas, tasks begin as the dispatcher would begin them.
///
/// Exact, and a model of nothing else: it shows what a scheduler decides, in milliseconds.
/// @param jobs  in order of arrival
/// @throws InputError when a job's one CTA does not fit an SM, it has no task, or a task takes no time
[[nodiscard]] FakeResult run_fake(const MachineConfig& machine, const std::vector<FakeJob>& jobs, IScheduler& scheduler,
                                  const FakeCosts& costs = {});

}  // namespace sluice
