// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "sw/scheduler/one_at_a_time.h"

namespace sluice {

/// EffiSha's dynamic priority-based round robin (section 7). A job in the active queue gains one in priority for each whole
/// millisecond that it waits, at most 20; the head gets a slice of (priority + 1) / 2 ms. When the slice is over, the job goes to
/// the inactive queue with its static priority; when the active queue is empty, the queues swap. Nobody starves.
///
/// Settled where the paper is silent: no preemption on arrival; waiting in the inactive queue counts from the swap on; equals go
/// by who waits longest, then by arrival; a job that is chosen again keeps the machine.
class Dprr : public OneAtATime {
 public:
  /// The priority that gives the length of a slice: with what the job gained by waiting, or without.
  enum class SliceFrom { Dynamic, Static };
  explicit Dprr(SliceFrom slice_from = SliceFrom::Dynamic) : slice_from_(slice_from) {}

 protected:
  [[nodiscard]] const JobView& choose(Jobs ready, const JobView* holder, Time now) override;

 private:
  using Queue = std::map<JobId, Time>;  ///< since when each job waits

  SliceFrom slice_from_;
  Queue active_, inactive_;
};

}  // namespace sluice
