// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/policy/corun_table.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/adaptive_scheduler.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/pair_scheduler.h"
#include "sw/scheduler/policy_scheduler.h"
#include "sw/scheduler/slate_scheduler.h"
#include "sw/scheduler/solo_times.h"

namespace sluice {

/// What schedulers are made from.
struct SchedulerInput {
  MachineConfig machine;
  std::vector<KernelDescriptor> mix;       ///< job k is kernel k
  std::vector<CtaCount> ctas{};            ///< of `static`
  SoloCurves curves{};                     ///< of `solo_curve`
  SoloTimes times{};                       ///< of `adaptive`, `slate_measured`, `balance`
  Intensities intensities{};               ///< of `slate`, `slate_symmetric`
  std::vector<CorunMeasurement> coruns{};  ///< of `slate_measured`
  CoRunTable predicted{};                  ///< of `kernelet`; a kernel that is not in it runs alone
  CoRunTable executed{};                   ///< of `kernelet_opt`, `monte_carlo`; the same
  std::uint64_t seed = 1;                  ///< of `monte_carlo`
  std::size_t slots = kNoSlotLimit;        ///< jobs that can hold SMs at a time
  Time min_slice = kMinSlice;              ///< of `kernelet`, `kernelet_opt`: the shortest slice
  AdaptiveScheduler::NttLimit ntt{};       ///< of `adaptive`
};

/// What a scheduler decides by that no kernel says of itself; without any of it, it would run one job after the other.
enum class Rates { None, Alone, CoRuns, Predicted, Executed };

/// A scheduler by its name.
struct SchedulerRow {
  std::string_view name;
  std::unique_ptr<IScheduler> (*make)(const SchedulerInput& input);
  bool needs_times = false;   ///< of every kernel of the mix, which it refuses without SchedulerInput::times
  Rates rates = Rates::None;  ///< CoRuns: of every pair of the mix, and the times alone with all CTAs that fit
  bool ranks = false;         ///< by the jobs' priorities: what runs beside its turn would break them
  bool measures = false;      ///< partitions side by side, which the executor must be able to (Plan::measure)
};

/// Schedulers that are more than a policy held over time. A new one is its file, its test, and its row here.
[[nodiscard]] std::span<const SchedulerRow> scheduler_rows();
/// Names of all schedulers: the rows, and every policy that has one plan.
[[nodiscard]] std::vector<std::string_view> scheduler_names();

/// The row of that name; one that makes nothing where there is none, as for a policy.
[[nodiscard]] SchedulerRow scheduler_row(std::string_view name);

/// @throws InputError when the scheduler of that name decides by rates and the executor gives it none
void check_rates(std::string_view name, const SchedulerInput& input);

/// A policy's plan as a scheduler; a plan of DYNAMIC is Warped-Slicer's.
[[nodiscard]] MakeScheduler scheduler_of(const PolicyPlan& plan, const MachineConfig& machine);
/// @throws InputError listing the names when it is none of them, and when the mix can't be shared in this way
[[nodiscard]] std::unique_ptr<IScheduler> make_scheduler(std::string_view name, const SchedulerInput& input);

}  // namespace sluice
