#include "systemc/sm/streaming_multiprocessor.h"

#include <algorithm>
#include <utility>

#include "systemc/main_stack.h"

namespace sluice {

namespace {

constexpr std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << i; }
constexpr std::uint64_t kLaunchLatency = 8;        ///< cycles from dispatch to the first instruction of a CTA
constexpr std::uint64_t kCodeRegion = 1ULL << 56;  ///< where the kernels' code lies, 4 GiB each
constexpr std::uint64_t kBarrierLatency = 4;       ///< cycles from the last arrival to the next instruction

StallCycles cycles_of(const std::array<std::uint64_t, 6>& by_reason) {
  return {by_reason[0], by_reason[1], by_reason[2], by_reason[3], by_reason[4], by_reason[5]};
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
      op_masks_(machine.sm.schedulers),
      alu_free_(machine.sm.alu_pipes),
      of_kernel_(kernels.size()),
      last_issue_(machine.sm.schedulers) {
  registers_per_warp_ = 1;
  for (const RunningKernel& kernel : kernels) registers_per_warp_ = std::max(registers_per_warp_, kernel.source->num_registers());
  register_ready_.resize(warps_.size() * registers_per_warp_);
  const auto lanes = static_cast<std::uint32_t>((warps_.size() + config_.schedulers - 1) / config_.schedulers);
  for (std::uint32_t s = 0; s < config_.schedulers; ++s) schedulers_.emplace_back(config_.scheduler, lanes, config_.active_warps);
  memory.register_nb_transport_bw(this, &StreamingMultiprocessor::memory_response);
  SC_METHOD(tick);
  sensitive << wake_;
  dont_initialize();
}

void StreamingMultiprocessor::launch_cta(KernelId kernel, std::uint32_t cta_index, std::uint32_t slot) {
  now_ = clock_.now();
  account_to(now_);
  const KernelDescriptor& descriptor = kernels_[kernel.value()].descriptor;
  Cta& cta = ctas_[slot];
  RunningKernel& running = kernels_[kernel.value()];
  std::uint32_t handle = 0;
  restore_main_stack_bounds();
  try {
    handle = running.source->begin_cta(cta_index);
  } catch (const std::exception&) {
    running.error = std::current_exception();  // out of SystemC's sight: it would wrap the message
    sc_core::sc_stop();
    return;
  }
  cta = {kernel.value(), descriptor.warps_per_cta(), 0, 0, handle, true};
  std::uint32_t warp_in_cta = 0;
  for (std::uint32_t w = 0; w < warps_.size() && warp_in_cta < cta.live_warps; ++w) {
    Warp& warp = warps_[w];
    if (warp.state != Warp::State::Free) continue;
    cta.warps |= bit(w);
    warp.cursor = {cta_index, warp_in_cta++, 0, handle, 0, 0};
    warp.kernel = kernel.value();
    warp.cta_slot = slot;
    warp.outstanding = 0;
    fetch_.flush(w);
    warp.state = Warp::State::Running;
    count_live(w, true);
    std::fill_n(register_ready_.begin() + static_cast<std::ptrdiff_t>(w * registers_per_warp_), registers_per_warp_, 0);
    scheduler_of(w).admit(lane_of(w), next_age_++);
    advance(w, now_ + kLaunchLatency);
  }
  if (!in_tick_) wake_.notify(clock_.cycles(1));
}

void StreamingMultiprocessor::kill(KernelId kernel) {
  account_to(clock_.now());
  for (Cta& cta : ctas_) {
    if (!cta.used || cta.kernel != kernel.value()) continue;
    for (std::uint64_t rest = cta.warps; rest != 0; rest &= rest - 1) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
      Warp& warp = warps_[slot];
      if (warp.state == Warp::State::WaitsForLoad) count_waiting(warp.kernel, &WarpGroup::waiting_for_load, false);
      fetch_waiters_ &= ~bit(slot);
      if (warp.state == Warp::State::AtBarrier) count_waiting(warp.kernel, &WarpGroup::at_barrier, false);
      if (warp.state == Warp::State::Free) continue;
      warp.state = Warp::State::Free;
      ++warp.generation;
      count_live(slot, false);
      scheduler_of(slot).remove(lane_of(slot));
    }
    cta.used = false;
    kernels_[cta.kernel].source->end_cta(cta.handle);
  }
  if (!in_tick_) wake_.notify(clock_.cycles(1));
}

std::uint64_t StreamingMultiprocessor::operands_ready(std::uint32_t slot) const {
  const Instruction& next = warps_[slot].next;
  const std::uint64_t* ready = &register_ready_[slot * registers_per_warp_];
  std::uint64_t cycle = 0;
  if (next.dst != kNoRegister) {
    for (unsigned i = 0; i < next.dst_count; ++i) cycle = std::max(cycle, ready[next.dst + i]);
  }
  for (const std::uint8_t src : next.src) {
    if (src != kNoRegister) cycle = std::max(cycle, ready[src]);
  }
  return cycle;
}

void StreamingMultiprocessor::set_op_mask(std::uint32_t slot, OpClass op) {
  OpMasks& masks = op_masks_[slot % config_.schedulers];
  const std::uint64_t me = bit(lane_of(slot));
  masks.alu &= ~me;
  masks.sfu &= ~me;
  masks.dp &= ~me;
  masks.tensor &= ~me;
  masks.memory &= ~me;
  if (op == OpClass::Alu) masks.alu |= me;
  if (op == OpClass::Sfu) masks.sfu |= me;
  if (op == OpClass::Dp) masks.dp |= me;
  if (op == OpClass::Tensor) masks.tensor |= me;
  if (is_memory(op)) masks.memory |= me;
}

void StreamingMultiprocessor::advance(std::uint32_t slot, std::uint64_t earliest) {
  Warp& warp = warps_[slot];
  warp.next = kernels_[warp.kernel].source->next(warp.cursor);
  if (warp.next.op == OpClass::Exit) {
    warp.state = Warp::State::Draining;
    scheduler_of(slot).block(lane_of(slot));
    if (warp.outstanding == 0) finish_warp(slot);
    return;
  }
  set_op_mask(slot, warp.next.op);
  warp.ready_cycle = earliest + warp.next.fetch_cycles;
  if (fetch_.modelled() && warp.next.pc != Instruction::kNoPc) {
    fetch(slot, earliest);
  } else {
    schedule_wake(slot);
  }
}

void StreamingMultiprocessor::fetch(std::uint32_t slot, std::uint64_t earliest) {
  Warp& warp = warps_[slot];
  const std::uint64_t address = kCodeRegion + (static_cast<std::uint64_t>(warp.kernel) << 32) + warp.next.pc;
  const std::uint64_t ready = fetch_.request(slot, address, earliest - 1);
  if (ready != FetchUnit::kMissing) {
    warp.ready_cycle = std::max(warp.ready_cycle, ready);
    schedule_wake(slot);
    return;
  }
  warp.state = Warp::State::WaitsForFetch;
  fetch_waiters_ |= bit(slot);
  scheduler_of(slot).block(lane_of(slot));
  if (fetch_.miss(address))
    send_line({address / kLineBytes * kLineBytes, kAllSectors, false, false, warp.kernel, kForInstructions});
}

void StreamingMultiprocessor::instructions_arrived(std::uint64_t address, std::uint64_t now) {
  fetch_.fill(address);
  for (std::uint64_t rest = std::exchange(fetch_waiters_, 0); rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
    warps_[slot].state = Warp::State::Running;
    fetch(slot, now + 1);  // whose line is still missing waits again
  }
}

void StreamingMultiprocessor::schedule_wake(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  const std::uint64_t operands = operands_ready(slot);
  WarpScheduler& scheduler = scheduler_of(slot);
  if (operands == kNever) {
    scheduler.block(lane_of(slot));
    scheduler.demote(lane_of(slot));
    if (warp.state != Warp::State::WaitsForLoad) count_waiting(warp.kernel, &WarpGroup::waiting_for_load, true);
    warp.state = Warp::State::WaitsForLoad;
    return;
  }
  if (warp.state == Warp::State::WaitsForLoad) count_waiting(warp.kernel, &WarpGroup::waiting_for_load, false);
  warp.state = Warp::State::Running;
  warp.ready_cycle = std::max(warp.ready_cycle, operands);
  if (warp.ready_cycle <= now_) {
    scheduler.make_ready(lane_of(slot));
  } else {
    scheduler.block(lane_of(slot));
    scheduler.wake_at(lane_of(slot), warp.ready_cycle, now_);
  }
}

void StreamingMultiprocessor::wake_due_warps(std::uint64_t now) {
  for (std::uint32_t s = 0; s < config_.schedulers; ++s) {
    for (std::uint64_t due = schedulers_[s].take_due(now); due != 0; due &= due - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(due));
      const Warp& warp = warps_[lane * config_.schedulers + s];
      if (warp.state != Warp::State::Running) continue;
      if (warp.ready_cycle <= now) {
        schedulers_[s].make_ready(lane);
      } else {
        schedulers_[s].wake_at(lane, warp.ready_cycle, now);
      }
    }
  }
}

