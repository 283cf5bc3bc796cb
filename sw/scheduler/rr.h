// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sw/scheduler/one_at_a_time.h"

namespace sluice {

/// Round robin: equal slices without priorities, as a driver shares a GPU among processes. A job that arrives when a slice ends
/// goes before the one whose slice it was. A slice of a job that is alone is renewed without an eviction.
class Rr : public OneAtATime {
 public:
  /// With slices of 3.5 ms the NTTs come closest to those that EffiSha prints for the default GPU (figure 14).
  static constexpr Time kSlice = std::chrono::microseconds(3500);
  explicit Rr(Time slice = kSlice) { set_slice(slice); }

 protected:
  [[nodiscard]] const JobView& choose(Jobs ready, const JobView* holder, Time now) override;

 private:
  std::vector<JobId> waiting_;  ///< next first
};

}  // namespace sluice
