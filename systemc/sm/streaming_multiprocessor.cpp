// SPDX-License-Identifier: Apache-2.0
#include "systemc/sm/streaming_multiprocessor.h"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::uint64_t kCodeRegion = 1ULL << 56;  ///< where the kernels' code lies, 4 GiB each

std::uint32_t registers_per_warp(const std::vector<RunningKernel>& kernels) {
  std::uint32_t most = 1;
  for (const RunningKernel& kernel : kernels) most = std::max(most, kernel.source->num_registers());
  return most;
}

}  // namespace

StreamingMultiprocessor::StreamingMultiprocessor(const sc_core::sc_module_name& name, SmId id, const MachineConfig& machine,
                                                 SimClock clock, PacketPool& pool, std::vector<RunningKernel>& kernels,
                                                 std::vector<KernelCounters>& counters, ISmListener& listener)
    : sc_module(name),
      memory("memory"),
      id_(id),
      config_(machine.sm),
      clock_(clock),
      pool_(pool),
      kernels_(kernels),
      counters_(counters),
      listener_(listener),
      ldst_(machine.sm, *this, counters),
      fetch_(machine.sm.fetch, machine.sm.capacity.threads / kWarpSize),
      warps_(machine.sm.capacity.threads / kWarpSize),
      ctas_(machine.sm.capacity.cta_slots),
      workers_(machine.sm.capacity.cta_slots),
      scoreboard_(warps_.size(), registers_per_warp(kernels)),
      pipelines_(machine.sm),
      banks_(machine.sm),
      held_(machine.sm.schedulers),
      stall_breakdown_(kernels.size(), machine.sm.schedulers),
      last_issue_(machine.sm.schedulers) {
  const auto lanes = static_cast<std::uint32_t>((warps_.size() + config_.schedulers - 1) / config_.schedulers);
  for (std::uint32_t s = 0; s < config_.schedulers; ++s) schedulers_.emplace_back(config_.scheduler, lanes, config_.active_warps);
  memory.register_nb_transport_bw(this, &StreamingMultiprocessor::memory_response);
  SC_METHOD(tick);
  sensitive << wake_;
  dont_initialize();
}

void StreamingMultiprocessor::advance(std::uint32_t slot, std::uint64_t earliest) {
  Warp& warp = warps_[slot];
  const std::uint32_t follows = warp.next.pc + config_.fetch.instruction_bytes;
  const bool first = warp.cursor.position == 0;
  warp.next = kernels_[warp.kernel].source->next(warp.cursor);
  const bool jumps = !first && warp.next.pc != follows && warp.next.pc != Instruction::kNoPc;
  if (jumps) earliest += config_.jump_latency;
  if (warp.next.op == OpClass::Exit) {
    scheduler_of(slot).block(lane_of(slot));
    if (warp.outstanding == 0) {
      finish_warp(slot);
    } else {
      warp.state = Warp::State::Draining;
      scheduler_of(slot).demote(lane_of(slot));
      stall_breakdown_.wait_begins(warp.kernel, StallBreakdown::Wait::Load);
    }
    return;
  }
  pipelines_.want(scheduler_index(slot), lane_of(slot), warp.next);
  warp.ready_cycle = earliest + warp.next.fetch_cycles;
  if (fetch_.modelled() && warp.next.pc != Instruction::kNoPc) {
    fetch(slot, earliest);
  } else {
    schedule_wake(slot);
  }
}

std::uint64_t StreamingMultiprocessor::code_address(const Warp& warp) {
  return kCodeRegion + (static_cast<std::uint64_t>(warp.kernel) << 32) + warp.next.pc;
}

void StreamingMultiprocessor::fetch(std::uint32_t slot, std::uint64_t earliest) {
  Warp& warp = warps_[slot];
  const std::uint64_t address = code_address(warp);
  const std::uint64_t ready = fetch_.request(slot, address, earliest - 1, now_);
  if (ready != FetchUnit::kMissing) {
    warp.ready_cycle = std::max(warp.ready_cycle, ready);
    schedule_wake(slot);
    return;
  }
  warp.state = Warp::State::WaitsForFetch;
  fetch_waiters_ |= bit(slot);
  scheduler_of(slot).block(lane_of(slot));
  scheduler_of(slot).demote(lane_of(slot));
  ask_for_instructions(warp);
}

void StreamingMultiprocessor::ask_for_instructions(const Warp& warp) {
  const std::uint64_t line = code_address(warp) / kLineBytes * kLineBytes;
  for (std::uint64_t ahead = 0; ahead <= config_.fetch.prefetch_lines; ++ahead) {
    const std::uint64_t address = line + ahead * kLineBytes;
    if (fetch_.miss(address)) send_line({address, kAllSectors, false, false, warp.kernel, kForInstructions});
  }
}

