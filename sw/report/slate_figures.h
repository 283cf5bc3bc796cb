// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sw/partition/slate_table.h"
#include "sw/report/paper_page.h"
#include "sw/scheduler/schedule_run.h"

// The tables and figures of Slate's evaluation that need no GPU, each from runs of the model and beside what the paper's text or
// tables say.
namespace sluice::figures {

/// One kernel alone. Rates are of the whole GPU.
struct SlateAlone {
  std::string name;
  std::optional<double> gflops;  ///< GFLOP/s
  double gigabytes = 0;          ///< global loads and stores, GB/s
  double warp_instructions = 0;  ///< in all
  double ipc = 0;                ///< warp instructions a cycle and SM
  double long_memory = 0;        ///< share of SM cycles without an issue, for long memory latency
  double milliseconds = 0;
  Intensity intensity;
};

/// A kernel in tasks of so many blocks.
struct SlateTasksRun {
  std::string kernel;
  std::uint32_t task_size = 1;
  SlateAlone run;
};

/// Global bytes a second of a kernel on its first 1, 2, ... SMs, GB/s; NaN where not run.
struct SlateSmCurve {
  std::string kernel;
  std::vector<double> gigabytes;
};
/// The fewest SMs that give at least 95 % of the curve's best. @pre one point at least
[[nodiscard]] std::uint32_t saturates_at(const SlateSmCurve& curve);

[[nodiscard]] Figure slate_sm_scaling(const std::vector<SlateSmCurve>& curves);                ///< figure 1
[[nodiscard]] Figure slate_policy_table();                                                     ///< table I
[[nodiscard]] Figure slate_profiles_table(const std::vector<SlateAlone>& kernels);             ///< table II
[[nodiscard]] Figure slate_gaussian_table(const SlateAlone& blocks, const SlateAlone& tasks);  ///< table III
/// Table IV: BS beside RG. @param runs  of `left_over` and `slate`, over the scenario of figure 7
[[nodiscard]] Figure slate_bs_rg_table(const std::vector<ScheduleRun>& runs, const std::vector<SlateAlone>& kernels,
                                       const MachineConfig& machine);
[[nodiscard]] Figure slate_overhead_table();                                    ///< table V
[[nodiscard]] Figure slate_task_sizes(const std::vector<SlateTasksRun>& runs);  ///< figure 5
[[nodiscard]] Figure slate_pairs_figure(const std::vector<ScheduleRun>& runs);  ///< figure 7

/// Runs of `left_over` on a machine on which every CTA takes so many cycles from its dispatch to its first instruction.
struct SlateSetUp {
  std::uint32_t cycles = 0;
  ScheduleRun left_over;
};
/// Figure 7 as if a CTA's set-up cost `left_over` more, and Slate's workers, which stay, nothing.
/// @param slate  on the machine as it is
[[nodiscard]] Figure slate_set_up_figure(const std::vector<SlateSetUp>& runs, const ScheduleRun& slate);

/// From the arrival of a pair to the end of its later job, by the pair's name; jobs are named PAIR.1 and PAIR.2.
/// @throws InputError naming a job that is not named so, or has no partner
[[nodiscard]] std::map<std::string, double> pair_makespans(const ScheduleRun& run);  ///< milliseconds

}  // namespace sluice::figures
