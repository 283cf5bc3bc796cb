// SPDX-License-Identifier: Apache-2.0
#include "systemc/sm/ldst_unit.h"

#include <algorithm>

#include "systemc/memory/packet.h"

namespace sluice {

namespace {

/// Lines that one access looks up in a cycle. With sub-cores four, as NVIDIA says of the tag stage since GV100
/// (docs/user/machines.md).
std::uint32_t lookups_a_cycle(const SmConfig& config) { return config.sub_core.modelled ? 4 : 1; }

}  // namespace

LdstUnit::LdstUnit(const SmConfig& config, IOwner& owner, std::vector<KernelCounters>& counters)
    : config_(config),
      owner_(owner),
      counters_(counters),
      tags_(config.l1),
      mshrs_(config.l1.mshrs),
      queue_(config.ldst_queue),
      store_credits_(config.store_credits) {
  for (std::uint32_t i = config.l1.mshrs; i > 0; --i) free_mshrs_.push_back(i - 1);
}

std::vector<LineAccess>& LdstUnit::accept(const Instruction& instruction, const WarpTag& warp, std::uint8_t copy_group) {
  MemoryOp& slot = queue_[(head_ + queued_) % queue_.size()];
  slot.op = instruction.op;
  slot.warp = warp;
  slot.next = 0;
  slot.passes = instruction.interval;
  slot.bypass = instruction.bypass_l1 || instruction.op == OpClass::Atomic;
  slot.lines.clear();
  if (answers(slot.op)) {
    if (free_accesses_.empty()) {
      free_accesses_.push_back(static_cast<std::uint32_t>(accesses_.size()));
      accesses_.emplace_back();
    }
    slot.access = free_accesses_.back();
    free_accesses_.pop_back();
    accesses_[slot.access] = {warp,      1, instruction.dst, instruction.dst_count, instruction.timed, instruction.write_barrier,
                              copy_group};
  }
  return slot.lines;
}

void LdstUnit::accepted() {
  MemoryOp& slot = queue_[(head_ + queued_) % queue_.size()];
  if (is_global(slot.op) && answers(slot.op)) accesses_[slot.access].lines_left = static_cast<std::uint32_t>(slot.lines.size());
  ++queued_;
}

void LdstUnit::cycle(std::uint64_t now) {
  if (queued_ == 0) return;
  MemoryOp& op = queue_[head_];
  ++counters_[op.warp.kernel].ldst_busy;
  if (op.op == OpClass::Shared) {
    if (now < banks_free_) return;
    ++counters_[op.warp.kernel].shared_passes;
    if (--op.passes != 0) return;
    finish_line(op.access, now + config_.shared_latency);
    pop();
    return;
  }
  if (op.next == 0) {
    if (now < next_access_) return;
    began_ = now;
  }
  // With sub-cores the L1 has the scratchpad's banks: what a load finds there takes as many passes over them.
  const std::uint32_t passes = config_.sub_core.modelled && op.op == OpClass::Load ? op.passes : 1;
  for (std::uint32_t lookups = lookups_a_cycle(config_); lookups > 0; --lookups) {
    const LineAccess& line = op.lines[op.next];
    const Outcome outcome = op.op == OpClass::Store ? store(op, line) : load(op, line);
    stalled_ = outcome == Outcome::Hold;
    if (stalled_) return;
    if (outcome == Outcome::Hit) finish_line(op.access, std::max(now, began_ + passes - 1) + config_.l1.hit_latency);
    if (op.next == 0) next_access_ = now + std::max(config_.ldst_interval, passes);
    if (op.next == 0 && op.op == OpClass::Load && config_.sub_core.modelled) banks_free_ = now + passes;
    if (++op.next < op.lines.size()) continue;
    pop();
    return;
  }
}

LdstUnit::Outcome LdstUnit::store(MemoryOp& op, const LineAccess& line) {
  if (store_credits_ == 0) return Outcome::Hold;
  --store_credits_;
  ++counters_[op.warp.kernel].store_lines;
  if (config_.l1.store == StorePolicy::Evict) {
    CacheTags::Way* way = tags_.find(line.address / kLineBytes);
    if (way != nullptr && way->pending == 0) way->valid = config_.l1.sectored ? way->valid & ~line.sectors : 0;
  }
  owner_.send_line({line.address, line.sectors, true, false, op.warp.kernel, answers(op.op) ? op.access : kForL1, false,
                    line.whole, line.part_bytes});
  return Outcome::Sent;
}

LdstUnit::Outcome LdstUnit::load(MemoryOp& op, const LineAccess& access) {
  if (op.bypass) {
    const bool atomic = op.op == OpClass::Atomic;
    const bool no_result = atomic && accesses_[op.access].dst == kNoRegister;
    owner_.send_line({access.address, access.sectors, false, atomic, op.warp.kernel, op.access, no_result});
    return Outcome::Sent;
  }
  const std::uint64_t line = access.address / kLineBytes;
  const std::uint8_t need = config_.l1.sectored ? access.sectors : kAllSectors;
  KernelCounters& count = counters_[op.warp.kernel];
  CacheTags::Way* way = tags_.find(line);
  if (way != nullptr && (way->valid & need) == need) {
    ++count.l1_accesses;
    return Outcome::Hit;
  }
  if (way != nullptr && way->pending != 0) {  // the line is already on its way: merge
    if (mshrs_[way->mshr].size() >= config_.l1.mshr_merges) return Outcome::Hold;
  } else {
    if (free_mshrs_.empty()) return Outcome::Hold;
    if (way == nullptr) {
      way = tags_.victim(line);
      if (way == nullptr) return Outcome::Hold;
      tags_.assign(*way, line);
    }
    way->mshr = free_mshrs_.back();
    free_mshrs_.pop_back();
  }
  const auto missing = static_cast<std::uint8_t>(need & ~(way->valid | way->pending));
  ++count.l1_accesses;
  if (missing == 0) {
    ++count.l1_merges;
  } else {
    ++count.l1_misses;
    way->pending |= missing;
    owner_.send_line({access.address, missing, false, false, op.warp.kernel, kForL1});
  }
  mshrs_[way->mshr].push_back({op.access, need});
  return Outcome::Sent;
}

void LdstUnit::finish_line(std::uint32_t access, std::uint64_t cycle) {
  AccessInFlight& state = accesses_[access];
  if (--state.lines_left != 0) return;
  owner_.access_done(state, cycle);
  free_accesses_.push_back(access);
}

void LdstUnit::fill(std::uint64_t address, std::uint8_t sectors, std::uint64_t now) {
  CacheTags::Way* way = tags_.find(address / kLineBytes);
  way->valid |= sectors;
  way->pending &= static_cast<std::uint8_t>(~sectors);
  std::erase_if(mshrs_[way->mshr], [&](const Waiter& waiter) {
    if ((waiter.sectors & way->pending) != 0) return false;
    finish_line(waiter.access, now);
    return true;
  });
  if (way->pending == 0) free_mshrs_.push_back(way->mshr);
  stalled_ = false;
}

void LdstUnit::store_acknowledged() {
  ++store_credits_;
  stalled_ = false;
}

void LdstUnit::pop() {
  head_ = (head_ + 1) % queue_.size();
  --queued_;
  stalled_ = false;
}

}  // namespace sluice
