// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "study/paper_run.h"
#include "sw/report/slate_figures.h"
#include "sw/scheduler/scenario.h"

namespace sluice {

/// What the runs of Slate's evaluation are made of.
struct SlateStudyPlan : PaperRun {  ///< the workload has the five kernels of table II, and STREAM
  Scenario pairs;                   ///< jobs named PAIR.1, PAIR.2
};

/// Runs them.
/// @return the figures in the order of the paper
/// @throws InputError when the workload lacks a kernel; otherwise as ScheduleOnModel
[[nodiscard]] std::vector<figures::Figure> slate_study(const SlateStudyPlan& plan);

}  // namespace sluice
