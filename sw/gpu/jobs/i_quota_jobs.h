// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "sw/gpu/jobs/layout.h"
#include "sw/scheduler/job.h"

namespace sluice::gpu {

/// A job as one look finds it.
struct JobSight {
  std::uint64_t begun = 0, done = 0;  ///< tasks; `done` may lag behind
  std::uint32_t resident = 0;         ///< CTAs that hold a slot
  bool all_begun = false;             ///< no task is left to begin
  bool gone = false;                  ///< no grid of it is on the GPU
  bool finished = false;              ///< every task ended, and no grid is there
};

/// Jobs under quotas and the clock beside them, as the event loop drives them: a GPU, or a test's model of one.
class IQuotaJobs {
 public:
  virtual ~IQuotaJobs() = default;
  /// Not earlier than before.
  [[nodiscard]] virtual Time now() = 0;
  /// Nothing is to be done before `next`, if there is one, unless a look finds something. Returns at once, or when it may.
  virtual void rest(std::optional<Time> next) = 0;
  /// A launch of a kernel: all its tasks are to be run. It holds nothing yet.
  virtual void arrive(JobId job, std::uint32_t kernel) = 0;
  /// The inputs of a job that has arrived are in device memory. Asked until they are.
  [[nodiscard]] virtual bool ready(JobId /*job*/) { return true; }
  /// Puts a quota table into force: CTAs beyond it leave at their next block boundary, missing ones come as there is room.
  /// @param task_limit  tasks that may have begun in all. A GPU may exceed it by what CTAs claim in the moment it is reached.
  virtual void hold(JobId job, const QuotaTable& quota, std::uint64_t task_limit) = 0;
  [[nodiscard]] virtual JobSight look(JobId job) = 0;
  /// A finished job is not asked for any more.
  virtual void forget(JobId job) = 0;
};

}  // namespace sluice::gpu
