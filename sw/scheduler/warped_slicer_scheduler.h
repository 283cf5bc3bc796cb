// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sw/core/machine.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// Warped-Slicer over time: whenever jobs arrive or end, those that are there are profiled, and water-filling and the loss guard
/// share the SMs. The partition unit does all of it in DYNAMIC mode; elsewhere the executor profiles and this object decides.
/// Until the profiles are there, each job has SMs of its own.
class WarpedSlicerScheduler : public IScheduler {
 public:
  explicit WarpedSlicerScheduler(MachineConfig machine) : machine_(std::move(machine)) {}
  [[nodiscard]] Mode mode() const override { return Mode::Dynamic; }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  MachineConfig machine_;
  std::vector<JobId> profiled_;  ///< since the mix changed last: earlier profiles say nothing of this one
};

}  // namespace sluice
