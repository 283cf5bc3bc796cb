// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sw/scheduler/fake_executor.h"

namespace sluice {

struct PriorityRange {
  std::int32_t lowest = 0, highest = 0;
};

/// A kernel that arrives once, or again and again.
struct ScenarioJob {
  std::string name;                    ///< unique in its scenario
  std::string kernel;                  ///< its name in a workload
  std::optional<Time> alone;           ///< of one launch with the machine to itself
  Time arrival{};                      ///< of the first launch
  std::optional<std::size_t> after;    ///< the job whose last launch ends `arrival` before that
  std::optional<PriorityRange> asked;  ///< a launch draws from it; none: the thread's
  std::int32_t nice = 0;               ///< of its host thread
  bool root = true;                    ///< may ask for more than its thread has
  std::uint32_t launches = 1;
  std::optional<double> per_second;  ///< launches come in a Poisson stream of this rate, whatever ends when
  double in_mib = 0, out_mib = 0;    ///< of each launch's inputs and outputs
};

/// Who wants the GPU when. Says nothing of who gets it.
struct Scenario {
  std::string file;  ///< where it was read from, for messages
  std::string name;
  std::optional<Time> task;  ///< about the length of a task of jobs that no workload describes
  std::uint64_t seed = 1;    ///< of what is drawn
  std::vector<Time> waits;   ///< each a run of its own: from the end of a launch to the next one of the same job
  FakeCosts costs;           ///< its memory: of the scenario
  std::vector<ScenarioJob> jobs;
  std::optional<Time> pair_gap;  ///< not one scenario, but one for each pair of jobs: see runs_of()
};

/// Reads a scenario (docs/reference/scenarios.md).
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] Scenario read_scenario(const std::filesystem::path& path);

/// The scenarios that a file stands for: itself, or those of its pairs in order of the jobs. Three of each pair: the first job
/// `pair_gap` before the second, the second before the first, both together. Named A_B, B_A, A_B_together.
[[nodiscard]] std::vector<Scenario> runs_of(const Scenario& scenario);
/// What each launch of the job copies.
[[nodiscard]] MemoryDemand memory_demand(const ScenarioJob& job, KernelType type);

/// One launch of a job.
struct ScenarioLaunch {
  std::size_t job;
  std::int32_t priority;
  Time arrival;  ///< after the end of launch `after`, where there is one
  std::optional<std::uint32_t> after;
};

/// Every launch, with its priority and its Poisson arrival drawn, priorities granted. Equal seeds draw equally, whatever the
/// wait.
[[nodiscard]] std::vector<ScenarioLaunch> launches(const Scenario& scenario, Time wait);

}  // namespace sluice
