// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/persistent_source.h"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

constexpr std::uint64_t kGpuWords = 1ULL << 58;  // the runtime's words in GPU memory
constexpr std::uint8_t kOneSector = 1;
constexpr double kChecksPerSlice = 10;  // r, section 6.3

// Length of the runtime, as the loop that Sluice puts around kernels on a GPU has it: about 13 instructions of every warp and 35
// of one thread a task (docs/user/schedulers.md).
constexpr std::uint32_t kEachAfterBarrier = 8, kLeaderBefore = 16, kLeaderAfter = 16;

}  // namespace

std::string_view to_string(Polling polling) {
  return polling == Polling::Basic ? "basic" : polling == Polling::Proxy ? "proxy" : "adaptive";
}

PersistentSource::PersistentSource(std::unique_ptr<IInstructionSource> tasks, const KernelDescriptor& kernel,
                                   std::uint32_t address_space, Setting setting)
    : source_(std::move(tasks)),
      setting_(std::move(setting)),
      tasks_(kernel.grid_ctas),
      host_word_(kHostMemory + std::uint64_t{address_space} * kLineBytes),
      counter_(kGpuWords + 2 * std::uint64_t{address_space} * kLineBytes),
      local_word_(counter_ + kLineBytes) {
  for (const bool leader : {false, true})
    for (const bool checks : {false, true})
      programs_[static_cast<std::size_t>(leader)][static_cast<std::size_t>(checks)] = program(leader, checks);
  const std::uint8_t first = first_register();
  const auto add = [this](OpClass op, std::uint8_t dst, std::uint8_t src) {
    Instruction instruction;
    instruction.op = op;
    instruction.dst = dst;
    instruction.src[0] = src;
    instruction.active_lanes = 1;
    instruction.bypass_l1 = true;
    proxy_.push_back(instruction);
  };
  add(OpClass::Load, first, kNoRegister);  // kState in host memory
  add(OpClass::Alu, kNoRegister, first);
  add(OpClass::Load, first + 1, kNoRegister);  // the counter
  add(OpClass::Alu, kNoRegister, first + 1);
  add(OpClass::Store, kNoRegister, first);  // the copy of kState
}

PersistentSource::Program PersistentSource::program(bool leader, bool checks) const {
  const std::uint8_t first = first_register();
  const std::uint8_t flag = first, claimed = first + 1, task = first + 2, scratch = first + 3;
  Program made;
  const auto add = [&](OpClass op, std::uint8_t dst, std::uint8_t src, std::uint8_t lanes) {
    Instruction instruction;
    instruction.op = op;
    instruction.dst = dst;
    instruction.src[0] = src;
    instruction.active_lanes = lanes;
    instruction.bypass_l1 = op == OpClass::Load;  // the flag changes under the L1
    made.code.push_back(instruction);
  };
  // Index arithmetic: each needs the result of the last but one.
  const auto arithmetic = [&](std::uint32_t count, std::uint8_t lanes) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto dst = static_cast<std::uint8_t>(scratch + i % 2);
      add(OpClass::Alu, dst, dst, lanes);
    }
  };
  const auto here = [&] { return static_cast<std::uint32_t>(made.code.size()); };
  if (checks) {
    add(OpClass::Load, flag, kNoRegister, kWarpSize);
    add(OpClass::Alu, kNoRegister, flag, kWarpSize);
    made.flag_known = here();
  }
  if (leader) {
    arithmetic(kLeaderBefore, 1);
    add(OpClass::Atomic, claimed, kNoRegister, 1);
    add(OpClass::Alu, kNoRegister, claimed, 1);
    made.claimed = here();
    arithmetic(kLeaderAfter, 1);
    add(OpClass::Shared, kNoRegister, kNoRegister, 1);
  }
  made.barrier = here();
  add(OpClass::Barrier, kNoRegister, kNoRegister, kWarpSize);
  add(OpClass::Shared, task, kNoRegister, kWarpSize);
  add(OpClass::Alu, kNoRegister, task, kWarpSize);
  arithmetic(kEachAfterBarrier, kWarpSize);
  return made;
}

std::uint32_t PersistentSource::begin_launch(std::uint32_t most) {
  evicted_at_ = std::numeric_limits<std::uint64_t>::max();
  local_flag_ = false;
  proxy_is_next_ = setting_.polling != Polling::Basic && most > 1;
  return std::min(most, tasks_ - begun_ + (proxy_is_next_ ? 1 : 0));
}

std::uint32_t PersistentSource::check_interval() const {
  if (setting_.polling != Polling::Adaptive || first_rounds_ == 0) return 1;
  const double length = static_cast<double>(first_rounds_cycles_) / static_cast<double>(first_rounds_);
  const double k = static_cast<double>(setting_.slice_cycles) / (kChecksPerSlice * std::max(1.0, length));
  return static_cast<std::uint32_t>(std::clamp(k, 1.0, 1e9));
}

std::uint32_t PersistentSource::begin_cta(std::uint32_t) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(ctas_.size()));
    ctas_.emplace_back();
  }
  const std::uint32_t handle = free_.back();
  free_.pop_back();
  ctas_[handle] = {};
  ctas_[handle].proxy = std::exchange(proxy_is_next_, false);
  return handle;
}

