// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/gpu/jobs/gpu_session.h"
#include "sw/gpu/jobs/i_quota_jobs.h"

namespace sluice::gpu {

/// The event loop's jobs on the GPU of this process. Launches of a kernel that do not overlap share one job's memory; one that
/// begins while another of the same kernel has begun gets a job of its own.
class GpuQuotaJobs : public IQuotaJobs {
 public:
  /// @param kernels  by their number in LoopJob; all get one split of L1 and scratchpad, so that they may meet on an SM
  explicit GpuQuotaJobs(PreparedMix kernels);

  [[nodiscard]] Time now() override;
  void rest(std::optional<Time> /*next*/) override {}
  void arrive(JobId job, std::uint32_t kernel) override;
  void hold(JobId job, const QuotaTable& quota, std::uint64_t task_limit) override;
  [[nodiscard]] JobSight look(JobId job) override;
  void forget(JobId job) override;

  /// Acquisitions above a quota, of all jobs since they were made.
  [[nodiscard]] std::uint64_t violations();

 private:
  [[nodiscard]] QuotaJob& at(JobId job);
  struct Open {
    std::uint32_t kernel;
    std::unique_ptr<QuotaJob> job;  ///< made or taken when it first holds something
  };
  Clock::time_point start_ = Clock::now();
  PreparedMix kernels_;
  std::vector<int> carveouts_;
  std::map<std::uint32_t, Open> open_;
  std::multimap<std::uint32_t, std::unique_ptr<QuotaJob>> idle_;  // by kernel
};

}  // namespace sluice::gpu
