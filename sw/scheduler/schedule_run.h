// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/partition/remaining_time.h"
#include "sw/policy/corun_table.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/kernelet_scheduler.h"
#include "sw/scheduler/scenario.h"

namespace sluice {

/// How one launch went.
struct LaunchOutcome {
  std::string name;  ///< of its job
  std::int32_t priority = 0;
  Time arrival{}, alone{}, turnaround{};
  std::uint64_t evictions = 0;
  Time began{};  ///< its first CTA, after the start of all

  /// Normalised turnaround time.
  [[nodiscard]] double ntt() const { return static_cast<double>(turnaround.count()) / static_cast<double>(alone.count()); }
};

/// A scenario under one scheduler.
struct ScheduleRun {
  std::string scheduler, executor, flavour;
  std::optional<Time> wait;              ///< where launches come again
  std::vector<LaunchOutcome> jobs;       ///< every launch
  Time makespan{};                       ///< from the first arrival to the last end, of copies as well
  std::uint64_t decisions = 0;           ///< calls of the scheduler
  std::optional<CopyTimes> copies{};     ///< where the scenario has a memory
  std::optional<PruningCost> pruning{};  ///< of `kernelet` and `kernelet_opt`
  Time eviction{};                       ///< on the model: mean from the order to leave until the last CTA is gone; 0: none
  StallCycles stalls{};                  ///< on the model: SM cycles that issued nothing, by reason
  std::uint64_t sm_cycles = 0;           ///< their denominator; 0: the executor has no SM cycles

  [[nodiscard]] double antt() const;
  [[nodiscard]] double stp() const;  ///< a job with several launches counts with their mean speed-up
  [[nodiscard]] std::uint64_t evictions() const;
};

/// What the jobs of a scenario run on.
struct ScheduleTarget {
  MachineConfig machine;
  std::vector<KernelDescriptor> kernels;  ///< of each job
};

/// One SM with room for one CTA; a job has as many tasks of the scenario's length as fill its time alone.
/// @throws InputError when the scenario does not say these
[[nodiscard]] ScheduleTarget abstract_target(const Scenario& scenario);
/// Jobs are kernels of the workload. @throws InputError when one is not in it
[[nodiscard]] ScheduleTarget target_of(const Scenario& scenario, const MachineConfig& machine, const Workload& workload);

/// What is known of kernels side by side.
struct CoRunTables {
  CoRunTable predicted, executed;
};

/// What runs on the fake executor beside the scenario itself.
struct FakeSettings {
  CoRunTables co_runs{};   ///< pairs take the times of `executed`; without: every task the same, whatever runs beside it
  std::uint64_t seed = 1;  ///< of schedulers that draw
  std::filesystem::path decisions{};  ///< gets a JSON line each (json_line in sw/scheduler/decision_log.h); empty: none
  ITaskObserver* observer = nullptr;
  Time min_slice = kMinSlice;    ///< of Kernelet's schedulers
  double max_ntt = kNoNttLimit;  ///< of `adaptive`
};
/// Fewer cycles for the same times: kernels with this share of their instructions a warp, on clocks that are slower by as much.
/// What counts in cycles (latencies, the unit's own steps) stays, and so weighs more.
/// @param scale  0 < scale <= 1
void scale_time(ScheduleTarget& target, double scale);

/// On the fake executor, where a job alone takes the time that the scenario says.
/// @throws InputError when a job has no such time, fits no SM, or needs more than the device's memory; CheckFailed when the
/// scheduler leaves a job unfinished; SystemError when a decision cannot be written
[[nodiscard]] ScheduleRun schedule_on_fake(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                                           std::optional<Time> wait = {}, const FakeSettings& settings = {});

}  // namespace sluice
