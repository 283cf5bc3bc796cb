// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scene that was measured on a GPU, once more in the fake executor: the same arrivals and the same scheduler, tasks that take
// the measured times.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/fake_executor.h"
#include "sw/scheduler/schedule_run.h"
#include "sw/scheduler/slate_scheduler.h"

namespace sluice::gpu {

inline constexpr double kPicosPerMs = 1e9;

/// One run of a scene, on a GPU or in a model. Milliseconds since its start.
struct SceneRun {
  struct Launch {
    std::string name;
    double arrived = 0, turnaround = 0;
  };
  struct Decision {
    double at = 0;  ///< its orders have been sent
    std::vector<std::string> events{};
    std::map<std::uint32_t, Share> shares{};  ///< by launch
  };
  std::vector<Launch> launches{};
  std::vector<Decision> decisions{};  ///< empty where they were not recorded
  double end = 0;                     ///< of the last launch
};

/// A line of an experiment. @throws nlohmann::json::exception when it lacks a field
[[nodiscard]] SceneRun measured_run(const nlohmann::json& line);

/// A kernel with what was measured of it alone.
struct SceneKernel {
  KernelDescriptor kernel;
  CtaCount most{1};          ///< CTAs of it that the GPU places on an SM
  std::vector<double> ms{};  ///< of its whole grid with 1, 2, ... CTAs on every SM; a single one: with all that fit
};

struct Scene {
  struct Job {
    std::string name;
    std::size_t kernel = 0;  ///< index of `kernels`
    std::int32_t priority = 0;
    double arrival = 0;  ///< milliseconds
  };
  std::string scheduler;
  MachineConfig machine;
  std::vector<SceneKernel> kernels;
  std::vector<Job> jobs;
  std::vector<CorunMeasurement> coruns{};  ///< speeds on ranges of SMs: of `slate_measured`, and of tasks on such ranges
  CoRunTable rates{};                      ///< of tasks of pairs that share every SM
  CoRunTables pairs{};                     ///< of Kernelet's schedulers
  std::optional<double> told_ms{};         ///< what the scheduler takes each kernel's time for; empty: the measured one
  FakeCosts costs{};
  Time min_slice = kMinSlice;
};

/// @throws InputError when a kernel has no times or fits no SM; CheckFailed when the scheduler leaves a launch unfinished
[[nodiscard]] SceneRun replay(const Scene& scene);

/// A kernel's speed on so many SMs beside the other one, of that alone on all; 0: not measured. Which SMs they are is no matter.
[[nodiscard]] double range_speed(const std::vector<CorunMeasurement>& all, const std::string& own, const std::string& other,
                                 std::uint32_t sms, std::uint32_t num_sms);

/// How long a task of a job takes under a plan: by the rates of its pair or its range where they were measured, else as long as
/// alone with so many CTAs on an SM.
[[nodiscard]] TaskTimes measured_times(const Scene& scene);

}  // namespace sluice::gpu
