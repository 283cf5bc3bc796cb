// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scenes of each system's lines, replayed in the models: figures for its page. Each is empty where nothing was measured.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/beside_known.h"
#include "study/gpu_lines.h"
#include "study/scene_replay.h"

namespace sluice::gpu {

[[nodiscard]] figures::Figure effisha_beside(const std::filesystem::path& folder);
[[nodiscard]] figures::Figure sim_beside(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] figures::Figure slate_beside(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] figures::Figure five_beside(const std::filesystem::path& folder, const nlohmann::json& machine);
/// What Kernelet's scenes are made of.
struct KerneletScenes {
  MachineConfig machine;
  std::map<std::string, SceneKernel> kernels;
  CoRunTables tables;
};
/// Nothing where rates of pairs or the kernels' counters are missing.
[[nodiscard]] std::optional<KerneletScenes> kernelet_scenes(const std::filesystem::path& folder, const nlohmann::json& machine);
[[nodiscard]] figures::Figure kernelet_beside(const KerneletScenes& known, const std::filesystem::path& folder);
[[nodiscard]] figures::Figure kernelet_prediction(const KerneletScenes& known);

}  // namespace sluice::gpu
