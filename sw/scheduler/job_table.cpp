// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice {

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::Prep: return "prep";
    case JobState::Ready: return "ready";
    case JobState::ToRun: return "to_run";
    case JobState::Running: return "running";
    case JobState::ToEvict: return "to_evict";
    case JobState::Done: return "done";
    case JobState::Lost: return "lost";
  }
  return "unknown";
}

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::Arrived: return "arrived";
    case EventKind::Ready: return "ready";
    case EventKind::LastTaskBegun: return "last_task_begun";
    case EventKind::Evicted: return "evicted";
    case EventKind::Done: return "done";
    case EventKind::Lost: return "lost";
    case EventKind::Profiled: return "profiled";
    case EventKind::Timer: return "timer";
  }
  return "unknown";
}

void JobTable::arrive(JobView job) {
  if (!places_.try_emplace(job.id.value(), jobs_.size()).second)
    throw std::logic_error(fmt::format("job {} ({}): arrives twice", job.id.value(), job.kernel.name));
  job.state = JobState::Prep;
  jobs_.push_back(std::move(job));
  report({EventKind::Arrived, jobs_.back().id});
}

void JobTable::take_place(JobId job, JobId of) {
  std::swap(at(job), at(of));
  std::swap(places_.at(job.value()), places_.at(of.value()));
}

JobView& JobTable::at(JobId id) {
  const auto found = places_.find(id.value());
  if (found == places_.end()) throw std::logic_error(fmt::format("job {}: there is none", id.value()));
  return jobs_[found->second];
}

void JobTable::move(JobId id, JobState to) {
  JobView& job = at(id);
  if (!is_legal(job.state, to))
    throw std::logic_error(
        fmt::format("job {} ({}): from {} to {}", id.value(), job.kernel.name, to_string(job.state), to_string(to)));
  if (to == JobState::Ready && job.state != JobState::ToRun)
    report({job.state == JobState::ToEvict ? EventKind::Evicted : EventKind::Ready, id});
  if (to == JobState::Done) report({EventKind::Done, id});
  if (to == JobState::Lost) report({EventKind::Lost, id});
  job.state = to;
}

void JobTable::forget_closed() {
  const auto closed = [](const JobView& job) { return !is_open(job.state); };
  if (std::ranges::none_of(jobs_, closed)) return;
  std::erase_if(jobs_, closed);
  places_.clear();
  for (std::size_t i = 0; i < jobs_.size(); ++i) places_[jobs_[i].id.value()] = i;
}

std::vector<Event> JobTable::take_events() { return std::exchange(events_, {}); }

}  // namespace sluice
