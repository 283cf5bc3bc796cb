// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sw/core/machine.h"
#include "sw/workload/i_instruction_source.h"
#include "systemc/sim/sim_clock.h"

namespace sluice {

/// Pipelines since Volta: each scheduler has its own. A multiply-add in single precision takes either half of the FMA pipeline, a
/// whole-number one the heavy half; everything else has a pipeline of its own, or needs none (control, uniform data path).
class SubCorePipes {
 public:
  explicit SubCorePipes(const SmConfig& config) : pipes_(config.sub_core.pipes), schedulers_(config.schedulers) {}

  void want(std::uint32_t scheduler, std::uint32_t lane, const Instruction& next) {
    const std::uint64_t me = std::uint64_t{1} << lane;
    Scheduler& s = schedulers_[scheduler];
    for (std::uint64_t& mask : s.wanted) mask &= ~me;
    s.wanted[index(pipe_of(next))] |= me;
  }
  [[nodiscard]] std::uint64_t want_memory(std::uint32_t scheduler) const {
    return schedulers_[scheduler].wanted[index(Pipe::Memory)];
  }
  [[nodiscard]] std::uint64_t open(std::uint32_t scheduler, std::uint64_t now, bool memory_full) const {
    const Scheduler& s = schedulers_[scheduler];
    std::uint64_t open = s.wanted[index(Pipe::None)];
    for (std::size_t p = 0; p < kPipes; ++p)
      if (s.wanted[p] != 0 && p != index(Pipe::Memory) && free_at(s, static_cast<Pipe>(p)) <= now) open |= s.wanted[p];
    if (!memory_full) open |= want_memory(scheduler);
    return open;
  }
  [[nodiscard]] std::uint64_t next_free(std::uint32_t scheduler, std::uint64_t ready, std::uint64_t now) const {
    const Scheduler& s = schedulers_[scheduler];
    std::uint64_t next = kNever;
    for (std::size_t p = 0; p < kPipes; ++p)
      if ((ready & s.wanted[p]) != 0 && p != index(Pipe::Memory))
        next = std::min(next, std::max(now + 1, free_at(s, static_cast<Pipe>(p))));
    return next;
  }
  /// @return cycle of its result
  std::uint64_t begin(std::uint32_t scheduler, const Instruction& instruction, std::uint64_t now) {
    const Pipe pipe = pipe_of(instruction);
    const PipeConfig& config = pipes_[index(pipe)];
    Scheduler& s = schedulers_[scheduler];
    const std::uint32_t held =
        pipe == Pipe::Tensor ? std::max<std::uint32_t>(config.interval, instruction.interval) : config.interval;
    const std::uint64_t until = now + held;
    if (pipe == Pipe::Fma) {
      (s.light <= now ? s.light : s.free[index(Pipe::Imad)]) = until;
    } else if (pipe != Pipe::None) {
      s.free[index(pipe)] = until;
    }
    return until - config.interval + config.latency;
  }

 private:
  struct Scheduler {
    std::array<std::uint64_t, kPipes> wanted{}, free{};  ///< by pipe; the heavy half of the FMA pipeline is Imad's
    std::uint64_t light = 0;                             ///< the light half
  };
  static constexpr std::size_t index(Pipe pipe) { return static_cast<std::size_t>(pipe); }
  static Pipe pipe_of(const Instruction& instruction) {
    switch (instruction.op) {
      case OpClass::Alu: return instruction.pipe;
      case OpClass::Sfu: return Pipe::Xu;
      case OpClass::Dp: return Pipe::Dp;
      case OpClass::Tensor: return Pipe::Tensor;
      default: return is_memory(instruction.op) ? Pipe::Memory : Pipe::None;
    }
  }
  [[nodiscard]] static std::uint64_t free_at(const Scheduler& s, Pipe pipe) {
    if (pipe == Pipe::Fma) return std::min(s.light, s.free[index(Pipe::Imad)]);
    return s.free[index(pipe)];
  }

  std::array<PipeConfig, kPipes> pipes_;
  std::vector<Scheduler> schedulers_;
};

}  // namespace sluice
