// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sw/report/paper_page.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice::figures {

/// The same jobs under one scheduler, in scenes of their own.
struct SchedulerRuns {
  std::string scheduler, system;    ///< whose it is: "EffiSha", "Warped-Slicer", ...
  std::vector<std::string> scenes;  ///< e.g. the pairs' names
  std::vector<ScheduleRun> runs;    ///< of each scene, on the model
};

/// Every scheduler on the same scenes: STP, ANTT, the worst NTT, the makespan, and SM time that issued nothing.
/// @param baseline  one of the schedulers: makespans are over its
/// @pre all ran the same scenes
[[nodiscard]] Figure schedulers_compared(std::string id, std::string title, const std::vector<SchedulerRuns>& all,
                                         const std::string& baseline);

}  // namespace sluice::figures