void StreamingMultiprocessor::instructions_arrived(std::uint64_t address, std::uint64_t now) {
  fetch_.fill(address);
  for (std::uint64_t rest = fetch_waiters_; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (code_address(warps_[slot]) / kLineBytes != address / kLineBytes) {
      ask_for_instructions(warps_[slot]);  // its line may have found no way
      continue;
    }
    fetch_waiters_ &= ~bit(slot);
    warps_[slot].state = Warp::State::Running;
    fetch(slot, now + 1);
  }
}

void StreamingMultiprocessor::schedule_wake(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  const std::uint64_t operands = operands_ready(slot);
  WarpScheduler& scheduler = scheduler_of(slot);
  if (operands == kNever) {
    scheduler.block(lane_of(slot));
    scheduler.demote(lane_of(slot));
    if (warp.state != Warp::State::WaitsForLoad) stall_breakdown_.wait_begins(warp.kernel, StallBreakdown::Wait::Load);
    warp.state = Warp::State::WaitsForLoad;
    return;
  }
  if (warp.state == Warp::State::WaitsForLoad) stall_breakdown_.wait_ends(warp.kernel, StallBreakdown::Wait::Load);
  warp.state = Warp::State::Running;
  warp.ready_cycle = std::max(warp.ready_cycle, operands);
  const std::uint64_t ready = ready_cycle(slot);
  if (ready <= now_) {
    scheduler.make_ready(lane_of(slot));
  } else {
    scheduler.block(lane_of(slot));
    scheduler.wake_at(lane_of(slot), ready, now_);
  }
}

void StreamingMultiprocessor::wake_due_warps(std::uint64_t now) {
  for (std::uint32_t s = 0; s < config_.schedulers; ++s) {
    for (std::uint64_t due = schedulers_[s].take_due(now); due != 0; due &= due - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(due));
      const std::uint32_t slot = lane * config_.schedulers + s;
      if (warps_[slot].state != Warp::State::Running) continue;
      const std::uint64_t ready = ready_cycle(slot);
      if (ready <= now) {
        schedulers_[s].make_ready(lane);
      } else {
        schedulers_[s].wake_at(lane, ready, now);
      }
    }
  }
}

unsigned StreamingMultiprocessor::issue_all(std::uint64_t now) {
  unsigned issued = 0;
  for (std::uint32_t i = 0; i < config_.schedulers; ++i) {
    const auto s = static_cast<std::uint32_t>((now + i) % config_.schedulers);  // in turn: they share pipelines and LDST queue
    if (held_[s].until > now) continue;
    const std::uint64_t candidates = schedulers_[s].selectable(schedulers_[s].ready() & pipelines_.open(s, now, ldst_.full()));
    if (candidates == 0) continue;
    issue(schedulers_[s].pick(candidates) * config_.schedulers + s, now);
    ++issued;
  }
  return issued;
}

void StreamingMultiprocessor::issue(std::uint32_t slot, std::uint64_t now) {
  Warp& warp = warps_[slot];
  const Instruction instruction = warp.next;
  RunningKernel& kernel = kernels_[warp.kernel];
  KernelCounters& count = counters_[warp.kernel];
  last_issue_[scheduler_index(slot)] = {now, KernelId(warp.kernel)};
  ++count.warp_instructions;
  count.thread_instructions += instruction.active_lanes;
  std::uint64_t result = kNever;
  if (is_memory(instruction.op)) {
    const std::uint8_t group = instruction.copies == CopyRole::Copy ? warp.copies.begin() : CopyGroups::kNone;
    std::vector<LineAccess>& lines = ldst_.accept(instruction, {slot, warp.generation, warp.kernel}, group);
    const bool answers = ldst_.answers(instruction.op);
    if (instruction.op != OpClass::Shared) kernel.source->lines(warp.cursor, warp.cursor.position - 1, lines);
    if (instruction.op == OpClass::Store) kernel.stores += lines.size();
    ldst_.accepted();
    if (answers) ++warp.outstanding;
    if (answers && instruction.timed) warp.barriers.take(instruction.write_barrier);
  } else {
    result = pipelines_.begin(scheduler_index(slot), instruction, now, count);
    if (instruction.copies == CopyRole::Commit) warp.copies.commit();
    if (instruction.timed) warp.barriers.until(instruction.write_barrier, result);
  }
  if (instruction.timed) {
    warp.barriers.until(instruction.read_barrier, now + config_.sub_core.operand_read_latency);
  } else {
    scoreboard_.set(slot, instruction.dst, instruction.dst_count, result);
  }
  if (banks_.modelled()) read_registers(slot, instruction, now);
  if (config_.sub_core.follows_yield) scheduler_of(slot).stay(!instruction.yields);
  if (++kernel.issued == kernel.target) listener_.target_reached(KernelId(warp.kernel));
  if (instruction.op == OpClass::Barrier) {
    enter_barrier(slot);
  } else {
    advance(slot, now + std::max<std::uint64_t>(1, instruction.stall));
  }
}

