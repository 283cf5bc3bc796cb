// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/scheduler/one_at_a_time.h"

namespace sluice {

/// The most important job first, each to its end. Ours: what priorities give without preemption.
class PrioNp : public OneAtATime {
 protected:
  [[nodiscard]] const JobView& choose(Jobs ready, const JobView* holder, Time) override {
    return holder != nullptr ? *holder : most_important(ready);
  }
};

}  // namespace sluice
