// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "sw/core/kernel.h"
#include "sw/core/share.h"
#include "sw/scheduler/job.h"
#include "sw/service/protocol.h"

namespace sluice::service {

/// A launch as a client submits it. `tasks` 0: as many as come, until the client says that it is done.
struct ClientLaunch {
  KernelDescriptor kernel;
  std::uint64_t tasks = 0;
  Time task_time{};
  std::int32_t priority = 0;
  std::uint32_t owner = 0;  ///< its session
};

/// How a job that was told to leave does so.
enum class Leaving { InTime, Late, Forsaken };

/// How far a job is.
struct Progress {
  JobState state = JobState::Prep;
  Share share{CtaCount(0), {}};    ///< in ToRun and Running
  Share granted{CtaCount(0), {}};  ///< the last that it was given, also when it is done
  std::uint64_t tasks_begun = 0, tasks_done = 0;
  std::uint32_t evictions = 0;
  Time held{};  ///< in which it had CTAs on the GPU
  Leaving leaving = Leaving::InTime;
  std::uint8_t parts = 0;  ///< of `share`: 32nds of an SM for the job's other kernels; 0: as much as its CTAs are
};

/// What carries out what the scheduler decides, and tells it what happens.
class IExecutor {
 public:
  virtual ~IExecutor() = default;
  /// Arrives now. @throws InputError naming the value that it does not take
  [[nodiscard]] virtual JobId submit(const ClientLaunch& launch, Time now) = 0;
  /// The job goes over into one of another kernel, which keeps what it holds until the scheduler has decided.
  /// @throws InputError when that cannot be
  [[nodiscard]] virtual JobId change_kernel(JobId job, const KernelDescriptor& kernel, Time now) = 0;
  /// A client says what its launch does. @throws InputError when that cannot be
  virtual void report(JobId job, const Report& what, Time now) = 0;
  /// Its owner is gone at `now`, and its CTAs with it; nothing when it is done.
  virtual void lose(JobId job, Time now) = 0;
  /// A job that is done or lost, and the scheduler has heard of it.
  virtual void forget(JobId job) = 0;
  /// All that happens until `now`, decisions included. @throws what the scheduler throws
  virtual void advance(Time now) = 0;
  [[nodiscard]] virtual std::optional<Time> next() const = 0;  ///< when something happens by itself
  [[nodiscard]] virtual Progress progress(JobId job, Time now) const = 0;
};

}  // namespace sluice::service
