// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/scheduler/memory_scheduler.h"

namespace sluice {

/// Device memory and the bus to it.
struct DeviceMemory {
  std::uint64_t bytes = 0;    ///< above 0
  double bytes_a_second = 0;  ///< of each direction, above 0
  bool overlap = true;        ///< copies run beside kernels, one in each direction; false: alone, one at a time
};

/// Time that copies took, and the part of it in which CTAs were on the GPU.
struct CopyTimes {
  Time total{}, overlapped{};
};

/// The two copy engines of the fake executor, under Kernelet's memory command scheduler.
class FakeCopies {
 public:
  struct Begun {
    CopyCommand copy;
    Time end;
  };

  explicit FakeCopies(const DeviceMemory& memory) : memory_(memory), scheduler_(memory.bytes) {}
  [[nodiscard]] MemoryScheduler& scheduler() { return scheduler_; }

  /// Copies that begin now. @param gpu_busy  CTAs are on the GPU
  [[nodiscard]] std::vector<Begun> begin(Time now, bool gpu_busy);
  /// The copy that ends now in this direction. @return the jobs that are ready
  std::vector<JobId> end(CopyDirection direction);
  /// No CTA may begin: without overlap a copy is under way, or one waits while outputs or inputs are wanted. The GPU drains.
  [[nodiscard]] bool holds_gpu() const;
  /// Called before anything changes. @param gpu_busy  since `since`
  void account(Time since, Time now, bool gpu_busy);
  [[nodiscard]] const CopyTimes& times() const { return times_; }

 private:
  [[nodiscard]] bool wants_gpu() const;

  DeviceMemory memory_;
  MemoryScheduler scheduler_;
  std::array<std::optional<CopyCommand>, 2> engines_{};
  CopyTimes times_;
};

}  // namespace sluice
