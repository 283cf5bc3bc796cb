#include "systemc/sm/ldst_unit.h"

#include "systemc/memory/packet.h"

namespace sluice {

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

std::vector<LineAccess>& LdstUnit::accept(OpClass op, std::uint32_t kernel, std::uint32_t warp, std::uint64_t generation,
                                          std::uint8_t dst, std::uint8_t dst_count, std::uint8_t passes, bool bypass) {
  MemoryOp& slot = queue_[(head_ + queued_) % queue_.size()];
  slot.op = op;
  slot.kernel = kernel;
  slot.next = 0;
  slot.passes = passes;
  slot.bypass = bypass || op == OpClass::Atomic;
  slot.lines.clear();
  if (op != OpClass::Store) {
    if (free_loads_.empty()) {
      free_loads_.push_back(static_cast<std::uint32_t>(loads_.size()));
      loads_.emplace_back();
    }
    slot.load = free_loads_.back();
    free_loads_.pop_back();
    loads_[slot.load] = {warp, generation, 1, dst, dst_count};
  }
  return slot.lines;
}

void LdstUnit::accepted() {
  MemoryOp& slot = queue_[(head_ + queued_) % queue_.size()];
  if (is_global(slot.op) && slot.op != OpClass::Store)
    loads_[slot.load].lines_left = static_cast<std::uint32_t>(slot.lines.size());
  ++queued_;
}

void LdstUnit::cycle(std::uint64_t now) {
  if (queued_ == 0) return;
  MemoryOp& op = queue_[head_];
  ++counters_[op.kernel].ldst_busy;
  if (op.op == OpClass::Shared) {
    if (--op.passes != 0) return;
    finish_line(op.load, now + config_.shared_latency);
    pop();
    return;
  }
  const std::uint64_t address = op.lines[op.next].address;
  const Outcome outcome = op.op == OpClass::Store ? store(op, address) : load(op, address);
  stalled_ = outcome == Outcome::Hold;
  if (stalled_) return;
  if (outcome == Outcome::Hit) finish_line(op.load, now + config_.l1.hit_latency);
  if (++op.next == op.lines.size()) pop();
}

LdstUnit::Outcome LdstUnit::store(MemoryOp& op, std::uint64_t line_address) {
  if (store_credits_ == 0) return Outcome::Hold;
  --store_credits_;
  CacheTags::Way* way = tags_.find(line_address / kLineBytes);
  if (way != nullptr && way->state == CacheTags::State::Valid) way->state = CacheTags::State::Invalid;
  owner_.send_line(line_address, true, op.kernel, kNoLoad);
  return Outcome::Sent;
}

LdstUnit::Outcome LdstUnit::load(MemoryOp& op, std::uint64_t line_address) {
  if (op.bypass) {
    owner_.send_line(line_address, false, op.kernel, op.load);
    return Outcome::Sent;
  }
  const std::uint64_t line = line_address / kLineBytes;
  KernelCounters& count = counters_[op.kernel];
  CacheTags::Way* way = tags_.find(line);
  if (way != nullptr && way->state == CacheTags::State::Valid) {
    ++count.l1_accesses;
    return Outcome::Hit;
  }
  if (way != nullptr) {  // already on its way: merge
    if (mshrs_[way->mshr].size() >= config_.l1.mshr_merges) return Outcome::Hold;
  } else {
    if (free_mshrs_.empty()) return Outcome::Hold;
    way = tags_.victim(line);
    if (way == nullptr) return Outcome::Hold;
    tags_.fill(*way, line, CacheTags::State::Reserved);
    way->mshr = free_mshrs_.back();
    free_mshrs_.pop_back();
    owner_.send_line(line_address, false, op.kernel, kNoLoad);
  }
  mshrs_[way->mshr].push_back(op.load);
  ++count.l1_accesses;
  ++count.l1_misses;
  return Outcome::Sent;
}

void LdstUnit::finish_line(std::uint32_t load, std::uint64_t cycle) {
  LoadInFlight& state = loads_[load];
  if (--state.lines_left != 0) return;
  owner_.load_done(state, cycle);
  free_loads_.push_back(load);
}

void LdstUnit::fill(std::uint64_t line_address, std::uint64_t now) {
  CacheTags::Way* way = tags_.find(line_address / kLineBytes);
  way->state = CacheTags::State::Valid;
  for (const std::uint32_t load : mshrs_[way->mshr]) finish_line(load, now);
  mshrs_[way->mshr].clear();
  free_mshrs_.push_back(way->mshr);
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
