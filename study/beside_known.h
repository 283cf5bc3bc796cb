// SPDX-License-Identifier: Apache-2.0
#pragma once
// What replays of a GPU's scenes are fed with, from the lines of its experiments.
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/gpu_lines.h"
#include "study/scene_replay.h"
#include "sw/gpu/apps/corun_rates.h"

namespace sluice::gpu {

inline constexpr std::uint32_t kTimes = 4;  ///< of a launch of 15 ms in one of Slate's

/// Lines of one scene under one scheduler, in the order of the file.
struct MeasuredScene {
  std::string scene, scheduler;
  std::vector<nlohmann::json> lines;
};
/// The scenes of EffiSha's, SiM's or Slate's lines, and what each kernel takes alone under quotas, milliseconds.
struct MeasuredFolder {
  std::vector<MeasuredScene> scenes;
  std::map<std::string, double> alone;
};
[[nodiscard]] MeasuredFolder measured_folder(const std::filesystem::path& folder);
/// Of a job "BS.1".
[[nodiscard]] inline std::string kernel_of(const std::string& job) { return job.substr(0, job.find('.')); }

/// Kernels under quotas as the overhead experiments found them: a CTA's threads, registers and shared memory.
/// @param results  folder with overhead.jsonl and papers/overhead.jsonl
/// @return by application, without grids
[[nodiscard]] std::map<std::string, KernelDescriptor> measured_kernels(const std::filesystem::path& results);

/// @param scene  the lines' field that names it
[[nodiscard]] std::vector<MeasuredScene> measured_scenes(const std::filesystem::path& file, const char* scene,
                                                         const std::vector<std::string>& schedulers);
/// Of machine.json. @throws nlohmann::json::exception when it lacks a field
[[nodiscard]] MachineConfig machine_of(const nlohmann::json& machine);
/// Adds the launches of a line, of kernels that `kernel` finds by their names.
void add_jobs(Scene& scene, const nlohmann::json& line, const std::function<SceneKernel(const std::string& job)>& kernel);

/// What `sluice gpu replay` left, by scene and scheduler.
using ModelRuns = std::map<std::pair<std::string, std::string>, SceneRun>;
[[nodiscard]] ModelRuns model_runs(const std::filesystem::path& folder);
[[nodiscard]] std::optional<SceneRun> of_model(const ModelRuns& runs, const MeasuredScene& m);

/// A second, of all SMs together.
[[nodiscard]] inline double sm_cycles(const MachineConfig& m) { return m.num_sms * m.core_mhz * 1e6; }
/// Rates at Kernelet's ratios, at Even's, and at all others that the search over partitions measured, with an earlier runtime.
[[nodiscard]] CoRunTable task_rates(const CorunRates& rates, const std::filesystem::path& results, const MachineConfig& machine);
/// Every application of a paper by its names there, with the grid that lasts so long, and its milliseconds from rates alone.
[[nodiscard]] std::map<std::string, SceneKernel> kernels_by_rates(const std::string& paper, const CorunRates& rates,
                                                                  const std::map<std::string, KernelDescriptor>& known,
                                                                  std::uint32_t sms);
/// @throws InputError when nothing is known of it
[[nodiscard]] const KernelDescriptor& kernel_named(const std::map<std::string, KernelDescriptor>& known, const std::string& app);
/// Where the scenes are, and what they ran on: a page can be made of less.
[[nodiscard]] bool has_files(const std::filesystem::path& folder, const nlohmann::json& machine,
                             std::initializer_list<const char*> files);
[[nodiscard]] Values medians(const std::vector<Values>& runs);  ///< of each place
/// A grid that does not fill the GPU is spread, as the experiments do.
[[nodiscard]] CtaCount most_of(std::size_t occupancy, std::uint32_t blocks, std::uint32_t sms);
[[nodiscard]] std::vector<CtaCount> most_of(const Scene& scene);  ///< of each launch

}  // namespace sluice::gpu
