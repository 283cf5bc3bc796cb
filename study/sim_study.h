// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "study/paper_run.h"
#include "sw/report/sim_figures.h"
#include "sw/scheduler/scenario.h"

namespace sluice {

/// The runs of SiM's evaluation on the model: each kernel alone, over CTA counts, and all pairs under its schedulers.
struct SimStudy : PaperRun {  ///< kernels of the workload have a launch_reference
  Scenario scenario;          ///< of pairs; its jobs' kernels are the workload's
};

/// Normalised to `arrival`: SiM's sequential execution. As in the paper, `adaptive` also counts where both jobs come together.
inline constexpr const char* kSimSchedulers[] = {"pt", "even", "adaptive"};

struct SimOutcome {
  std::vector<figures::SimKernel> kernels;
  std::vector<figures::SimPair> pairs;
};

/// The least time in which any schedule can do these launches of whole grids, milliseconds: with all SMs busy all the time.
///
/// An SM issues at most an instruction a scheduler and cycle. An instruction holds an ALU pipe, or the SFU, for so many cycles,
/// and a pipe takes one at a time. How many instructions the grids have, and how long they hold the pipes, is the programs' and
/// no schedule's: `runs` of any schedule have the same. So the time is at least their sum over what all SMs can do in a cycle,
/// for issue slots, for ALU pipes and for SFUs. Nothing is said of memory, where one kernel may find what another brought.
[[nodiscard]] double sim_bound(const std::vector<const RunResult*>& runs, const MachineConfig& machine);

/// @throws CheckFailed when a schedule is faster than sim_bound() allows
/// @param equal_ms  not 0: instead of the lengths of the workload, each kernel's warps have as many instructions as make it so
///                  long alone, nearly
/// @throws InputError when the scenario is not one of pairs; otherwise as ScheduleOnModel::run()
[[nodiscard]] SimOutcome run_sim(const SimStudy& study, double equal_ms = 0);

/// SiM's tables and figures.
/// @param equal_ms  0: without those of kernels of equal length. Throws as run_sim()
[[nodiscard]] std::vector<figures::Figure> sim_study(const SimStudy& study, double equal_ms);

}  // namespace sluice
