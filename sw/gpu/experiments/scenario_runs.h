// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sw/gpu/experiments/clients.h"
#include "sw/gpu/jobs/event_loop.h"
#include "sw/gpu/jobs/gpu_session.h"
#include "sw/scheduler/registry.h"
#include "sw/scheduler/scenario.h"

namespace sluice::gpu {

/// A scenario whose kernels lie on the GPU, each with the grid that lasts as long as the scenario says.
struct GpuScenario {
  Scenario scenario;
  std::vector<ScenarioLaunch> all;
  PreparedMix kernels;              ///< by job
  std::vector<std::string> apps;    ///< by job
  std::vector<AppSize> sizes;       ///< by job
  std::vector<Profile> profiles{};  ///< by job: for schedulers that want them; may be empty
};
/// @param paper  whose names the scenario uses (paper_kernels)
/// @param times  as much work in every launch
/// @throws InputError when a job is none of the paper's, or has no size for its time (app_sizes.h)
[[nodiscard]] GpuScenario gpu_scenario(GpuSession& session, const Scenario& scenario, const std::string& paper,
                                       std::optional<Time> wait = {}, std::uint32_t times = 1);

/// What a run of a scenario gives: milliseconds since its start of each launch, in order.
struct GpuRun {
  nlohmann::json jobs = nlohmann::json::array();       ///< name, priority, arrived_ms, began_ms, ended_ms, evictions
  nlohmann::json decisions = nlohmann::json::array();  ///< of a scheduler: at_us, decide_us, send_us, events, shares
  std::uint64_t violations = 0;
};

/// Under a scheduler of the registry, in the event loop.
[[nodiscard]] GpuRun run_scheduled(GpuSession& session, const GpuScenario& scenario, IScheduler& scheduler);
/// What schedulers are made from on this GPU; without times and pairs.
[[nodiscard]] SchedulerInput scheduler_input(const GpuSession& session, const GpuScenario& scenario);

/// How untransformed kernels are launched in this process: all in one stream; each job in one of its own; the same, with the
/// streams' priorities in the order of the jobs'.
enum class Streams { One, Each, Priorities };
[[nodiscard]] GpuRun run_streams(const GpuScenario& scenario, Streams streams);

/// What clients of MPS ask for. Priorities: the more important half of the jobs are of the higher priority. Halves: each gets
/// half of the threads.
enum class Clients { Plain, Priorities, Halves };
/// A process of its own for each job, as a user starts them.
class ScenarioProcesses {
 public:
  ScenarioProcesses(const std::string& program, const GpuScenario& scenario, Clients clients);
  [[nodiscard]] GpuRun run(const GpuScenario& scenario);
  /// Only the launches of these jobs; the other processes wait.
  [[nodiscard]] GpuRun run(const GpuScenario& scenario, const std::set<std::string>& jobs);

 private:
  std::vector<std::unique_ptr<Client>> clients_;
};
/// What such a process does. @return exit code
int scenario_client(const std::string& app, const AppSize& size);

}  // namespace sluice::gpu
