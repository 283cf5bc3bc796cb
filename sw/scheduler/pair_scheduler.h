// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sw/core/machine.h"
#include "sw/policy/co_schedule.h"
#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// No slice is shorter: Kernelet's 2 % of overhead, where a slice ends with a drain and a launch of 0.1 ms together. That time is
/// assumed; `sluice report kernelet` measures the shortest slices on the model, most of which are
/// shorter.
inline constexpr Time kMinSlice = std::chrono::milliseconds(5);

/// Algorithm 1 of Kernelet: two kernels side by side in slices, whose sizes stay until one of the two has no task left to begin
/// or the set of ready kernels changes; then, at the end of the slice, another choice. A kernel that is alone runs in slices as
/// well, so that the next one need not wait for its end.
///
/// A slice is a task limit and a time. The limit lets the slice that runs and the next one begin, as launches queued in a stream;
/// at the slice's end by the table's rates it moves on. A variant says which two kernels, and with how many CTAs.
class PairScheduler : public IScheduler {
 public:
  /// @throws InputError when the table lacks a slice ratio of two kernels of `mix` that it knows, or holds a figure that is none
  PairScheduler(const MachineConfig& machine, CoRunTable table, std::span<const KernelDescriptor> mix, Time min_slice);
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) final;

 protected:
  /// @param kernels  the oldest ready job of each kernel of the table, oldest first; at least two
  /// @return nullopt: none, one job runs alone
  [[nodiscard]] virtual std::optional<CoSchedule> choose(std::span<const CandidateKernel> kernels) = 0;
  [[nodiscard]] const CoRunTable& table() const { return table_; }
  [[nodiscard]] CoScheduleRules& rules() { return rules_; }

 private:
  struct Seat {
    JobId job;
    Share share;
    std::uint64_t slice;  ///< tasks; kNoTaskLimit where nothing is known of the kernel
  };
  void take_seats(const std::vector<const JobView*>& ready);

  CoRunTable table_;
  CoScheduleRules rules_;
  double cycle_ps_;
  std::vector<JobId> known_;  ///< who had tasks to begin when the seats were taken
  std::vector<Seat> seats_;   ///< two side by side, one alone, or none
  Time slice_{}, slice_end_{};
  Plan plan_;
};

}  // namespace sluice
