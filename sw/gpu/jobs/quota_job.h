// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/gpu/jobs/layout.h"
#include "sw/gpu/jobs/prepared.h"
#include "sw/gpu/jobs/watchdog.h"
#include "sw/gpu/runtime/control.h"

namespace sluice::gpu {

using Clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// Counters of a job at one moment.
struct JobState {
  Clock::time_point at;  ///< middle of the copy
  std::uint32_t resident = 0, violations = 0;
  std::uint32_t returned = 0;                          ///< slots with tasks that an evicted CTA had claimed and not begun
  std::uint32_t arrived = 0;                           ///< CTAs that have taken a slot or given up, since the job was made
  bool all_claimed = false;                            ///< the queue is empty; tasks given back may be left
  std::vector<std::uint32_t> done;                     ///< per SM, wraps
  std::vector<std::uint32_t> residents, max_resident;  ///< per SM
};

struct JobOptions {
  std::uint64_t passes = 1;    ///< times the grid runs in one launch, where a pass may begin before the one before has ended
  std::uint64_t launches = 1;  ///< times that finish() runs all this, each when the time before is done
  Clock::duration watchdog = std::chrono::milliseconds(100);  ///< how long blocks that may wait for others may stand still
  unsigned group = 0;       ///< most tasks claimed at a time; 0: as many as suits the length of the queue
  bool count_runs = false;  ///< count how often each block ran
  bool log_lifetimes = false;
  std::optional<int> carveout_percent = {};  ///< nothing: for the kernel alone (layout.h)
};

/// One kernel running under quotas: its task queue, its CTAs, and the quota table that may change at any time
/// (docs/reference/how_sharing_works.md).
class QuotaJob {
 public:
  QuotaJob(const PreparedKernel& kernel, const JobOptions& options);
  ~QuotaJob();  ///< evicts what still runs, and waits for it
  QuotaJob(const QuotaJob&) = delete;
  QuotaJob& operator=(const QuotaJob&) = delete;

  /// Puts a quota table into force; CTAs beyond it leave at their next block boundary. Does not add CTAs.
  void order(const QuotaTable& quota);
  /// Launches CTAs for the slots that are open; does not wait.
  /// @param every_slot  not the slots first that are as the CTAs lie on the SM: where other kernels leave little room, CTAs would
  /// come
  ///                    to the same few again and again, and tasks that belong to the others would wait
  void fill(bool every_slot = false);
  /// order() and, where a quota grew, fill().
  void set(const QuotaTable& quota);
  /// Quota 0 everywhere, and waits until every CTA is gone. The job can be set() again and goes on where it was.
  /// @return seconds from before the order was sent until the last CTA had left, and until its grids had ended
  struct Eviction {
    double last_cta = 0, grids = 0;
  };
  Eviction evict();
  /// Fills until as many CTAs are resident as the quotas allow, or no task is left. @return false when `limit` seconds were not
  /// enough
  bool settle(double limit = 0.05);
  /// Waits until every task is done, adding CTAs where some left too early. @throws GpuError after `limit` seconds or when it
  /// traps
  void finish(double limit);
  /// One step of finish(), which does not wait. @return all is done
  bool poll();
  [[nodiscard]] std::uint32_t watchdog_raises() const { return watchdog_.raises(); }  ///< see quota() for what came of it

  /// Runs all tasks from the start, on an idle job, under its present quotas, with CTAs launched once.
  /// @param empty  launches without tasks: CTAs take their slots, find nothing and leave. @pre all tasks are done
  /// @return seconds between device events around the launch
  double run_timed(bool empty = false);

  [[nodiscard]] JobState state();
  [[nodiscard]] std::uint32_t resident();  ///< CTAs that hold a slot: one word of state()
  [[nodiscard]] bool idle() const;         ///< no grid of the job is on the GPU
  /// Tasks of all launches.
  [[nodiscard]] std::uint64_t total() const { return kernel_.spec().blocks() * options_.passes * options_.launches; }
  [[nodiscard]] std::uint64_t done_total();  ///< tasks finished since the start
  void clear_placement();                    ///< forgets max_resident and the lifetimes; @pre idle
  /// Most CTAs on each SM at a time by the lifetime log, which shares nothing with the slots; empty when not logged or overflown.
  [[nodiscard]] std::vector<std::uint32_t> overlap_by_sm();
  /// Blocks that did not run exactly as often as asked. @pre count_runs
  [[nodiscard]] std::uint64_t blocks_with_wrong_count();
  [[nodiscard]] const PreparedKernel& kernel() const { return kernel_; }
  [[nodiscard]] const QuotaTable& quota() const { return quota_; }

 private:
  void launch(CUstream stream);
  void rewind();        // all tasks are to be claimed again
  void watch();         // raises quotas under which nothing moves
  void redistribute();  // unfinished tasks of slots without a quota go to slots that have one, as many as there are; @pre idle
  const PreparedKernel& kernel_;
  JobOptions options_;
  DeviceMemory control_, lifetimes_, runs_;
  PinnedMemory orders_, mirror_, gone_;
  StreamHandle copies_, counters_;
  std::vector<StreamHandle> streams_;
  SluiceJob job_{};
  QuotaTable quota_;
  std::uint32_t epoch_ = 0, launched_ = 0;
  std::uint64_t rounds_ = 0;  // of options_.launches that are done
  Watchdog watchdog_;
  Clock::time_point watched_{};
};

/// Most intervals open at a time, per SM. An interval that ends when another begins does not overlap it.
[[nodiscard]] std::vector<std::uint32_t> most_overlapping(const std::vector<SluiceLifetime>& lifetimes, std::uint32_t num_sms);

}  // namespace sluice::gpu
