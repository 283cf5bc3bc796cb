// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/machine.h"
#include "sw/workload/i_instruction_source.h"
#include "systemc/sim/sim_clock.h"
#include "systemc/sm/sub_core_pipes.h"

namespace sluice {

/// The ALU, SFU, double-precision and tensor pipelines of an SM as busy-until times, and which of them each warp's next
/// instruction wants: choosing among all warps of a scheduler is a few operations on bit masks. Warps are bits (lanes) of their
/// scheduler.
class Pipelines {
 public:
  explicit Pipelines(const SmConfig& config)
      : alu_latency_(config.alu_latency),
        sfu_{config.sfu_interval, config.sfu_latency},
        dp_{config.dp_interval, config.dp_latency},
        tensor_{config.tensor_interval, config.tensor_latency},
        wanted_(config.schedulers),
        alu_free_(config.alu_pipes) {
    if (config.sub_core.modelled) sub_cores_.emplace(config);
  }

  /// The next instruction of this warp.
  void want(std::uint32_t scheduler, std::uint32_t lane, const Instruction& next) {
    if (sub_cores_) return sub_cores_->want(scheduler, lane, next);
    const OpClass op = next.op;
    Wanted& wanted = wanted_[scheduler];
    const std::uint64_t me = std::uint64_t{1} << lane;
    const auto set = [me](std::uint64_t& mask, bool yes) { mask = yes ? mask | me : mask & ~me; };
    set(wanted.alu, op == OpClass::Alu);
    set(wanted.sfu, op == OpClass::Sfu);
    set(wanted.dp, op == OpClass::Dp);
    set(wanted.tensor, op == OpClass::Tensor);
    set(wanted.memory, is_memory(op));
  }
  /// Lanes whose next instruction finds its pipeline free; barriers need none.
  [[nodiscard]] std::uint64_t open(std::uint32_t scheduler, std::uint64_t now, bool memory_full) const {
    if (sub_cores_) return sub_cores_->open(scheduler, now, memory_full);
    const Wanted& wanted = wanted_[scheduler];
    std::uint64_t open = ~(wanted.alu | wanted.sfu | wanted.dp | wanted.tensor | wanted.memory);
    if (std::ranges::any_of(alu_free_, [now](std::uint64_t free) { return free <= now; })) open |= wanted.alu;
    if (sfu_.free <= now) open |= wanted.sfu;
    if (dp_.free <= now) open |= wanted.dp;
    if (tensor_.free <= now) open |= wanted.tensor;
    if (!memory_full) open |= wanted.memory;
    return open;
  }
  /// Lanes whose next instruction goes to the LDST queue.
  [[nodiscard]] std::uint64_t want_memory(std::uint32_t scheduler) const {
    return sub_cores_ ? sub_cores_->want_memory(scheduler) : wanted_[scheduler].memory;
  }
  /// First cycle after `now` in which one of these ready warps may find its pipeline free; kNever: none waits for one of ours.
  [[nodiscard]] std::uint64_t next_free(std::uint32_t scheduler, std::uint64_t ready, std::uint64_t now) const {
    if (sub_cores_) return sub_cores_->next_free(scheduler, ready, now);
    const Wanted& wanted = wanted_[scheduler];
    std::uint64_t next = kNever;
    if ((ready & wanted.alu) != 0) next = std::max(now + 1, *std::ranges::min_element(alu_free_));
    if ((ready & wanted.sfu) != 0) next = std::min(next, std::max(now + 1, sfu_.free));
    if ((ready & wanted.dp) != 0) next = std::min(next, std::max(now + 1, dp_.free));
    if ((ready & wanted.tensor) != 0) next = std::min(next, std::max(now + 1, tensor_.free));
    return next;
  }
  /// Begins an instruction of these pipelines and counts it. @return cycle of its result
  std::uint64_t begin(std::uint32_t scheduler, const Instruction& instruction, std::uint64_t now, KernelCounters& count) {
    const std::uint64_t result = begin_and_count(instruction, now, count);
    return sub_cores_ ? sub_cores_->begin(scheduler, instruction, now) : result;
  }

 private:
  std::uint64_t begin_and_count(const Instruction& instruction, std::uint64_t now, KernelCounters& count) {
    switch (instruction.op) {
      case OpClass::Alu:
        *std::ranges::min_element(alu_free_) = now + instruction.interval;
        count.alu_busy += instruction.interval;
        count.alu_lanes += instruction.active_lanes;
        return now + alu_latency_ + instruction.interval - 1;
      case OpClass::Sfu:
        count.sfu_busy += sfu_.interval;
        count.sfu_lanes += instruction.active_lanes;
        return sfu_.begin(now);
      case OpClass::Dp: count.dp_lanes += instruction.active_lanes; return dp_.begin(now);
      case OpClass::Tensor: count.tensor_lanes += instruction.active_lanes; return tensor_.begin(now);
      default: return 0;
    }
  }

  struct Pipeline {
    std::uint32_t interval, latency;  ///< cycles
    std::uint64_t free = 0;
    std::uint64_t begin(std::uint64_t now) {
      free = now + interval;
      return now + latency;
    }
  };
  struct Wanted {
    std::uint64_t alu = 0, sfu = 0, dp = 0, tensor = 0, memory = 0;
  };

  std::uint32_t alu_latency_;
  Pipeline sfu_, dp_, tensor_;
  std::vector<Wanted> wanted_;           ///< by scheduler
  std::vector<std::uint64_t> alu_free_;  ///< by pipe
  std::optional<SubCorePipes> sub_cores_;
};

}  // namespace sluice
