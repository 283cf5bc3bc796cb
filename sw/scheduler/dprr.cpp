// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/dprr.h"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

constexpr std::int64_t kMostGained = 20;
constexpr Time kMillisecond = std::chrono::milliseconds(1);

}  // namespace

const JobView& Dprr::choose(Jobs ready, const JobView* holder, Time now) {
  const auto gone = [&](const auto& entry) { return std::ranges::find(ready, entry.first, &JobView::id) == ready.end(); };
  std::erase_if(active_, gone);
  std::erase_if(inactive_, gone);
  for (const JobView* job : ready)
    if (job != holder && !inactive_.contains(job->id)) active_.try_emplace(job->id, now);
  if (holder != nullptr) {
    if (!slice_is_over(now)) return *holder;
    inactive_.emplace(holder->id, now);
  }
  if (active_.empty()) {
    std::swap(active_, inactive_);
    for (auto& [job, since] : active_) since = now;
  }
  const JobView* head = nullptr;
  std::pair<std::int64_t, Time> best;  // dynamic priority, wait
  for (const JobView* job : ready) {
    const auto found = active_.find(job->id);
    if (found == active_.end()) continue;
    const Time waited = now - found->second;
    const std::pair rank(job->priority + std::min<std::int64_t>(waited / kMillisecond, kMostGained), waited);
    if (head != nullptr && rank <= best) continue;
    head = job;
    best = rank;
  }
  active_.erase(head->id);
  set_slice((slice_from_ == SliceFrom::Dynamic ? best.first : head->priority) * kMillisecond / 2 + kMillisecond / 2);
  return *head;
}

}  // namespace sluice
