// SPDX-License-Identifier: Apache-2.0
#include "sw/report/task_timeline.h"

#include <algorithm>
#include <chrono>

namespace sluice {

namespace {

std::uint64_t ns(Time time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

TaskTimeline::TaskTimeline(const std::filesystem::path& file, const Scenario& scenario, const ScheduleTarget& target,
                           std::optional<Time> wait)
    : trace_(file, target.machine.num_sms, "ns"), free_again_(target.machine.num_sms) {
  for (const ScenarioLaunch& launch : launches(scenario, wait.value_or(Time(0))))
    names_.push_back(scenario.jobs[launch.job].name);
  tasks_.resize(names_.size());
}

void TaskTimeline::task_begins(JobId job, SmId sm, Time begin, Time end) {
  std::vector<Time>& slots = free_again_.at(sm.value());
  auto slot = std::ranges::find_if(slots, [&](Time free) { return free <= begin; });
  if (slot == slots.end()) slot = slots.insert(slots.end(), end);
  *slot = end;
  trace_.cta(sm.value(), static_cast<std::uint32_t>(slot - slots.begin()), names_.at(job.value()), tasks_.at(job.value())++,
             ns(begin), ns(end));
}

}  // namespace sluice
