// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sw/report/paper_page.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice::figures {

/// What a run of the model says of one scene.
struct SceneFigures {
  double stp = 0, antt = 0, worst_ntt = 0;
  Time makespan{};
  double stalled = 0, empty = 0;  ///< shares of SM time: warps but none issued; no warp
  std::uint64_t evictions = 0;
};
[[nodiscard]] SceneFigures scene_figures(const ScheduleRun& run);

/// The same jobs under one scheduler, in scenes of their own.
struct SchedulerScenes {
  std::string scheduler, system;                             ///< whose it is: "EffiSha", "Warped-Slicer", ...
  std::vector<std::pair<std::string, SceneFigures>> scenes;  ///< by name, e.g. of the pair
};
/// From the data of a figure that schedulers_compared() made, in its order if the JSON is ordered.
/// @throws nlohmann::json::exception when a field is missing
[[nodiscard]] std::vector<SchedulerScenes> read_schedulers(const nlohmann::ordered_json& data);

/// Every scheduler on the same scenes: STP, ANTT, the worst NTT, the makespan, and SM time that issued nothing.
/// @param baseline  one of the schedulers: makespans are over its
/// @pre all ran the same scenes
[[nodiscard]] Figure schedulers_compared(std::string id, std::string title, const std::vector<SchedulerScenes>& all,
                                         const std::string& baseline);

}  // namespace sluice::figures
