// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/run_cache.h"
#include "study/slate_profiles.h"
#include "sw/driver/i_device.h"
#include "sw/scheduler/schedule_run.h"
#include "sw/scheduler/solo_times.h"

namespace sluice {

/// One schedule that is to be run.
struct ScheduleCase {
  std::string name;  ///< unique; empty: made of the others
  Scenario scenario;
  ScheduleTarget target;
  std::string scheduler;
  std::optional<Time> wait{};
  std::filesystem::path decisions{};  ///< gets a JSON line a decision; such a run is not kept. Empty: none
  std::filesystem::path timeline{};   ///< gets a Chrome trace of the CTAs, likewise
};

/// How scenarios run on the model.
struct ModelSetting {
  PartitionerKind partitioner = PartitionerKind::Twin;
  std::uint64_t seed = 1;
  unsigned jobs = 1;                             ///< simulations at a time
  std::optional<SoftwarePreemption> software{};  ///< empty: the partition unit preempts
  std::filesystem::path keep{};  ///< finished runs are kept in this file and found again: run_all(); empty: nowhere
  std::string machine_text{};    ///< with `keep`: all that distinguishes the machine
  CoRunTables co_runs{};         ///< what Kernelet decides by; a CTA's instructions are those of the scenario's kernel
  double max_ntt = kNoNttLimit;  ///< of `adaptive`
};

/// Runs scenarios on the GPU model, the partition unit with four kernel slots in the loop: jobs that are evicted leave their
/// slot.
class ScheduleOnModel {
 public:
  explicit ScheduleOnModel(ModelSetting setting) : setting_(std::move(setting)) {}

  /// A job's time alone is measured, once for each kernel of the object; what the scenario says of it is not used. So are the
  /// times at each CTA count, where a scheduler needs them. Launch and evict costs of the scenario are the host's.
  /// @param cases  kernels of one name are one kernel, and all machines are one
  /// @throws InputError when a scenario has other costs, or a job fits no SM, or software is to preempt for a scheduler that
  /// gives SMs to several jobs; CheckFailed when a scheduler leaves a job unfinished, or RTL and twin differ; Interrupted
  [[nodiscard]] std::vector<ScheduleRun> run(const std::vector<ScheduleCase>& cases);
  /// What run() refuses before it measures anything.
  void check(const std::vector<ScheduleCase>& cases) const;
  [[nodiscard]] ScheduleRun operator()(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                                       std::optional<Time> wait, const std::filesystem::path& decisions = {},
                                       const std::filesystem::path& timeline = {});

  /// Cycles of each kernel's whole grid alone with 1, 2, ... CTAs on every SM, as STATIC quotas, on the twin: measured once.
  /// @throws InputError when a kernel fits no SM; Interrupted
  [[nodiscard]] const SoloTimes& measure_times(const ScheduleTarget& target);
  /// The run of each kernel alone with all CTAs that fit, as `arrival` runs it, on the twin: measured once. Throws as above.
  [[nodiscard]] const std::map<std::string, RunResult>& measure_alone(const ScheduleTarget& target);
  /// Speeds of each pair side by side on splits of the SMs, on the twin: measured once. Throws as above.
  [[nodiscard]] const std::vector<CorunMeasurement>& measure_coruns(const ScheduleTarget& target);
  /// On the twin. @throws Interrupted
  [[nodiscard]] std::vector<RunResult> run_held(const MachineConfig& machine, const std::vector<HeldShares>& all) const;

 private:
  [[nodiscard]] RunSpec empty_spec(const MachineConfig& machine, PartitionerKind partitioner) const;
  [[nodiscard]] NamedRun named(const ScheduleCase& c);
  [[nodiscard]] std::vector<RunResult> results_of(std::vector<NamedRun> runs, const std::string& what, bool keep = true) const;

  ModelSetting setting_;
  std::map<std::string, RunResult> alone_;  ///< by kernel, as `times_`
  SoloTimes times_;
  std::vector<CorunMeasurement> coruns_;
};

}  // namespace sluice
