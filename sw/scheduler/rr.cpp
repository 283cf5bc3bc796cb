// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/rr.h"

#include <algorithm>

namespace sluice {

const JobView& Rr::choose(Jobs ready, const JobView* holder, Time now) {
  std::erase_if(waiting_, [&](JobId id) { return std::ranges::find(ready, id, &JobView::id) == ready.end(); });
  for (const JobView* job : ready)
    if (job != holder && std::ranges::find(waiting_, job->id) == waiting_.end()) waiting_.push_back(job->id);
  if (holder != nullptr) {
    if (!slice_is_over(now)) return *holder;
    waiting_.push_back(holder->id);
  }
  const JobId next = waiting_.front();
  waiting_.erase(waiting_.begin());
  return **std::ranges::find(ready, next, &JobView::id);
}

}  // namespace sluice
