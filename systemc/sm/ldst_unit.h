#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "sw/core/machine.h"
#include "sw/device/i_device.h"
#include "sw/workload/i_instruction_source.h"
#include "systemc/memory/cache_tags.h"

namespace sluice {

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// A load in flight: the destination it will write, and how many of its lines are still on their way.
struct LoadInFlight {
  std::uint32_t warp = 0;        ///< warp slot of the SM
  std::uint64_t generation = 0;  ///< of that slot: a killed warp's loads write nothing
  std::uint32_t lines_left = 0;
  std::uint8_t dst = kNoRegister, dst_count = 1;
};

/// LDST pipeline and L1 of one SM: one line (or scratchpad access) a cycle, in order. Loads look up the L1 (allocate on miss,
/// MSHR merging); stores write through and evict, as Fermi's global stores do, within a number of credits.
/// What can't go on this cycle (no MSHR, every way of the set reserved, no store credit) holds the pipeline.
class LdstUnit {
 public:
  /// What the unit needs from its SM.
  class IOwner {
   public:
    virtual ~IOwner() = default;
    virtual void load_done(const LoadInFlight& load, std::uint64_t cycle) = 0;
    /// @param load  kNoLoad for a line of the L1; else the answer goes to bypass_done(load)
    virtual void send_line(std::uint64_t line, bool write, std::uint32_t kernel, std::uint32_t load) = 0;
  };

  LdstUnit(const SmConfig& config, IOwner& owner, std::vector<KernelCounters>& counters);

  [[nodiscard]] bool full() const { return queued_ == queue_.size(); }
  [[nodiscard]] bool occupied() const { return queued_ != 0; }
  [[nodiscard]] bool stalled() const { return stalled_; }
  [[nodiscard]] std::uint32_t head_kernel() const { return queue_[head_].kernel; }

  /// Takes an issued memory instruction. The caller fills the lines it touches (none for scratchpad).
  /// @pre !full()
  std::vector<LineAccess>& accept(OpClass op, std::uint32_t kernel, std::uint32_t warp, std::uint64_t generation,
                                  std::uint8_t dst, std::uint8_t dst_count, std::uint8_t passes, bool bypass);
  /// After the caller filled the lines of the accepted instruction.
  void accepted();
  void cycle(std::uint64_t now);
  void fill(std::uint64_t line, std::uint64_t now);  ///< an L1 miss came back
  void bypass_done(std::uint32_t load, std::uint64_t now) { finish_line(load, now); }
  void store_acknowledged();

 private:
  struct MemoryOp {
    OpClass op = OpClass::Load;
    std::uint32_t kernel = 0;
    std::uint32_t load = 0;    ///< index into loads_
    bool bypass = false;       ///< L2 only
    std::size_t next = 0;      ///< next line to look up
    std::uint32_t passes = 1;  ///< over the scratchpad banks, still to do
    std::vector<LineAccess> lines;
  };

  enum class Outcome : std::uint8_t { Hold, Hit, Sent };
  Outcome load(MemoryOp& op, std::uint64_t line_address);
  Outcome store(MemoryOp& op, std::uint64_t line_address);
  void finish_line(std::uint32_t load, std::uint64_t cycle);
  void pop();

  SmConfig config_;
  IOwner& owner_;
  std::vector<KernelCounters>& counters_;
  CacheTags tags_;
  std::vector<std::vector<std::uint32_t>> mshrs_;  ///< loads that wait for each outstanding line
  std::vector<std::uint32_t> free_mshrs_;
  std::vector<MemoryOp> queue_;  ///< ring
  std::size_t head_ = 0, queued_ = 0;
  std::vector<LoadInFlight> loads_;
  std::vector<std::uint32_t> free_loads_;
  std::uint32_t store_credits_;
  bool stalled_ = false;
};

}  // namespace sluice
