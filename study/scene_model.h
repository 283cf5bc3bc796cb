// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scenes that were measured on a GPU, once more on the GPU model with the same scheduler in the loop.
#include <filesystem>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"

namespace sluice::gpu {

struct SceneModelPlan {
  std::filesystem::path folder;  ///< of an experiment's lines; gets model.jsonl
  MachineConfig machine;
  Workload workload;      ///< has every kernel of the scenes, under its name there
  double time_scale = 1;  ///< share of the cycles that are simulated (scale_time)
  double shorter = 1;     ///< scenes are so many times shorter in the model; its lines have the scenes' own lengths again
  std::uint64_t seed = 1;
  unsigned jobs = 1;                   ///< simulations at a time
  std::vector<std::string> kernels{};  ///< only scenes of these; empty: all
};

/// Each scene under each scheduler once, with the line's arrivals and priorities. A kernel's grid is as large as makes it last as
/// long alone as on the GPU under quotas. Writes the lines as experiments do, with the model's times and decisions.
/// @throws InputError when the folder holds no scene that a model can replay, or the workload lacks a kernel; as ScheduleOnModel
void replay_on_model(const SceneModelPlan& plan);

}  // namespace sluice::gpu
