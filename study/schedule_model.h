// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sw/driver/i_device.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

/// One scenario under one scheduler.
struct ScheduleRequest {
  Scenario scenario;
  std::string scheduler;
  std::optional<Time> wait{};
};

/// How scenarios run on the model.
struct ModelSetting {
  PartitionerKind partitioner = PartitionerKind::Twin;
  std::uint64_t seed = 1;
  unsigned jobs = 1;                             ///< simulations at a time
  std::optional<SoftwarePreemption> software{};  ///< empty: the partition unit preempts
  std::filesystem::path keep{};                  ///< finished runs are kept here, and not repeated; empty: nowhere
  std::string fingerprint{};                     ///< with `keep`: text of machine and kernels
};

/// Runs scenarios on the GPU model, the partition unit with four kernel slots in the loop: jobs that are evicted leave their
/// slot.
class ScheduleOnModel {
 public:
  explicit ScheduleOnModel(ModelSetting setting) : setting_(std::move(setting)) {}

  /// A job's time alone is that of the kernel as it is, under `arrival`. It is measured once for each kernel of the object; what
  /// the scenario says of it is not used. Launch and evict costs of the scenario are the host's.
  /// @throws InputError when the scenario has other costs, a job fits no SM, or software is to preempt for a scheduler that
  /// gives SMs to several jobs; CheckFailed when the scheduler leaves a job unfinished, or RTL and twin differ; Interrupted
  [[nodiscard]] std::vector<ScheduleRun> run(const ScheduleTarget& target, std::span<const ScheduleRequest> requests);
  [[nodiscard]] ScheduleRun operator()(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                                       std::optional<Time> wait) {
    const ScheduleRequest request{scenario, std::string(scheduler), wait};
    return run(target, {&request, 1}).front();
  }

 private:
  struct Named {
    std::string name;
    RunSpec spec;
  };
  void measure_alone(const ScheduleTarget& target);
  [[nodiscard]] RunSpec spec_of(const ScheduleTarget& target, const ScheduleRequest& request) const;
  [[nodiscard]] std::vector<RunResult> run_specs(const std::vector<Named>& runs) const;
  [[nodiscard]] ScheduleRun outcome(const ScheduleRequest& request, const RunSpec& spec, const RunResult& result) const;

  ModelSetting setting_;
  std::map<std::string, std::uint64_t> alone_;  ///< cycles, by kernel
};

}  // namespace sluice
