// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sw/scheduler/job.h"

namespace sluice {

/// The transitions of EffiSha's kernel states (section 6.1), and from every open state to Lost. Everything else is a defect of an
/// executor.
[[nodiscard]] constexpr bool is_legal(JobState from, JobState to) {
  switch (to) {
    case JobState::Prep: return false;
    case JobState::Ready: return from == JobState::Prep || from == JobState::ToRun || from == JobState::ToEvict;
    case JobState::ToRun: return from == JobState::Ready;
    case JobState::Running: return from == JobState::ToRun;
    case JobState::ToEvict: return from == JobState::Running;
    case JobState::Done: return from == JobState::Running || from == JobState::ToEvict;
    case JobState::Lost: return is_open(from);
  }
  return false;
}

/// The jobs of an executor, oldest first, and what happened to them since the scheduler was asked last.
class JobTable {
 public:
  /// In state Prep; reports Arrived. @throws std::logic_error when the id is taken
  void arrive(JobView job);
  void take_place(JobId job, JobId of);  ///< in the order of the jobs
  /// Reports Ready, Done, Lost and, from ToEvict to Ready, Evicted. @throws std::logic_error naming job and states when illegal
  void move(JobId job, JobState to);
  /// LastTaskBegun, Profiled, Timer.
  void report(Event event) { events_.push_back(event); }

  [[nodiscard]] std::span<const JobView> jobs() const { return jobs_; }
  [[nodiscard]] JobView& at(JobId job);  ///< @throws std::logic_error when there is none
  [[nodiscard]] bool has_events() const { return !events_.empty(); }
  /// Since the last call.
  [[nodiscard]] std::vector<Event> take_events();
  /// Done and lost jobs: their states are free again. Call it when the scheduler has heard of them.
  void forget_closed();

 private:
  std::vector<JobView> jobs_;
  std::unordered_map<std::uint32_t, std::size_t> places_;  ///< in jobs_, of each id there
  std::vector<Event> events_;
};

}  // namespace sluice
