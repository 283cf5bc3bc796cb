// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/scheduler/job.h"

namespace sluice {

/// What a kernel moves over PCIe.
struct MemoryDemand {
  std::uint64_t in_bytes = 0, out_bytes = 0;  ///< copied before it begins, and after it ended
  KernelType type = KernelType::Compute;
  std::optional<std::uint32_t> program{};  ///< kernels of one program keep their order; none: a program of its own
};

/// @throws InputError when inputs and outputs together exceed the device's memory
void check_fits(std::uint64_t device_bytes, const MemoryDemand& demand);

enum class CopyDirection { ToDevice, FromDevice };

struct CopyCommand {
  JobId job;
  CopyDirection direction;
  std::uint64_t bytes;
};

/// Kernelet's memory command scheduler: which copy each of the two engines begins next, so that the bus is busy and kernels of
/// both kinds are ready. A job waits until its inputs are on the device, its outputs have room there, and those before it in its
/// program are done; then it is ready. Its inputs leave when it ends, its outputs when they are copied out. Pure, as the
/// schedulers are.
///
/// The paper prints the two queues and the states (sections 2.2 and 3); its appendix with the order of copies is not at hand.
/// Here: to the device goes, of the jobs whose inputs fit into free memory, one of the type of which fewer are ready; of these
/// the one with the fewest bytes; of equals the oldest. Room for outputs is taken when the inputs are there. Where there is none,
/// no other inputs come: so one job at most lacks room, all others end without it, and then it has what it needs. From the device
/// goes the job that ended first.
class MemoryScheduler {
 public:
  /// @param device_bytes  of device memory, for inputs and outputs
  explicit MemoryScheduler(std::uint64_t device_bytes) : device_bytes_(device_bytes), free_bytes_(device_bytes) {}

  /// @throws InputError as check_fits; std::logic_error when it is there already
  void arrive(JobId job, const MemoryDemand& demand);
  /// What the idle engine of a direction does next; it is under way until ended(). Nothing: memory is full, or nobody waits.
  [[nodiscard]] std::optional<CopyCommand> begin(CopyDirection direction);
  /// @return the jobs that are ready now. @throws std::logic_error when the copy is not under way
  std::vector<JobId> ended(const CopyCommand& copy);
  /// Its last task ended. @return the jobs that are ready now. @throws std::logic_error when it was not ready
  std::vector<JobId> kernel_done(JobId job);

  [[nodiscard]] std::size_t ready() const;  ///< jobs whose kernels may run, or do
  [[nodiscard]] bool can_begin(CopyDirection direction) const;
  [[nodiscard]] std::uint64_t free_bytes() const { return free_bytes_; }

 private:
  /// Loaded: the inputs are there. Placed: the outputs have room as well.
  enum class State { Waiting, CopyIn, Loaded, Placed, Ready, WaitsOut, CopyOut };
  struct Entry {
    JobId job;
    MemoryDemand demand;
    State state = State::Waiting;
  };
  [[nodiscard]] std::size_t find(JobId job, State state) const;
  [[nodiscard]] bool leads(std::size_t place, State at_least) const;
  [[nodiscard]] std::size_t next(CopyDirection direction) const;
  [[nodiscard]] std::vector<JobId> make_ready();
  void release(std::size_t place);

  std::uint64_t device_bytes_, free_bytes_;
  std::vector<Entry> entries_;  ///< not yet terminated, in order of arrival
  std::vector<JobId> done_;     ///< whose outputs wait, in the order in which they ended
};

}  // namespace sluice