void StreamingMultiprocessor::read_registers(std::uint32_t slot, const Instruction& instruction, std::uint64_t now) {
  Held& held = held_[scheduler_index(slot)];
  warps_[slot].stall_end = now + std::max<std::uint64_t>(1, instruction.stall) - held.cycles;
  const std::uint64_t late = banks_.read(scheduler_index(slot), lane_of(slot), instruction, now);
  if (late == 0) return;
  held.cycles += late;
  held.until = now + 1 + late;
}

void StreamingMultiprocessor::enter_barrier(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  warp.state = Warp::State::AtBarrier;
  stall_breakdown_.wait_begins(warp.kernel, StallBreakdown::Wait::Barrier);
  scheduler_of(slot).block(lane_of(slot));
  scheduler_of(slot).demote(lane_of(slot));
  barrier_port_ = std::max(barrier_port_, now_) + config_.barrier_interval;
  Cta& cta = ctas_[warp.cta_slot];
  if (++cta.at_barrier == cta.live_warps) release_barrier(cta);
}

void StreamingMultiprocessor::release_barrier(Cta& cta) {
  cta.at_barrier = 0;
  for (std::uint64_t rest = cta.warps; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (warps_[slot].state != Warp::State::AtBarrier) continue;
    warps_[slot].state = Warp::State::Running;
    stall_breakdown_.wait_ends(warps_[slot].kernel, StallBreakdown::Wait::Barrier);
    advance(slot, std::max(now_, barrier_port_) + config_.barrier_latency);
  }
}

void StreamingMultiprocessor::finish_warp(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  warp.state = Warp::State::Free;
  ++warp.generation;
  stall_breakdown_.warp_ends(warp.kernel, scheduler_index(slot), lane_of(slot));
  scheduler_of(slot).remove(lane_of(slot));
  Cta& cta = ctas_[warp.cta_slot];
  cta.warps &= ~bit(slot);  // the slot may get a warp of another CTA while this one lives
  const bool goes_on = apart(kernels_[cta.kernel].descriptor);
  if (--cta.live_warps == 0) {
    cta.used = false;
    kernels_[cta.kernel].source->end_cta(cta.handle);
    if (!goes_on) listener_.cta_completed(id_, KernelId(cta.kernel), cta.slot);
  } else if (cta.at_barrier == cta.live_warps && cta.at_barrier != 0) {
    release_barrier(cta);
  }
  if (!goes_on) return;
  next_piece(workers_[cta.slot], cta.slot);
  if (waiting_.empty()) return;
  const std::uint32_t first = waiting_.front();
  const KernelDescriptor& kernel = kernels_[ctas_[first].kernel].descriptor;
  begin_warps(first, kernel.warps_per_cta(),
              now_ + (apart(kernel) ? config_.cta_launch_latency_apart : config_.cta_launch_latency));
  if (!ctas_[first].used || ctas_[first].begun == kernel.warps_per_cta()) std::erase(waiting_, first);
}

tlm::tlm_sync_enum StreamingMultiprocessor::memory_response(tlm::tlm_generic_payload& packet, tlm::tlm_phase&,
                                                            sc_core::sc_time& delay) {
  const std::uint64_t arrival = clock_.now() + std::max<std::uint64_t>(1, clock_.to_cycles(delay));
  auto place = responses_.end();  // answers may be announced in another order than they arrive in
  while (place != responses_.begin() && std::prev(place)->cycle > arrival) --place;
  responses_.insert(place, {arrival, &packet});
  if (!in_tick_) wake_.notify(clock_.cycles(arrival - clock_.now()));
  return tlm::TLM_COMPLETED;
}

void StreamingMultiprocessor::access_done(const AccessInFlight& access, std::uint64_t cycle) {
  const std::uint32_t slot = access.warp.slot;
  Warp& warp = warps_[slot];
  if (warp.generation != access.warp.generation) return;  // killed meanwhile
  --warp.outstanding;
  warp.copies.ended(access.copy_group);
  if (access.timed) {
    warp.barriers.released(access.barrier, cycle);
  } else {
    scoreboard_.set(slot, access.dst, access.dst_count, cycle);
  }
  if (warp.state == Warp::State::WaitsForLoad) {
    schedule_wake(slot);
  } else if (warp.state == Warp::State::Draining && warp.outstanding == 0) {
    stall_breakdown_.wait_ends(warp.kernel, StallBreakdown::Wait::Load);
    finish_warp(slot);
  }
}

