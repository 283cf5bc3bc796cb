// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/machine.h"
#include "sw/workload/i_instruction_source.h"
#include "systemc/memory/cache_tags.h"
#include "systemc/sim/sim_clock.h"
#include "systemc/sm/copy_groups.h"

namespace sluice {

/// A warp of the SM as its memory accesses know it.
struct WarpTag {
  std::uint32_t slot = 0;
  std::uint64_t generation = 0;  ///< of that slot: a killed warp's loads write nothing
  std::uint32_t kernel = 0;
};

/// A memory instruction in flight: the destination it will write, and how many of its lines are still on their way.
struct AccessInFlight {
  WarpTag warp;
  std::uint32_t lines_left = 0;
  std::uint8_t dst = kNoRegister, dst_count = 1;
  bool timed = false;  ///< its barrier counts, not its destination
  std::uint8_t barrier = Instruction::kNoBarrier;
  std::uint8_t copy_group = CopyGroups::kNone;
};

/// A line on its way to L2.
struct LineRequest {
  std::uint64_t address = 0;
  std::uint8_t sectors = 0;
  bool write = false, atomic = false;
  std::uint32_t kernel = 0;
  std::uint32_t waiter = 0;                  ///< PacketInfo::waiter
  bool no_result = false;                    ///< PacketInfo::no_result
  std::uint8_t whole = 0xf, part_bytes = 0;  ///< of a write, as in LineAccess
};

/// LDST pipeline and L1 of one SM: one line, or one pass over the scratchpad's banks, a cycle, in order; with sub-cores four
/// lines of one access, whose data lie in the scratchpad's banks. Loads look up the L1 (allocate on miss, MSHR merging; whole
/// lines or sectors); stores write through within a number of credits and evict or update the line; atomics and uncached loads go
/// to L2. What can't go on this cycle (no MSHR, every way of the set awaited, no store credit) holds the pipeline.
class LdstUnit {
 public:
  /// What the unit needs from its SM.
  class IOwner {
   public:
    virtual ~IOwner() = default;
    virtual void access_done(const AccessInFlight& access, std::uint64_t cycle) = 0;
    virtual void send_line(const LineRequest& request) = 0;
  };

  LdstUnit(const SmConfig& config, IOwner& owner, std::vector<KernelCounters>& counters);

  [[nodiscard]] bool full() const { return queued_ == queue_.size(); }
  [[nodiscard]] bool occupied() const { return queued_ != 0; }
  [[nodiscard]] bool stalled() const { return stalled_; }  ///< memory holds the head: no MSHR, no way, no store credit
  [[nodiscard]] std::uint32_t head_kernel() const { return queue_[head_].warp.kernel; }
  /// The warp waits for this instruction before it can end (and, if it has one, for its destination).
  [[nodiscard]] bool answers(OpClass op) const { return op != OpClass::Store || config_.cta_waits_for_stores; }

  /// Takes an issued memory instruction. The caller fills the lines it touches (none for scratchpad), then calls accepted().
  /// @param copy_group  of an asynchronous copy
  /// @pre !full()
  std::vector<LineAccess>& accept(const Instruction& instruction, const WarpTag& warp, std::uint8_t copy_group);
  void accepted();
  void cycle(std::uint64_t now);
  void fill(std::uint64_t address, std::uint8_t sectors, std::uint64_t now);            ///< sectors of an L1 miss came back
  void answered(std::uint32_t access, std::uint64_t now) { finish_line(access, now); }  ///< a line that had a waiter of its own
  void store_acknowledged();

 private:
  struct MemoryOp {
    OpClass op = OpClass::Load;
    WarpTag warp;
    std::uint32_t access = 0;  ///< index into accesses_
    bool bypass = false;       ///< L2 only
    std::size_t next = 0;      ///< next line to look up
    std::uint32_t passes = 1;  ///< over the scratchpad banks, still to do; of a load, all
    std::vector<LineAccess> lines;
  };
  struct Waiter {
    std::uint32_t access;
    std::uint8_t sectors;
  };

  enum class Outcome : std::uint8_t { Hold, Hit, Sent };
  Outcome load(MemoryOp& op, const LineAccess& line);
  Outcome store(MemoryOp& op, const LineAccess& line);
  void finish_line(std::uint32_t access, std::uint64_t cycle);
  void pop();

  SmConfig config_;
  IOwner& owner_;
  std::vector<KernelCounters>& counters_;
  CacheTags tags_;
  std::vector<std::vector<Waiter>> mshrs_;  ///< accesses that wait for each line with pending sectors
  std::vector<std::uint32_t> free_mshrs_;
  std::vector<MemoryOp> queue_;  ///< ring
  std::size_t head_ = 0, queued_ = 0;
  std::vector<AccessInFlight> accesses_;
  std::vector<std::uint32_t> free_accesses_;
  std::uint32_t store_credits_;
  std::uint64_t next_access_ = 0;  ///< cycle from which the next global access can begin
  std::uint64_t began_ = 0;        ///< cycle of the first lookup of the global access at the head
  std::uint64_t banks_free_ = 0;   ///< with sub-cores: cycle from which no load before is at the banks
  bool stalled_ = false;
};

}  // namespace sluice
