// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sw/report/chrome_trace.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

/// The tasks of a schedule on the fake executor as slices of a Chrome trace; one microsecond of the viewer is a nanosecond. A
/// task takes the lowest slot of its SM that is free.
class TaskTimeline : public ITaskObserver {
 public:
  /// @throws InputError or SystemError when the file can't be written
  TaskTimeline(const std::filesystem::path& file, const Scenario& scenario, const ScheduleTarget& target,
               std::optional<Time> wait);
  void task_begins(JobId job, SmId sm, Time begin, Time end) override;
  void close() { trace_.close(); }  ///< @throws SystemError when the last events can't be written

 private:
  ChromeTrace trace_;
  std::vector<std::string> names_;             ///< of each launch
  std::vector<std::uint64_t> tasks_;           ///< begun, of each launch
  std::vector<std::vector<Time>> free_again_;  ///< [SM][slot]
};

}  // namespace sluice