void StreamingMultiprocessor::send_line(const LineRequest& request) {
  last_request_ = clock_.now();
  tlm::tlm_generic_payload* packet = pool_.acquire(request.address, request.write, request.sectors, id_.value(), request.kernel);
  PacketInfo& who = PacketPool::info(*packet);
  who.waiter = request.waiter;
  who.atomic = request.atomic;
  who.no_result = request.no_result;
  who.whole = request.whole;
  who.part_bytes = request.part_bytes;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.cycles(config_.l1.miss_latency);
  memory->nb_transport_fw(*packet, phase, delay);
}

void StreamingMultiprocessor::receive(std::uint64_t now) {
  while (!responses_.empty() && responses_.front().cycle <= now) {
    tlm::tlm_generic_payload* packet = responses_.front().packet;
    responses_.pop_front();
    const PacketInfo& who = PacketPool::info(*packet);
    if (packet->is_write()) {
      ldst_.store_acknowledged();
      if (--kernels_[who.kernel].stores == 0) listener_.stores_acknowledged(KernelId(who.kernel));
    }
    if (who.waiter == kForInstructions) {
      instructions_arrived(packet->get_address(), now);
    } else if (who.waiter != kForL1) {
      ldst_.answered(who.waiter, now);
    } else if (packet->is_read()) {
      ldst_.fill(packet->get_address(), who.sectors, now);
    }
    packet->release();
  }
}

void StreamingMultiprocessor::account_to(std::uint64_t cycle) {
  if (cycle <= accounted_) return;
  stall_breakdown_.count(cycle - accounted_);
  if (ldst_.occupied()) counters_[ldst_.head_kernel()].ldst_busy += cycle - accounted_;
  accounted_ = cycle;
}

void StreamingMultiprocessor::classify(std::uint64_t now) {
  StallBreakdown::Lanes held{};
  if (ldst_.full() && ldst_.stalled()) {
    for (std::uint32_t s = 0; s < config_.schedulers; ++s) held[s] = schedulers_[s].ready() & pipelines_.want_memory(s);
  }
  if (!stall_breakdown_.classify(schedulers_, held)) return;
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {  // rare: RAW, or does a warp only lack its next instruction?
    const Warp& warp = warps_[w];
    const bool waits = warp.state == Warp::State::WaitsForFetch ||
                       (warp.state == Warp::State::Running && (fetch_.modelled() || warp.next.fetch_cycles != 0));
    if (waits && operands_ready(w) <= now) stall_breakdown_.lack_of_instruction(warp.kernel);
  }
}

std::uint64_t StreamingMultiprocessor::next_event(std::uint64_t now, bool issued) const {
  if (issued) return now + 1;
  if (ldst_.occupied() && !ldst_.stalled()) return now + 1;
  std::uint64_t next = kNever;
  if (!responses_.empty()) next = responses_.front().cycle;
  for (std::uint32_t s = 0; s < config_.schedulers; ++s) {
    const std::uint64_t ahead = schedulers_[s].next_due(now);
    if (ahead != 0) next = std::min(next, now + ahead);
    if (held_[s].until > now + 1) {
      if (schedulers_[s].ready() != 0) next = std::min(next, held_[s].until);
    } else {
      next = std::min(next, pipelines_.next_free(s, schedulers_[s].ready(), now));
    }
  }
  return next;
}

void StreamingMultiprocessor::tick() {
  const std::uint64_t now = clock_.now();
  now_ = now;
  in_tick_ = true;
  account_to(now);
  receive(now);
  wake_due_warps(now);
  ldst_.cycle(now);
  const bool issued = issue_all(now) != 0;
  accounted_ = now + 1;
  stalled_ = !issued;
  if (stalled_) {
    classify(now);
    stall_breakdown_.count(1);
  }
  in_tick_ = false;
  const std::uint64_t next = next_event(now, issued);
  if (next != kNever) wake_.notify(clock_.cycles(next - now));
}

StreamingMultiprocessor::Activity StreamingMultiprocessor::activity() const {
  const std::uint64_t now = clock_.now();
  Activity activity;
  activity.request = last_request_ == now;
  activity.memory_stall = stalled_ && stall_breakdown_.reason() == StallBreakdown::Reason::LongMemory;
  for (std::size_t s = 0; s < last_issue_.size(); ++s) {
    if (last_issue_[s].cycle != now) continue;
    activity.issued[s] = last_issue_[s].kernel;
    activity.memory_stall = false;
  }
  return activity;
}

StallCycles StreamingMultiprocessor::stalls() {
  account_to(clock_.now());
  return stall_breakdown_.cycles();
}

StallCycles StreamingMultiprocessor::stalls(KernelId kernel) {
  account_to(clock_.now());
  return stall_breakdown_.cycles(kernel.value());
}

}  // namespace sluice
