// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/scheduler/one_at_a_time.h"

namespace sluice {

/// One job at a time in order of arrival, each to its end: what the papers call FCFS, or sequential execution.
class Arrival : public OneAtATime {
 protected:
  [[nodiscard]] const JobView& choose(Jobs ready, const JobView* holder, Time) override {
    return holder != nullptr ? *holder : *ready.front();
  }
};

}  // namespace sluice
