// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "sw/partition/remaining_time.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/policy_scheduler.h"
#include "sw/scheduler/solo_times.h"

namespace sluice {

/// SiM (adaptive simultaneous multi-tenancy): all jobs share every SM, with the counts that make the longest remaining time as
/// short as the jobs' times alone allow (sw/partition/remaining_time.h). Decides when a job arrives and when one has begun its
/// last task: from then on no count can help it, so it is not in the plan and its CTAs drain. Between these events the plan
/// stays.
///
/// Where one CTA of each job does not fit together, or jobs outnumber the unit's slots, SiM lets the GPU queue them. Persistent
/// CTAs never leave, so the last in the queue would starve: here groups that fit take turns, and the plan asks for a timer. A
/// turn is a slice, and another one while a job of the group waits for the CTAs of the last group to leave.
class AdaptiveScheduler : public IScheduler {
 public:
  static constexpr Time kTurn = std::chrono::milliseconds(2);
  /// Ours: a job whose NTT would be more than `most` counts as the one with the longest remaining time.
  struct NttLimit {
    double most = kNoNttLimit;  ///< at least 1
    double unit_ps = 1;         ///< length of a unit of the times alone, picoseconds
  };

  /// @param mix  checked at once; jobs of other kernels when they come
  /// @param slots  jobs that share at a time at most
  /// @throws InputError as times_of() does, and when the limit is below 1
  AdaptiveScheduler(MachineConfig machine, SoloTimes times, const std::vector<KernelDescriptor>& mix,
                    std::size_t slots = kNoSlotLimit, Time slice = kTurn, NttLimit limit = {kNoNttLimit, 1});
  /// @throws InputError as times_of() does
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;

 private:
  struct Candidate {
    const JobView* job;
    double left;
    double longest;  ///< remaining time with one CTA
  };
  [[nodiscard]] std::vector<Candidate> group(std::vector<Candidate> candidates) const;
  void allocate(const std::vector<Candidate>& group, Time now);

  MachineConfig machine_;
  SoloTimes times_;
  std::size_t slots_;
  Time slice_;
  NttLimit limit_;
  std::vector<JobId> known_;      ///< who had tasks to begin when the plan was made
  Plan plan_;                     ///< wake_at while there are turns
  std::map<JobId, Time> served_;  ///< end of each job's last turn, while there are turns
};

}  // namespace sluice
