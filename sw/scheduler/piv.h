// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/scheduler/one_at_a_time.h"

namespace sluice {

/// EffiSha's priority-based immediate eviction (section 7): a more important job evicts the running one at once, an equal one
/// does not. Equals run in order of arrival, and an evicted job keeps its place: the paper's own figures need both. Unimportant
/// jobs may starve.
class Piv : public OneAtATime {
 protected:
  [[nodiscard]] const JobView& choose(Jobs ready, const JobView* holder, Time) override {
    const JobView& most = most_important(ready);
    return holder != nullptr && holder->priority >= most.priority ? *holder : most;
  }
};

}  // namespace sluice
