// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sw/report/chrome_trace.h"
#include "sw/report/eval_results.h"
#include "sw/report/page.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice {

/// CTAs of every kernel on every SM over time, from the trace that a run left: a row an SM, as high as the CTAs that it holds.
/// @param run  names the kernels; its decisions give the phases: profile, decision, quotas
/// @param end  cycles that are shown; 0: all
/// @throws InputError when the file is no Chrome trace
[[nodiscard]] report::Timeline sm_timeline(const std::filesystem::path& trace, const EvalRun& run, std::uint64_t end = 0);

/// Beside a trace FILE.json: FILE.html with its first cycles, through profile and decision to the quotas, and the whole run; and
/// the first of these as a picture, FILE.svg.
void write_timeline_page(const std::filesystem::path& trace, const EvalRun& run, const nlohmann::ordered_json& provenance);

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
