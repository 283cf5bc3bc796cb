// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sw/core/counters.h"
#include "systemc/sm/warp_scheduler.h"

namespace sluice {

/// Why an SM issues nothing (Warped-Slicer figure 1), for all its warps together and for every kernel's: the state that most of a
/// group's warps are in. A cycle in which its ready warps found their pipelines taken is an execution-resource stall, but for an
/// LDST queue that memory holds (no MSHR, no way, no store credit): when most of the ready warps want that, it is long memory
/// latency. The paper leaves this open (docs/user/machines.md). Without warps a group is idle.
class StallBreakdown {
 public:
  enum class Reason : std::uint8_t { LongMemory, ExecutionResource, Raw, InstructionBuffer, Barrier, Idle };
  enum class Wait : std::uint8_t { Load, Barrier };
  using Lanes = std::array<std::uint64_t, kMaxSchedulers>;  ///< by scheduler: bits of warps

  StallBreakdown(std::size_t kernels, std::uint32_t schedulers) : schedulers_(schedulers), of_kernel_(kernels) {}

  void warp_begins(std::uint32_t kernel, std::uint32_t scheduler, std::uint32_t lane) { live(kernel, scheduler, lane, 1); }
  void warp_ends(std::uint32_t kernel, std::uint32_t scheduler, std::uint32_t lane) { live(kernel, scheduler, lane, ~0U); }
  void wait_begins(std::uint32_t kernel, Wait what) { waiting(kernel, what, 1); }
  void wait_ends(std::uint32_t kernel, Wait what) { waiting(kernel, what, ~0U); }

  /// Finds each group's reason for the cycles from now on.
  /// @param held  by scheduler: ready warps that wait for an LDST queue which memory holds
  /// @return true: lack_of_instruction() is to be called for every warp that has its operands but not its next instruction
  bool classify(const std::vector<WarpScheduler>& schedulers, const Lanes& held) {
    bool unsure = false;
    const auto find = [&](Group& group) {
      group.reason = reason(group, schedulers, held);
      unsure |= group.reason == Reason::Raw;
    };
    find(all_);
    for (Group& group : of_kernel_) find(group);
    return unsure;
  }
  void lack_of_instruction(std::uint32_t kernel) {
    for (Group* group : {&all_, &of_kernel_[kernel]}) {
      if (group->reason == Reason::Raw) group->reason = Reason::InstructionBuffer;
    }
  }
  void count(std::uint64_t cycles) {
    all_.cycles[static_cast<std::size_t>(all_.reason)] += cycles;
    for (Group& group : of_kernel_) group.cycles[static_cast<std::size_t>(group.reason)] += cycles;
  }

  [[nodiscard]] Reason reason() const { return all_.reason; }
  [[nodiscard]] StallCycles cycles() const { return by_name(all_); }
  [[nodiscard]] StallCycles cycles(std::uint32_t kernel) const { return by_name(of_kernel_[kernel]); }

 private:
  struct Group {
    std::uint32_t live = 0, waiting_for_load = 0, at_barrier = 0;
    Lanes lanes{};                 ///< its live warps
    Reason reason = Reason::Idle;  ///< of the cycles since the last classify()
    std::array<std::uint64_t, 6> cycles{};
  };

  [[nodiscard]] Reason reason(const Group& group, const std::vector<WarpScheduler>& schedulers, const Lanes& held) const {
    if (group.live == 0) return Reason::Idle;
    int ready = 0, held_by_memory = 0;
    for (std::uint32_t s = 0; s < schedulers_; ++s) {
      ready += std::popcount(schedulers[s].ready() & group.lanes[s]);
      held_by_memory += std::popcount(held[s] & group.lanes[s]);
    }
    if (ready != 0) return 2 * held_by_memory > ready ? Reason::LongMemory : Reason::ExecutionResource;
    if (2 * group.waiting_for_load >= group.live) return Reason::LongMemory;
    if (2 * group.at_barrier >= group.live) return Reason::Barrier;
    return Reason::Raw;
  }
  void live(std::uint32_t kernel, std::uint32_t scheduler, std::uint32_t lane, std::uint32_t change) {
    for (Group* group : {&all_, &of_kernel_[kernel]}) {
      group->live += change;
      group->lanes[scheduler] ^= std::uint64_t{1} << lane;
    }
  }
  void waiting(std::uint32_t kernel, Wait what, std::uint32_t change) {
    for (Group* group : {&all_, &of_kernel_[kernel]})
      (what == Wait::Load ? group->waiting_for_load : group->at_barrier) += change;
  }
  static StallCycles by_name(const Group& group) {
    const auto& c = group.cycles;
    return {c[0], c[1], c[2], c[3], c[4], c[5]};
  }

  std::uint32_t schedulers_;
  Group all_;
  std::vector<Group> of_kernel_;
};

}  // namespace sluice
