// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/core/machine.h"
#include "sw/gpu/jobs/i_quota_jobs.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice::gpu {

/// One launch, as the event loop gives it to the scheduler.
struct LoopJob {
  std::uint32_t kernel_id = 0;           ///< which one IQuotaJobs runs
  KernelDescriptor kernel;               ///< demand() of one CTA; grid_ctas tasks
  CtaCount most{1};                      ///< CTAs of it that fit an SM
  std::int32_t priority = 0;             ///< larger is more important
  Time arrival{};                        ///< since the start of all, or after the end of launch `after`
  std::optional<std::uint32_t> after{};  ///< an index of the same list
  Profile profile{};                     ///< what a plan that wants profiles gets
};

struct LoopOutcome {
  Time arrived{}, began{}, ended{};  ///< since the start; `began`: its first CTA was seen
  std::uint32_t evictions = 0;
};

/// One call of the scheduler.
struct LoopDecision {
  Time at{};       ///< when its events had been seen
  Time decided{};  ///< when the plan was there
  Time sent{};     ///< when all quotas had been sent
  std::vector<Event> events;
  Plan plan;
};

struct LoopResult {
  std::vector<LoopOutcome> jobs;  ///< as they were given
  std::vector<LoopDecision> decisions;
  Time end{};  ///< of the last launch
};

/// Runs launches under a scheduler: arrivals at their times, every event to the scheduler, its plans into quotas, until all are
/// done. The scheduler is the object that decides in the fake executor and in the model. A job is ready when IQuotaJobs says so.
/// @param limit  after which it gives up
/// @throws CheckFailed when the scheduler leaves a job without SMs and asks for no Timer, or at the limit
[[nodiscard]] LoopResult run_event_loop(const MachineConfig& machine, const std::vector<LoopJob>& jobs, IScheduler& scheduler,
                                        IQuotaJobs& gpu, Time limit);

}  // namespace sluice::gpu
