// SPDX-License-Identifier: Apache-2.0
// The lanes' thread: it sends changed quotas, hears from the GPU what has ended and what sleeps, and launches grids for the
// blocks of launches that have too few CTAs.
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "sw/interpose/lanes.h"
#include "sw/interpose/table.h"
#include "sw/interpose/threads.h"

namespace sluice::interpose {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
constexpr auto kHurry = milliseconds(2), kBetweenLooks = milliseconds(1), kStandsStill = milliseconds(100);
constexpr microseconds kToTell(100);  // shorter launches are under the share of the one before
constexpr microseconds kSoon(20), kSometimes(200), kPatience(100), kMostPatience(2'000), kLeaves(300), kBetweenGlances(80);
constexpr microseconds kCopyTakes(30);  // 10, and longer where processes take turns
constexpr std::size_t kLookedAt = 64;   // at a time, of a context: a graph may have many nodes
constexpr std::size_t kFrom = offsetof(SluiceControl, resident_total), kTo = offsetof(SluiceControl, filled);

/// What changes the current context, on a thread that is not ours.
template <class Work>
void in_own_context(const Work& work) {
  CUcontext before = nullptr;
  const Relaxed relaxed;
  SLUICE_REAL(cuCtxGetCurrent)(&before);
  work();
  SLUICE_REAL(cuCtxSetCurrent)(before);
}

gpu::QuotaTable ctas_of(gpu::QuotaTable quotas, const SluiceJob& job) {
  for (std::uint32_t& q : quotas) q = sluice_ctas(q, job.flags);
  return quotas;
}

}  // namespace

/// A control block's counters.
struct Lanes::Look {
  std::uint32_t resident = 0, done = 0, ended = 0, number = 0;
  bool left = false;   ///< blocks that nobody has begun
  bool empty = false;  ///< no CTA has a slot, or is about to
};

void Lanes::wake() {
  const std::scoped_lock held(orders_lock_);
  poked_ = true;
  moved_.notify_all();
}

void Lanes::on_share(LaneId id, const Share& share) {
  {
    const std::scoped_lock held(orders_lock_);
    asked_[id] = share;
  }
  {  // the order leaves at once, and CTAs come, from this thread
    const std::scoped_lock held(lock_);
    in_own_context([&] {
      take_orders();
      if (share.ctas.value() == 0) {
        quiet_until_ = Clock::now() + kLeaves;
        send_orders();
      } else {
        static_cast<void>(step());
      }
    });
  }
  wake();
}

/// Those that changed, and nothing else: somebody waits for the SMs.
void Lanes::send_orders() {
  for (const std::shared_ptr<Lane>& lane : all())
    if (lane->stale && lane->watched && lane->context_state->enter() && lane->outstanding())
      static_cast<void>(send(*lane, false));
}

/// Looks without sleep for the words of the lanes' last CTAs. The lock is taken when one has changed, and free then: the lanes'
/// thread, which may hold it for as long as a copy takes, is quiet meanwhile.
void Lanes::await_leaving(std::span<const LaneId> ids) {
  std::vector<std::pair<std::shared_ptr<Slot>, std::uint64_t>> watched;  // and its word as last seen
  const auto some_stay = [&] {
    const std::scoped_lock held(lock_);
    watched.clear();
    for (const std::shared_ptr<Lane>& lane : all()) {
      const bool stays = std::ranges::find(ids, lane->id) != ids.end() && lane->outstanding() && lane->share.ctas.value() == 0;
      if (!stays) continue;
      for (const std::shared_ptr<Slot>& slot : lane->slots) {
        if (lane->evicted || slot->told.word == nullptr) break;
        watched.emplace_back(slot, __atomic_load_n(slot->told.word, __ATOMIC_ACQUIRE));
        hear(*lane, *slot);
      }
      if (lane->evicted) std::erase_if(watched, [&](const auto& w) { return std::ranges::count(lane->slots, w.first) > 0; });
    }
    return !watched.empty();
  };
  const auto unchanged = [](const auto& w) { return __atomic_load_n(w.first->told.word, __ATOMIC_ACQUIRE) == w.second; };
  const Clock::time_point end = Clock::now() + kLeaves;
  for (Clock::time_point look = Clock::now() + kBetweenGlances; some_stay() && Clock::now() < end;) {
    while (std::ranges::all_of(watched, unchanged) && Clock::now() < look) {
    }
    if (Clock::now() < look) continue;
    glance(ids);
    look = Clock::now() + kBetweenGlances;
  }
  quiet_until_ = Clock::time_point();
}

/// Looks at them now: some may hold nothing, and nobody of theirs tells.
void Lanes::glance(std::span<const LaneId> ids) {
  const std::scoped_lock held(lock_);
  for (const std::shared_ptr<Lane>& lane : all())
    if (std::ranges::find(ids, lane->id) != ids.end())
      for (const std::shared_ptr<Slot>& slot : lane->slots) slot->looked = {};
  in_own_context([this] { static_cast<void>(step()); });
}

void Lanes::on_gone(GpuNumber gpu) {
  {
    const std::scoped_lock held(orders_lock_);
    gone_.insert(gpu);
  }
  wake();
}

void Lanes::watch(Lane& lane) {
  if (!lane.watched) {
    lane.watched = true;
    for (const std::shared_ptr<Slot>& slot : lane.slots) {
      slot->told = lane.context_state->told();
      if (slot->told.word != nullptr &&
          !lane.context_state->write(slot->control + offsetof(SluiceControl, told), &slot->told.device, sizeof slot->told.device))
        slot->told.word = nullptr;
    }
  }
  if (!running_) {
    running_ = true;
    start_thread([this] { run(); });
  }
}

void Lanes::run() {
  pthread_setname_np(pthread_self(), "sluice");
  ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; 50 us by default: more than kSoon
  bool outstanding = false;
  Clock::time_point hurry;
  for (;;) {
    {
      std::unique_lock waits(orders_lock_);
      const auto poked = [&] { return poked_; };
      if (outstanding)
        moved_.wait_for(waits, Clock::now() < hurry ? kSoon : kSometimes, poked);
      else
        moved_.wait(waits, poked);
      poked_ = false;
    }
    while (Clock::now() < quiet_until_.load()) std::this_thread::sleep_for(kSoon);
    const std::scoped_lock held(lock_);
    const Relaxed relaxed;  // the program may capture in the mode that minds what other threads do
    take_orders();
    outstanding = polls_ = step();
    hurry = hurry_;
    changed_.notify_all();
  }
}

void Lanes::take_orders() {
  std::map<LaneId, Share> asked;
  std::set<GpuNumber> gone;
  {
    const std::scoped_lock held(orders_lock_);
    asked.swap(asked_);
    gone = gone_;
  }
  for (const std::shared_ptr<Lane>& lane : all()) {
    const auto found = asked.find(lane->id);
    const Share share = gone.contains(lane->context_state->gpu()) ? kWholeMachine
                        : found == asked.end()                    ? lane->share
                                                                  : found->second;
    if (found != asked.end() && share.ctas.value() == 0) lane->evicted = false;  // each such order is answered
    if (share == lane->share) continue;
    lane->share = share;
    lane->stale = true;
    lane->raised.reset();  // the watchdog looks anew
    if (share.ctas.value() > 0) lane->evicted = false;
    for (const std::shared_ptr<Slot>& slot : lane->slots) slot->raised = true;
    hurry_ = Clock::now() + kHurry;
  }
}

bool Lanes::step() {
  bool outstanding = false;
  const Clock::time_point now = Clock::now();
  std::map<ContextState*, std::vector<Place>> due;
  std::set<const ContextState*> failed;
  for (const auto& [id, state] : contexts_)
    if (state != nullptr && (!state->enter() || state->has_failed())) failed.insert(state.get());
  for (const std::shared_ptr<Lane>& lane : all()) {
    if (failed.contains(lane->context_state.get())) give_up(*lane);
    if (failed.contains(lane->context_state.get()) || !lane->watched) continue;
    if (!lane->context_state->enter()) continue;
    if (lane->context_state->orders_are_lost())
      for (const std::shared_ptr<Lane>& other : all()) other->stale = other->stale || other->context_state == lane->context_state;
    lane->context_state->make_later_streams();
    see(*lane->context_state);
    outstanding = step(lane, now, due[lane->context_state.get()]) || outstanding;
  }
  for (auto& [context_state, places] : due)
    if (!places.empty() && context_state->enter()) begin_look(*context_state, std::move(places));
  return outstanding;
}

bool Lanes::step(const std::shared_ptr<Lane>& of, Clock::time_point now, std::vector<Place>& due) {
  Lane& lane = *of;
  const bool outstanding = lane.outstanding();
  if (lane.stale && outstanding) static_cast<void>(send(lane));  // else with its next launch
  for (const std::shared_ptr<Slot>& slot : lane.slots) {
    hear(lane, *slot);
    if (!slot->node && !slot->pending.empty() && slot->pending.front().demand != lane.told && now - lane.in_front > kToTell)
      ask_share(lane, slot->pending.front().demand);
    if (slot->pending.empty() || !outstanding || due.size() == kLookedAt || lane.context_state->looks()) continue;
    const bool progress = slot->pending.front().waits || !slot->node;  // it is wanted
    const bool first = !slot->seen && now - lane.in_front > kToTell;
    const bool needed = ((slot->asleep || first) && lane.share.ctas.value() > 0) || slot->raised;
    if ((needed && now - slot->helped >= slot->patience) || (progress && now - slot->looked >= kBetweenLooks))
      due.push_back({of, slot});
  }
  const bool still = lane.outstanding();
  if (lane.busy && !still) lane.shares->idle(lane.id);
  if (!still && lane.raised) {
    lane.raised.reset();
    static_cast<void>(send(lane));
  }
  lane.busy = still;
  return still;
}

/// Mostly it has come at once. Behind copies of the program's it may take long: later steps see it.
void Lanes::begin_look(ContextState& context_state, std::vector<Place> due) {
  std::vector<CUdeviceptr> from;
  for (const Place& place : due) from.push_back(place.slot->control + kFrom);
  const bool in_place = context_state.orders_have_come();
  due.resize(context_state.look(from, kTo - kFrom));
  if (due.empty()) return;
  const Clock::time_point now = Clock::now();
  for (Place& place : due) {
    place.slot->looked = now;
    place.slot->seen = true;
    place.order = in_place && !place.lane->stale ? place.lane->order : 0;
  }
  looked_at_[&context_state] = std::move(due);
  while (!see(context_state) && Clock::now() - now < kCopyTakes) {
  }
}

bool Lanes::see(ContextState& context_state) {
  const std::byte* counters = context_state.seen();
  if (counters == nullptr) return false;
  for (const Place& place : std::exchange(looked_at_[&context_state], {})) {
    if (!place.slot->pending.empty()) look(place, counters, Clock::now());
    counters += kTo - kFrom;
  }
  return true;
}

void Lanes::ask_share(Lane& lane, const KernelDemand& in_front) {
  lane.told = in_front;
  const Share share = lane.shares->launched(lane.id, in_front);
  lane.stale = lane.stale || share != lane.share;
  lane.share = share;
}

bool Lanes::send(Lane& lane, bool waits) {
  lane.order = ++counted_.orders;
  const SluiceOrders orders = gpu::orders_of(lane.quotas(), static_cast<unsigned>(lane.order), lane.shares->in_parts());
  lane.stale = !(waits ? lane.context_state->write(lane.orders, &orders, sizeof orders)
                       : lane.context_state->order(lane.orders, &orders, sizeof orders));
  return !lane.stale;
}

void Lanes::hear(Lane& lane, Slot& slot) {
  if (slot.told.word == nullptr) return;
  const std::uint64_t word = __atomic_load_n(slot.told.word, __ATOMIC_ACQUIRE);  // the GPU writes it
  const auto ended = static_cast<std::uint32_t>(word), naps = static_cast<std::uint32_t>(word >> 32);
  if (ended != slot.ended) {
    slot.ended = ended;
    slot.moved = lane.in_front = Clock::now();
    slot.resident = 0;
    slot.asleep = slot.seen = false;
    slot.raised = false;
    slot.patience = {};
    while (!slot.node && !slot.pending.empty() && static_cast<std::int32_t>(ended - slot.pending.front().number) > 0) {
      lane.gone = slot.pending.front().entered;
      slot.pending.pop_front();
    }
  }
  if (naps != slot.naps) {
    slot.naps = naps;
    slot.asleep = true;
  }
  if (slot.asleep) answer_eviction(lane);
}

void Lanes::give_up(Lane& lane) {
  for (const std::shared_ptr<Slot>& slot : lane.slots) {
    slot->asleep = slot->raised = false;
    if (!slot->node) slot->pending.clear();
  }
  lane.replays.clear();
  if (std::exchange(lane.busy, false)) lane.shares->idle(lane.id);
  if (lane.context_state->enter() && lane.context_state->has_failed()) lane.shares->failed();
}

void Lanes::answer_eviction(Lane& lane) {
  if (lane.share.ctas.value() > 0 || lane.evicted) return;
  lane.evicted = true;
  lane.shares->evicted(lane.id);
}

void Lanes::look(const Place& place, const std::byte* counters, Clock::time_point now) {
  Lane& lane = *place.lane;
  Slot& slot = *place.slot;
  alignas(SluiceControl) static std::byte bytes[kTo];  // under the lock; where the layout has them
  std::memcpy(bytes + kFrom, counters, kTo - kFrom);
  const auto& c = *reinterpret_cast<const SluiceControl*>(bytes);
  const Pending& front = slot.pending.front();
  SluiceJob job;
  std::memcpy(&job, front.arguments.data() + front.at.back(), sizeof job);
  Look seen;
  seen.resident = c.resident_total;
  seen.done = std::accumulate(std::begin(c.done), std::end(c.done), 0U);
  seen.ended = static_cast<std::uint32_t>(c.gate & SLUICE_GATE_ENDED);
  seen.number = static_cast<std::uint32_t>(c.gate >> SLUICE_GATE_NUMBER_SHIFT & SLUICE_GATE_NUMBERS);
  seen.left = c.next < job.tickets || c.returned != 0;
  seen.empty = std::ranges::all_of(c.slots, [](unsigned taken) { return taken == 0; });
  if (seen.done != slot.done || seen.resident == 0) slot.moved = now;
  slot.resident = seen.resident;
  lane.done += seen.done - slot.done;
  slot.done = seen.done;
  if (!slot.node) {
    lane.shares->progress(lane.id, lane.done + seen.resident, lane.done);
    if (seen.number != (front.number & SLUICE_GATE_NUMBERS)) return;  // it has just ended: hear() tells
  }
  if (front.waits && seen.ended + seen.resident > 0) {
    if (!slot.watchdog) slot.watchdog.emplace(kStandsStill, sluice_fits(job.flags));
    if (lane.share.ctas.value() > 0)
      if (auto raised = slot.watchdog->look(now, seen.done, seen.resident, ctas_of(lane.quotas(), job))) {
        std::fprintf(stderr, "sluice: %s: no block has ended for 100 ms: quota raised to at most %u\n", front.demand.name.c_str(),
                     *std::ranges::max_element(*raised));
        for (std::uint32_t& q : *raised) q = sluice_quota(q, job.flags);
        lane.raised = std::move(raised);
        ++counted_.raises;
        static_cast<void>(send(lane));
        slot.raised = true;
      }
  }
  // A grid that has not begun, or a later one that has not come, has nobody to tell; its CTAs will find the order, where that
  // came before the look. Graphs' nodes follow each other.
  const bool in_place = !lane.stale && place.order == lane.order;
  if (lane.share.ctas.value() == 0 && seen.empty && in_place && !slot.node) answer_eviction(lane);
  if (!seen.left || lane.share.ctas.value() == 0) {
    slot.raised = slot.raised && seen.left;
    return;
  }
  // CTAs of its grid may have come where others' SMs had room, and its own none: help() brings more, where its share has room.
  slot.raised = slot.raised || seen.ended > 0;
  if ((slot.asleep || slot.raised) && now - slot.helped >= slot.patience) help(lane, slot, seen, now);
}

void Lanes::help(Lane& lane, Slot& slot, const Look& seen, Clock::time_point now) {
  const Pending& launch = slot.pending.front();
  SluiceJob job;
  std::memcpy(&job, launch.arguments.data() + launch.at.back(), sizeof job);
  std::uint64_t wanted = 0;
  for (const std::uint32_t q : ctas_of(lane.quotas(), job)) wanted += std::min(q, sluice_fits(job.flags));
  // Its own grid has not begun, or all of it has room. That it sleeps says nothing: the launch before may have, and both are told
  // in a word.
  if (seen.ended == 0) return;
  // A sleeper has the room of one CTA: where all that fit are wanted, another grid would wait in the hardware's queue for that
  // room, and come by thousands of CTAs when the others leave.
  const bool sleeps = seen.ended == std::uint64_t{launch.grid[0]} * launch.grid[1];
  const std::uint64_t room = std::uint64_t{lane.context_state->shape().sms} * sluice_fits(job.flags);
  if (sleeps && wanted == room && room > 1) --wanted;
  if (seen.resident >= wanted) {
    slot.raised = false;
    return;
  }
  // The last one found no room: an order that was held up may have come behind a newer one.
  if (slot.patience > Clock::duration::zero()) static_cast<void>(send(lane));
  CUstream stream = lane.context_state->idle_stream();
  if (stream == nullptr) return;
  std::vector<std::byte> arguments = launch.arguments;
  job.flags = (job.flags & ~SLUICE_HELD) | SLUICE_LATER | seen.number << SLUICE_NUMBER_SHIFT;
  std::memcpy(arguments.data() + launch.at.back(), &job, sizeof job);
  std::vector<void*> parameters;
  for (const std::size_t at : launch.at) parameters.push_back(arguments.data() + at);
  const CUresult result =
      SLUICE_REAL(cuLaunchKernel)(launch.function, launch.grid[0], launch.grid[1], 1, launch.block[0], launch.block[1],
                                  launch.block[2], launch.shared, stream, parameters.data(), nullptr);
  if (result == CUDA_SUCCESS) {
    ++counted_.later_grids;
    slot.asleep = false;  // until its last CTA says so again
    slot.raised = true;   // and until as many are there as may be: they may have found an old order, and left
  }
  slot.helped = now;
  slot.patience = std::clamp<Clock::duration>(2 * slot.patience, kPatience, kMostPatience);
}

}  // namespace sluice::interpose