std::uint64_t StreamingMultiprocessor::issuable(std::uint32_t scheduler, std::uint64_t now) const {
  const OpMasks& masks = op_masks_[scheduler];
  std::uint64_t allowed = ~(masks.alu | masks.sfu | masks.dp | masks.tensor | masks.memory);  // barriers need no pipeline
  if (std::ranges::any_of(alu_free_, [now](std::uint64_t free) { return free <= now; })) allowed |= masks.alu;
  if (sfu_free_ <= now) allowed |= masks.sfu;
  if (dp_free_ <= now) allowed |= masks.dp;
  if (tensor_free_ <= now) allowed |= masks.tensor;
  if (!ldst_.full()) allowed |= masks.memory;
  return schedulers_[scheduler].ready() & allowed;
}

unsigned StreamingMultiprocessor::issue_all(std::uint64_t now) {
  unsigned issued = 0;
  for (std::uint32_t s = 0; s < config_.schedulers; ++s) {
    const std::uint64_t candidates = schedulers_[s].selectable(issuable(s, now));
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
  last_issue_[slot % config_.schedulers] = {now, KernelId(warp.kernel)};
  ++count.warp_instructions;
  count.thread_instructions += instruction.active_lanes;
  std::uint64_t result = 0;
  switch (instruction.op) {
    case OpClass::Alu: {
      *std::ranges::min_element(alu_free_) = now + instruction.interval;
      count.alu_busy += instruction.interval;
      count.alu_lanes += instruction.active_lanes;
      result = now + config_.alu_latency + instruction.interval - 1;
      break;
    }
    case OpClass::Sfu:
      sfu_free_ = now + config_.sfu_interval;
      count.sfu_busy += config_.sfu_interval;
      count.sfu_lanes += instruction.active_lanes;
      result = now + config_.sfu_latency;
      break;
    case OpClass::Dp:
      dp_free_ = now + config_.dp_interval;
      count.dp_lanes += instruction.active_lanes;
      result = now + config_.dp_latency;
      break;
    case OpClass::Tensor:
      tensor_free_ = now + config_.tensor_interval;
      count.tensor_lanes += instruction.active_lanes;
      result = now + config_.tensor_latency;
      break;
    case OpClass::Load:
    case OpClass::Store:
    case OpClass::Atomic:
    case OpClass::Shared: {
      std::vector<LineAccess>& lines = ldst_.accept(instruction, {slot, warp.generation, warp.kernel});
      if (instruction.op != OpClass::Shared) kernel.source->lines(warp.cursor, warp.cursor.position - 1, lines);
      ldst_.accepted();
      if (ldst_.answers(instruction.op)) ++warp.outstanding;
      result = kNever;
      break;
    }
    case OpClass::Barrier:
    case OpClass::Exit: break;
  }
  if (instruction.dst != kNoRegister)
    std::fill_n(&register_ready_[slot * registers_per_warp_ + instruction.dst], instruction.dst_count, result);
  if (++kernel.issued == kernel.target) listener_.target_reached(KernelId(warp.kernel));
  if (instruction.op == OpClass::Barrier) {
    enter_barrier(slot);
  } else {
    advance(slot, now + 1);
  }
}

void StreamingMultiprocessor::enter_barrier(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  warp.state = Warp::State::AtBarrier;
  count_waiting(warp.kernel, &WarpGroup::at_barrier, true);
  scheduler_of(slot).block(lane_of(slot));
  Cta& cta = ctas_[warp.cta_slot];
  if (++cta.at_barrier == cta.live_warps) release_barrier(cta);
}

void StreamingMultiprocessor::release_barrier(Cta& cta) {
  cta.at_barrier = 0;
  for (std::uint64_t rest = cta.warps; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (warps_[slot].state != Warp::State::AtBarrier) continue;
    warps_[slot].state = Warp::State::Running;
    count_waiting(warps_[slot].kernel, &WarpGroup::at_barrier, false);
    advance(slot, now_ + kBarrierLatency);
  }
}

void StreamingMultiprocessor::finish_warp(std::uint32_t slot) {
  Warp& warp = warps_[slot];
  warp.state = Warp::State::Free;
  ++warp.generation;
  count_live(slot, false);
  scheduler_of(slot).remove(lane_of(slot));
  Cta& cta = ctas_[warp.cta_slot];
  if (--cta.live_warps == 0) {
    cta.used = false;
    kernels_[cta.kernel].source->end_cta(cta.handle);
    listener_.cta_completed(id_, KernelId(cta.kernel), warp.cta_slot);
  } else if (cta.at_barrier == cta.live_warps && cta.at_barrier != 0) {
    release_barrier(cta);
  }
}

tlm::tlm_sync_enum StreamingMultiprocessor::memory_response(tlm::tlm_generic_payload& packet, tlm::tlm_phase&,
                                                            sc_core::sc_time& delay) {
  const std::uint64_t arrival = clock_.now() + std::max<std::uint64_t>(1, clock_.to_cycles(delay));
  responses_.push_back({arrival, &packet});
  if (!in_tick_) wake_.notify(clock_.cycles(arrival - clock_.now()));
  return tlm::TLM_COMPLETED;
}

void StreamingMultiprocessor::access_done(const AccessInFlight& access, std::uint64_t cycle) {
  const std::uint32_t slot = access.warp.slot;
  Warp& warp = warps_[slot];
  if (warp.generation != access.warp.generation) return;  // killed meanwhile
  --warp.outstanding;
  if (access.dst != kNoRegister) std::fill_n(&register_ready_[slot * registers_per_warp_ + access.dst], access.dst_count, cycle);
  if (warp.state == Warp::State::WaitsForLoad) {
    schedule_wake(slot);
  } else if (warp.state == Warp::State::Draining && warp.outstanding == 0) {
    finish_warp(slot);
  }
}

void StreamingMultiprocessor::send_line(const LineRequest& request) {
  tlm::tlm_generic_payload* packet = pool_.acquire(request.address, request.write, request.sectors, id_.value(), request.kernel);
  PacketInfo& who = PacketPool::info(*packet);
  who.waiter = request.waiter;
  who.atomic = request.atomic;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = clock_.cycles(config_.l1.miss_latency);
  memory->nb_transport_fw(*packet, phase, delay);
}

void StreamingMultiprocessor::receive(std::uint64_t now) {
  while (!responses_.empty() && responses_.front().cycle <= now) {
    tlm::tlm_generic_payload* packet = responses_.front().packet;
    responses_.pop_front();
    const PacketInfo& who = PacketPool::info(*packet);
    if (packet->is_write()) ldst_.store_acknowledged();
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
  count_stall(all_, cycle - accounted_);
  for (WarpGroup& group : of_kernel_) count_stall(group, cycle - accounted_);
  if (ldst_.occupied()) counters_[ldst_.head_kernel()].ldst_busy += cycle - accounted_;
  accounted_ = cycle;
}

void StreamingMultiprocessor::count_live(std::uint32_t slot, bool begins) {
  for (WarpGroup* group : {&all_, &of_kernel_[warps_[slot].kernel]}) {
    group->live += begins ? 1U : ~0U;
    group->lanes[slot % config_.schedulers] ^= bit(lane_of(slot));
  }
}

void StreamingMultiprocessor::count_waiting(std::uint32_t kernel, std::uint32_t WarpGroup::*what, bool begins) {
  for (WarpGroup* group : {&all_, &of_kernel_[kernel]}) group->*what += begins ? 1U : ~0U;
}

void StreamingMultiprocessor::classify(std::uint64_t now) {
  bool unsure = false;
  const auto reason = [&](const WarpGroup& group) {
    if (group.live == 0) return Stall::Idle;
    for (std::uint32_t s = 0; s < config_.schedulers; ++s) {
      if ((schedulers_[s].ready() & group.lanes[s]) != 0) return Stall::ExecutionResource;
    }
    if (2 * group.waiting_for_load >= group.live) return Stall::LongMemory;
    if (2 * group.at_barrier >= group.live) return Stall::Barrier;
    unsure = true;
    return Stall::Raw;
  };
  all_.reason = reason(all_);
  for (WarpGroup& group : of_kernel_) group.reason = reason(group);
  if (!unsure) return;
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {  // rare: RAW, or does a warp only lack its next instruction?
    const Warp& warp = warps_[w];
    const bool waits = warp.state == Warp::State::WaitsForFetch ||
                       (warp.state == Warp::State::Running && (fetch_.modelled() || warp.next.fetch_cycles != 0));
    if (!waits || operands_ready(w) > now) continue;
    for (WarpGroup* group : {&all_, &of_kernel_[warp.kernel]}) {
      if (group->reason == Stall::Raw) group->reason = Stall::InstructionBuffer;
    }
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
    const std::uint64_t ready = schedulers_[s].ready();
    if ((ready & op_masks_[s].alu) != 0) next = std::min(next, std::max(now + 1, *std::ranges::min_element(alu_free_)));
    if ((ready & op_masks_[s].sfu) != 0) next = std::min(next, std::max(now + 1, sfu_free_));
    if ((ready & op_masks_[s].dp) != 0) next = std::min(next, std::max(now + 1, dp_free_));
    if ((ready & op_masks_[s].tensor) != 0) next = std::min(next, std::max(now + 1, tensor_free_));
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
    count_stall(all_, 1);
    for (WarpGroup& group : of_kernel_) count_stall(group, 1);
  }
  in_tick_ = false;
  const std::uint64_t next = next_event(now, issued);
  if (next != kNever) wake_.notify(clock_.cycles(next - now));
}

StreamingMultiprocessor::Activity StreamingMultiprocessor::activity() const {
  const std::uint64_t now = clock_.now();
  Activity activity;
  activity.memory_stall = stalled_ && all_.reason == Stall::LongMemory;
  for (std::size_t s = 0; s < last_issue_.size(); ++s) {
    if (last_issue_[s].cycle != now) continue;
    activity.issued[s] = last_issue_[s].kernel;
    activity.memory_stall = false;
  }
  return activity;
}

StallCycles StreamingMultiprocessor::stalls() {
  account_to(clock_.now());
  return cycles_of(all_.stall_cycles);
}

StallCycles StreamingMultiprocessor::stalls(KernelId kernel) {
  account_to(clock_.now());
  return cycles_of(of_kernel_[kernel.value()].stall_cycles);
}

}  // namespace sluice
