// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernelet's evaluation: pairs on the GPU model, their rates as the Markov model predicts them, and schedules with these rates.
#include <map>
#include <string>
#include <vector>

#include "study/paper_run.h"
#include "sw/policy/co_schedule.h"
#include "sw/report/kernelet_figures.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

struct KerneletRuns : PaperRun {
  std::uint64_t window = 100000;  ///< cycles of each run
};

struct KerneletMeasurements {
  CoRunTables tables;
  std::map<std::string, std::vector<double>> alone;  ///< IPC of one SM of each kernel with 1, 2, ... CTAs there, to all that fit
  std::map<std::string, std::vector<SliceOverhead>>
      slices;  ///< of 1, 2, 4, ... waves of CTAs, to the shortest that the rule takes
};

/// The paper's rule for the shortest slice: launches of 1, 2, 4, ... waves of each kernel alone, all CTAs that fit, against as
/// many waves within a longer launch. What a launch costs beside the start and the drain of its CTAs is the machine's `[host]`.
/// @return of each kernel, of rising lengths
[[nodiscard]] std::map<std::string, std::vector<SliceOverhead>> measure_slices(const KerneletRuns& runs);

/// Each kernel alone with every number of CTAs on an SM, and every two kernels at every slice ratio, on the GPU model with the
/// twin of the partition unit. `predicted` sees the runs alone only, with one CTA and with all that fit. Both tables have the
/// shortest slices of measure_slices().
/// @throws InputError when a kernel makes no progress in the window; Interrupted
[[nodiscard]] KerneletMeasurements measure_co_runs(const KerneletRuns& runs);

/// Every ratio of every pair: predicted and measured IPC of both kernels together, of the machine's peak.
[[nodiscard]] std::vector<figures::PairPoint> pair_points(const CoRunTables& tables, const MachineConfig& machine);

/// Random schedules of a scenario: makespans in seconds, in order of their seeds 1, 2, ...
/// @param jobs  threads, at least 1
[[nodiscard]] std::vector<double> monte_carlo(const Scenario& scenario, const ScheduleTarget& target, const CoRunTables& tables,
                                              unsigned schedules, unsigned jobs);

/// What pruning leaves out at other thresholds, and what it costs: FindCoSchedule once over all kernels of the table.
[[nodiscard]] std::vector<figures::PruningPoint> pruning_points(const CoRunTables& tables, const KerneletRuns& runs);

}  // namespace sluice
