// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "sw/core/kernel.h"
#include "sw/core/profile.h"
#include "sw/core/units.h"

namespace sluice {

/// Since the executor's start. The model's cycles are rounded to whole picoseconds.
using Time = std::chrono::duration<std::int64_t, std::pico>;

/// A launched kernel: one for its whole life, evictions included. Executors count up from 0; in the model it is the launch.
using JobId = Quantity<struct JobIdTag, std::uint32_t>;

/// Life of a job (EffiSha, section 6.1; figure 6). A task is a CTA of the kernel's own grid, the smallest piece that is never
/// interrupted.
enum class JobState {
  Prep,     ///< known, its inputs not all in device memory
  Ready,    ///< may be given a share; also after an eviction, with the tasks that are left
  ToRun,    ///< given a share, none of its CTAs there yet
  Running,  ///< CTAs of it are on the GPU
  ToEvict,  ///< its share is empty, CTAs are still there
  Done,     ///< every task ended
  Lost,     ///< its owner, or the GPU under it, is gone
};
[[nodiscard]] std::string_view to_string(JobState state);  ///< "prep", "ready", "to_run", ...

/// The job may still hold SMs, now or later.
[[nodiscard]] constexpr bool is_open(JobState state) { return state != JobState::Done && state != JobState::Lost; }
/// The job may be given a share.
[[nodiscard]] constexpr bool may_hold_sms(JobState state) { return is_open(state) && state != JobState::Prep; }

/// What a scheduler sees of a job. Counts are as fresh as the executor's last look.
struct JobView {
  JobId id;
  KernelDescriptor kernel;  ///< demand() of one CTA, grid_ctas
  JobState state = JobState::Prep;
  Time arrived{};
  std::int32_t priority = 0;                                 ///< larger is more important
  std::uint64_t tasks = 0, tasks_begun = 0, tasks_done = 0;  ///< tasks 0: without end
  Profile profile{};  ///< performance with 1, 2, ... CTAs on one SM, any unit; empty until Profiled
};

/// What happened to a job. Which executor reports which: docs/architecture.md.
enum class EventKind {
  Arrived,        ///< the job is known
  Ready,          ///< its inputs are in device memory
  LastTaskBegun,  ///< no task is left to begin
  Evicted,        ///< its last CTA left before its last task began
  Done,           ///< its last task ended
  Lost,           ///< it will report nothing any more
  Profiled,       ///< its JobView has a profile
  Timer,          ///< the time that the last plan asked for; of no job
};
[[nodiscard]] std::string_view to_string(EventKind kind);  ///< "arrived", "ready", "last_task_begun", ...

struct Event {
  EventKind kind;
  JobId job;  ///< not of a Timer

  bool operator==(const Event&) const = default;
};

}  // namespace sluice
