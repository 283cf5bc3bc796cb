// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <map>
#include <optional>

#include "sw/core/resources.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/job_table.h"
#include "sw/service/i_executor.h"
#include "sw/service/time_slices.h"

namespace sluice::service {

/// CTAs run in the clients' own processes, on a GPU that this one never touches: clients read their shares in their pages, and
/// report. A job that is to leave has left when its client says so; until then it is not given another share. One that does not
/// leave for kForsakenAfter (its process is stopped, its blocks do not end) is waited for no longer: the scheduler hears that it
/// is lost, and of a new one when the client reports again. One that was given a share and begins nothing for so long has to
/// leave.
class ReportedExecutor : public IExecutor {
 public:
  /// @param isolate  the jobs of one owner at a time; @param sm  what one has
  ReportedExecutor(IScheduler& scheduler, bool isolate, const SmResources& sm);
  static constexpr Time kLateAfter = std::chrono::milliseconds(100), kForsakenAfter = std::chrono::seconds(1);
  [[nodiscard]] JobId submit(const ClientLaunch& launch, Time now) override;
  [[nodiscard]] JobId change_kernel(JobId job, const KernelDescriptor& kernel, Time now) override;
  void report(JobId job, const Report& what, Time now) override;
  void lose(JobId job, Time now) override;
  void forget(JobId job) override { jobs_.erase(job); }
  void advance(Time now) override;
  [[nodiscard]] std::optional<Time> next() const override;
  [[nodiscard]] Progress progress(JobId job, Time now) const override;

 private:
  struct Job {
    std::uint32_t owner = 0;
    Progress now{};
    std::optional<Time> held_since{};
    bool last_begun = false;
    Time told{};                        ///< when it was given a share, or told to leave
    std::optional<JobView> forsaken{};  ///< what it was when the scheduler lost sight of it
  };
  /// In the table again when it was forsaken. @throws InputError when its launch has ended
  [[nodiscard]] JobView& open(JobId id, Time now);
  void move(JobId id, JobState to, Time now);
  void done(JobId id, Time now);
  void obey(const Plan& plan, Time now);
  void look_for_late(Time now);

  IScheduler& scheduler_;
  bool isolate_;
  SmResources sm_;
  TimeSlices slices_;
  JobTable table_;
  std::map<JobId, Job> jobs_;
  std::uint32_t next_id_ = 0;
  std::optional<Time> wake_at_;
};

}  // namespace sluice::service
