// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/share.h"
#include "sw/scheduler/job.h"

namespace sluice {

inline constexpr std::uint64_t kNoTaskLimit = std::numeric_limits<std::uint64_t>::max();

/// What one job is to hold from now on.
struct JobShare {
  JobId job;
  Share share;
  std::uint64_t task_limit = kNoTaskLimit;  ///< tasks that it may have begun in all, since its arrival

  bool operator==(const JobShare&) const = default;
};

/// The whole wanted state, not a change of it: a plan that is lost, or carried out twice, does no harm.
struct Plan {
  std::vector<JobShare> jobs;     ///< a job that is not here holds nothing
  std::optional<Time> wake_at{};  ///< a Timer then, at the latest; later than now
  /// Wanted before shares are worked out: the profiles of all jobs that may hold SMs. An executor that can measure them while
  /// they run does, and reports Profiled; until then `jobs` holds.
  bool profile = false;
  std::string reason{};  ///< why, in a few words, for who reads the log; empty: there was nothing to choose
  /// Wanted as well: the rates of all jobs that hold SMs in each of these partitions, CTAs on an SM in the order of `jobs`. An
  /// executor that can measure them side by side does, calls measured() and reports Profiled; until then `jobs` holds.
  std::vector<std::vector<CtaCount>> measure{};

  bool operator==(const Plan&) const = default;
};

/// Decides over time who holds what: events in, shares out. Pure: no clock, no thread, no device; equal calls in equal order give
/// equal plans. The same object decides in the fake executor, in the SystemC model, and on a GPU.
class IScheduler {
 public:
  virtual ~IScheduler() = default;
  /// The mode in which the partition unit works for this scheduler. Static: plans are enforced as they are. In every other mode
  /// the unit itself shares the SMs, and a plan tells what it is expected to do.
  [[nodiscard]] virtual Mode mode() const { return Mode::Static; }
  /// @param jobs    all that are known and not yet forgotten, oldest first
  /// @param events  since the last call, in order of time; a job that arrived and ended in between is in both
  /// @param now     not earlier than at the last call
  /// @throws InputError when the jobs can't be shared so
  [[nodiscard]] virtual Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) = 0;
  /// What a plan with `measure` led to: the executor may have tried other partitions, or the same again. Counts and rates are in
  /// the order of `jobs`.
  virtual void measured(std::span<const JobId> /*jobs*/, std::span<const BalanceCandidate> /*found*/) {}
};

using MakeScheduler = std::function<std::unique_ptr<IScheduler>()>;

}  // namespace sluice
