// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sw/driver/i_device.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

/// Runs scenarios on the GPU model, the partition unit with four kernel slots in the loop: jobs that are evicted leave their
/// slot.
class ScheduleOnModel {
 public:
  /// @param jobs  simulations at a time
  ScheduleOnModel(PartitionerKind partitioner, std::uint64_t seed, unsigned jobs)
      : partitioner_(partitioner), seed_(seed), jobs_(jobs) {}

  /// A job's time alone is measured, once for each kernel of the object; what the scenario says of it is not used. Launch and
  /// evict costs of the scenario are the host's.
  /// @throws InputError when the scenario has other costs, or a job fits no SM; CheckFailed when the scheduler leaves a job
  /// unfinished, or RTL and twin differ; Interrupted
  [[nodiscard]] ScheduleRun operator()(const Scenario& scenario, const ScheduleTarget& target, std::string_view scheduler,
                                       std::optional<Time> wait);

 private:
  void measure_alone(const ScheduleTarget& target);

  PartitionerKind partitioner_;
  std::uint64_t seed_;
  unsigned jobs_;
  std::map<std::string, std::uint64_t> alone_;  ///< cycles, by kernel
};

}  // namespace sluice
