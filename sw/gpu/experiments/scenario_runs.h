// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sw/gpu/experiments/clients.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/jobs/gpu_session.h"
#include "sw/scheduler/scenario.h"

namespace sluice::gpu {

/// A scenario whose kernels lie on the GPU, each with the grid that lasts as long as the scenario says.
struct GpuScenario {
  Scenario scenario;
  std::vector<ScenarioLaunch> all;
  std::vector<const PreparedKernel*> kernels;  ///< by job
  std::vector<std::string> apps;               ///< by job
  std::vector<AppSize> sizes;                  ///< by job
};
/// Jobs that all arrive at the start. @param jobs  name and kernel of each
[[nodiscard]] Scenario scene_of(const std::string& name, const std::vector<std::pair<std::string, std::string>>& jobs);
[[nodiscard]] Scenario scene_of(const std::string& name, const std::vector<std::string>& kernels);  ///< one job of each
/// @param paper  whose names the scenario uses (paper_kernels)
/// @throws InputError when a job is none of the paper's, or has no size for its time (app_sizes.h)
[[nodiscard]] GpuScenario gpu_scenario(GpuSession& session, const Scenario& scenario, const std::string& paper);

/// Fingerprints of all buffers of each job after its untransformed kernel.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> native_fingerprints(const GpuScenario& scenario);

/// What a run of a scenario gives: milliseconds since its start of each launch, in order.
struct GpuRun {
  nlohmann::json jobs = nlohmann::json::array();   ///< name, priority, arrived_ms, launched_ms, ended_ms
  nlohmann::json more = nlohmann::json::object();  ///< what else its line says
};

/// A process of its own for each job, as a user starts them. They have run once: the first run of a process is slower.
class ScenarioProcesses {
 public:
  /// @param service  they run under `sluice run`, with the jobs' own priorities
  ScenarioProcesses(const std::string& program, const GpuScenario& scenario, const SharingService* service = nullptr);
  /// @param jobs  only their launches, while the other processes wait; none: all
  [[nodiscard]] GpuRun run(const GpuScenario& scenario, const std::set<std::string>& jobs = {});
  /// Each of the jobs launches so often, one after the other, all jobs at a time. @return milliseconds that each needed
  [[nodiscard]] std::vector<double> repeat(const std::set<std::string>& jobs, unsigned launches);
  void poison();  ///< all outputs
  /// Fingerprints of all buffers, of each job.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> fingerprints();
  /// Ends the processes. @return of those under the service: launches under quotas, launches as they are, quota violations
  struct Launches {
    std::uint64_t quota = 0, native = 0, violations = 0;
    nlohmann::json evictions = nlohmann::json::array();  ///< of each client, as its report has them
  };
  Launches end();

 private:
  /// What the jobs' processes answer to an order, with the number of each ("launch").
  [[nodiscard]] std::vector<nlohmann::json> ask(const std::set<std::string>& jobs,
                                                const std::function<std::string(std::size_t)>& order);
  Scratch reports_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Client>> clients_;
};
/// Lines of scenes: one of each scene, system and repetition.
class SceneLines : public RawLines {
 public:
  /// @param field  of a line that names the scene
  SceneLines(const ExperimentOptions& options, const std::string& name, std::size_t steps, std::string field = "scenario")
      : RawLines(options, name, steps), field_(std::move(field)) {}
  using Run = std::function<GpuRun()>;
  /// One run, unless it is known.
  void once(const std::string& scene, const std::string& system, unsigned repetition, const Run& run);
  /// All repetitions, which are a step.
  void repeat(const std::string& scene, const std::string& system, const Run& run);

 private:
  std::string field_;
};

}  // namespace sluice::gpu