void PersistentSource::end_cta(std::uint32_t handle) {
  for (Round& round : ctas_[handle].rounds)
    if (round.task != kNone) source_->end_cta(round.handle);
  ctas_[handle] = {};
  free_.push_back(handle);
}

bool PersistentSource::host_flag_seen() const {
  // An answer that is here now left host memory half a read ago.
  const std::uint64_t now = setting_.now();
  return now >= setting_.host_delay && now - setting_.host_delay >= evicted_at_;
}

void PersistentSource::begin_round(Cta& cta, std::uint32_t round) const {
  if (cta.rounds_begun > round) return;
  const std::uint64_t now = setting_.now();
  if (round == 0) cta.began_at = now;
  if (round == 1) {
    ++first_rounds_;
    first_rounds_cycles_ += now - cta.began_at;
  }
  Round& fresh = cta.rounds[round % 2];
  if (fresh.task != kNone) source_->end_cta(fresh.handle);  // of two rounds ago: every warp has left it
  fresh = {round % check_interval() == 0, false, kNone, 0};
  cta.rounds_begun = round + 1;
}

void PersistentSource::claim(Round& round) const {
  if (begun_ == tasks_) return;
  round.task = begun_++;
  round.handle = source_->begin_cta(round.task);
}

const PersistentSource::Program& PersistentSource::program_of(const WarpCursor& cursor) const {
  const Round& round = ctas_[cursor.handle].rounds[cursor.round / 2 % 2];
  return programs_[static_cast<std::size_t>(cursor.warp == 0)][static_cast<std::size_t>(round.checks)];
}

Instruction PersistentSource::next(WarpCursor& cursor) const {
  if (ctas_[cursor.handle].proxy) return next_of_proxy(cursor);
  return cursor.round % 2 == 0 ? next_of_runtime(cursor) : next_of_task(cursor);
}

/// `round` 2 n: between the tasks of rounds n - 1 and n.
Instruction PersistentSource::next_of_runtime(WarpCursor& cursor) const {
  Cta& cta = ctas_[cursor.handle];
  const std::uint32_t n = cursor.round / 2;
  if (cursor.position == 0) begin_round(cta, n);
  Round& round = cta.rounds[n % 2];
  const Program& program = program_of(cursor);
  const bool leader = cursor.warp == 0;
  if (leader && cursor.position == program.flag_known) {
    round.leaves = setting_.polling == Polling::Basic ? host_flag_seen() : local_flag_;
    if (round.leaves) cursor.position = program.barrier;
  }
  if (leader && cursor.position == program.claimed && round.task == kNone) claim(round);
  if (cursor.position == program.barrier + 1 && cta.released == n) {
    ++cta.released;
    if (n > 0) ++ended_;  // all have left the task of the round before
  }
  if (cursor.position < program.code.size()) return program.code[cursor.position++];
  if (round.task == kNone) return {};
  cursor = {cursor.cta, cursor.warp, 0, cursor.handle, 0, 0, 0, cursor.round + 1};
  return next_of_task(cursor);
}

WarpCursor PersistentSource::task_cursor(const WarpCursor& cursor) const {
  const Round& round = ctas_[cursor.handle].rounds[cursor.round / 2 % 2];
  return {round.task, cursor.warp, cursor.position, round.handle, cursor.lines_begin, cursor.lines_end, cursor.stage};
}

/// `round` 2 n + 1: the task of round n.
Instruction PersistentSource::next_of_task(WarpCursor& cursor) const {
  WarpCursor inner = task_cursor(cursor);
  const Instruction instruction = source_->next(inner);
  if (instruction.op == OpClass::Exit) {
    ++cursor.round;
    cursor.position = 0;
    return next_of_runtime(cursor);
  }
  cursor.position = inner.position;
  cursor.lines_begin = inner.lines_begin;
  cursor.lines_end = inner.lines_end;
  cursor.stage = inner.stage;
  return instruction;
}

/// A round a poll; one warp does it (figure 8).
Instruction PersistentSource::next_of_proxy(WarpCursor& cursor) const {
  constexpr std::uint32_t kFlagKnown = 2, kCounterKnown = 4;
  Cta& cta = ctas_[cursor.handle];
  if (cursor.warp != 0) return {};
  if (cursor.position == kFlagKnown && cta.polls == cursor.round) {
    ++cta.polls;
    cta.sees_flag = host_flag_seen();
  }
  if (cursor.position == kCounterKnown) {
    cta.ends = cta.ends || cta.sees_flag || all_begun();
    if (!cta.ends) {
      ++cursor.round;
      cursor.position = 0;
    } else if (cta.sees_flag) {
      local_flag_ = true;
    } else {
      return {};
    }
  }
  return cursor.position < proxy_.size() ? proxy_[cursor.position++] : Instruction{};
}

void PersistentSource::lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const {
  if (ctas_[cursor.handle].proxy) {
    const bool host = position == 0, counter = position == 2;
    lines.push_back({host ? host_word_ : counter ? counter_ : local_word_, kOneSector});
  } else if (cursor.round % 2 != 0) {
    source_->lines(task_cursor(cursor), position, lines);
  } else if (program_of(cursor).code[position].op == OpClass::Atomic) {
    lines.push_back({counter_, kOneSector});
  } else {
    lines.push_back({setting_.polling == Polling::Basic ? host_word_ : local_word_, kOneSector});
  }
}

}  // namespace sluice
