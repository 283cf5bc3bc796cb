// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/one_at_a_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sluice {

namespace {

/// Why `chosen` has the machine from now on.
std::string reason(const JobView& chosen, const JobView* holder, bool slice_over, std::size_t ready) {
  const std::string who = fmt::format("job {} ({})", chosen.id.value(), chosen.kernel.name);
  if (holder == nullptr) return who + ": the machine is free" + (ready == 1 ? "" : fmt::format(", {} wait", ready - 1));
  if (holder->id == chosen.id) return who + (slice_over ? ": nobody else for the next slice" : ": its turn goes on");
  if (slice_over) return fmt::format("{}: the slice of job {} is over", who, holder->id.value());
  return fmt::format("{}: priority {}, job {} has {}", who, chosen.priority, holder->id.value(), holder->priority);
}

}  // namespace

Plan OneAtATime::decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) {
  std::vector<const JobView*> ready;
  const JobView* holder = nullptr;
  for (const JobView& job : jobs) {
    if (!may_hold_sms(job.state)) continue;
    ready.push_back(&job);
    if (job.id == holder_) holder = &job;
  }
  // A turn begins when the job before it has drained: a slice would else be spent waiting for the machine.
  for (const Event& event : events)
    if (event.kind == EventKind::Evicted || event.kind == EventKind::Done) begun_ = now;
  if (ready.empty()) {
    holder_.reset();
    return {};
  }
  // Nor is it spent on a launch that takes longer: a job that got nothing of its slice gets another.
  if (holder != nullptr && holder->state == JobState::ToRun && slice_is_over(now)) begun_ = now;
  const bool over = holder == nullptr || slice_is_over(now);
  const JobView& chosen = choose(ready, holder, now);
  if (over || chosen.id != holder_) begun_ = now;
  holder_ = chosen.id;
  return {{{chosen.id, kWholeMachine}},
          slice_ ? std::optional(begun_ + *slice_) : std::nullopt,
          false,
          reason(chosen, holder, over, ready.size())};
}

const JobView& most_important(std::span<const JobView* const> jobs) {
  return **std::ranges::max_element(jobs, {}, &JobView::priority);
}

}  // namespace sluice
