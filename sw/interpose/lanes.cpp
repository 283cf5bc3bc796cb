// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/lanes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <utility>

#include "sw/interpose/memory.h"
#include "sw/interpose/program.h"
#include "sw/interpose/table.h"
#include "sw/interpose/threads.h"

namespace sluice::interpose {

namespace {

constexpr std::chrono::seconds kStandsStill(1);  // by then the watchdog has raised its quota to all there is

}  // namespace

bool Lane::outstanding() const {
  if (!replays.empty() && !context_state->is_there()) replays.clear();  // their events went with it
  std::erase_if(replays, [](const Event& r) { return SLUICE_REAL(cuEventQuery)(r.get()) != CUDA_ERROR_NOT_READY; });
  return entering > 0 || !replays.empty() ||
         std::ranges::any_of(slots, [](const auto& s) { return !s->node && !s->pending.empty(); });
}

IShares& Lanes::shares(GpuNumber gpu) {
  std::shared_ptr<IShares>& own = shares_[gpu];
  if (own == nullptr && !service_decides() && shares_.size() > 1)
    for (const auto& [other, theirs] : shares_) own = theirs == nullptr ? own : theirs;
  if (own == nullptr) own = make_shares(*this, gpu);
  return *own;
}

std::shared_ptr<ContextState> Lanes::context_state(std::unique_lock<std::mutex>& held) {
  const auto id = current_context();
  if (!id) return nullptr;
  // One thread makes it: the streams of each that did would take channels, and wait for what the first one launched.
  while (making_.contains(*id)) wait_for_change(held);
  if (const auto known = contexts_.find(*id); known != contexts_.end()) return known->second;
  making_.insert(*id);
  const std::size_t spares = crowded() ? channels_of_process() : 0;
  held.unlock();
  std::shared_ptr<ContextState> made;
  try {
    made = ContextState::make();
    if (made != nullptr && spares > 0) made->make_spares(lock_, spares);
  } catch (const std::bad_alloc&) {
    made = nullptr;  // as where the driver refuses: others wait for an answer
  }
  held.lock();
  making_.erase(*id);
  changed_.notify_all();
  return contexts_[*id] = std::move(made);
}

std::shared_ptr<Slot> Lanes::slot(ContextState& context_state, bool watched) {
  auto slot = std::make_shared<Slot>();
  if (watched) {
    slot->told = context_state.told();
    if (slot->told.word == nullptr) return nullptr;
  }
  slot->control = context_state.zeroed(sizeof(SluiceControl), offsetof(SluiceControl, told), slot->told.device);
  return slot->control == 0 ? nullptr : slot;
}

std::shared_ptr<Lane> Lanes::make_lane(std::unique_lock<std::mutex>& held, const std::shared_ptr<ContextState>& context_state,
                                       bool stream) {
  auto lane = std::make_shared<Lane>();
  lane->id = next_++;
  lane->context_state = context_state;
  lane->shares = &shares();
  lane->watched = lane->shares->changes();
  held.unlock();
  if (stream) {
    if (auto made = slot(*context_state, lane->watched)) {
      lane->orders = made->control + offsetof(SluiceControl, orders);
      lane->slots.push_back(std::move(made));
    }
  } else {
    lane->orders = context_state->zeroed(sizeof(SluiceOrders), 0, 0);
  }
  held.lock();
  return lane->orders == 0 ? nullptr : lane;
}

std::shared_ptr<Lane> Lanes::of_stream(std::unique_lock<std::mutex>& held, CUstream stream) {
  StreamId id;
  const std::shared_ptr<ContextState> own = context_state(held);
  if (own == nullptr || SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS) return nullptr;
  id.first = own->id();
  const auto known = streams_.find(id);
  if (known != streams_.end()) return known->second;
  for (auto old = retired_.begin(); old != retired_.end(); ++old) {
    if (old->first->context_state != own || old->first->outstanding() ||
        SLUICE_REAL(cuEventQuery)(old->second.get()) != CUDA_SUCCESS)
      continue;
    std::shared_ptr<Lane> lane = old->first;
    retired_.erase(old);
    lane->id = next_++;
    lane->stale = true;
    return streams_[id] = lane;
  }
  std::shared_ptr<Lane> lane = make_lane(held, own, true);
  return lane == nullptr ? nullptr : streams_.try_emplace(id, lane).first->second;
}

std::shared_ptr<Lane> Lanes::known(CUstream stream) const {
  StreamId id;
  const auto context = current_context();
  if (!context || SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS) return nullptr;
  id.first = *context;
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second;
}

std::shared_ptr<Lane> Lanes::of_graphs(std::unique_lock<std::mutex>& held) {
  const std::shared_ptr<ContextState> own = context_state(held);
  if (own == nullptr) return nullptr;
  const auto known = graphs_.find(own->id());
  if (known != graphs_.end()) return known->second;
  std::shared_ptr<Lane> lane = make_lane(held, own, false);
  return lane == nullptr ? nullptr : graphs_.try_emplace(own->id(), lane).first->second;
}

bool Lanes::crowded() const {
  constexpr std::size_t kOfAHome = 8;
  return streams_made_ + kOfAHome >= channels_of_process();
}

/// The driver's queue of a channel holds 1,021 launches, copies or replays, or 733 launches with 4 KB of parameters (an H200).
std::size_t Lanes::room() const {
  constexpr std::size_t kMost = 700, kLeast = 16;
  const std::size_t streams = streams_made_ - std::min(streams_made_, streams_ended_);
  return std::max(kLeast, kMost / (1 + streams / channels_of_process()));
}

bool Lanes::is_full(const Lane& lane) const {
  return lane.queued() >= room() && (lane.queued() >= room() * 7 / 5 || !one_stands_still());
}

void Lanes::enters(std::unique_lock<std::mutex>& held, CUstream stream) {
  if (outstanding() == 0) return;
  StreamId id;
  const auto context = current_context();
  if (!context || SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS) return;
  id.first = *context;
  if (const auto found = streams_.find(id); found != streams_.end() && found->second->outstanding()) {
    const std::shared_ptr<Lane> lane = found->second;
    while (lane->outstanding() && is_full(*lane)) wait_for_change(held);
    ++lane->entered;
    return;
  }
  if (++queues_[id].entered % (room() / 2) != 0) return;
  const std::shared_ptr<ContextState> state = context_state(held);
  const Relaxed relaxed;
  const Event marker = state == nullptr ? nullptr : state->event(CU_EVENT_DISABLE_TIMING);
  if (marker == nullptr || SLUICE_REAL(cuEventRecord)(marker.get(), stream) != CUDA_SUCCESS) return;
  const Event last = std::exchange(queues_[id].marker, marker);
  if (last == nullptr) return;
  while (outstanding() > 0 && SLUICE_REAL(cuEventQuery)(last.get()) == CUDA_ERROR_NOT_READY) {
    wake();
    wait_for_change(held);
  }
}

std::size_t Lanes::held_channels() const {
  const auto waits = [&](const auto& queue) {
    const auto lane = streams_.find(queue.first);
    return queue.second.behind != nullptr && (lane == streams_.end() || !lane->second->outstanding()) &&
           SLUICE_REAL(cuEventQuery)(queue.second.behind.get()) == CUDA_ERROR_NOT_READY;
  };
  return outstanding() + static_cast<std::size_t>(std::ranges::count_if(queues_, waits));
}

/// The event itself is not looked at: that of a capture may not be. Not for ever where the lanes have CTAs, and none ends: they
/// may wait for what the program does next.
void Lanes::before_wait(std::unique_lock<std::mutex>& held, CUstream stream) {
  if (outstanding() == 0) return;
  if (const std::shared_ptr<Lane> own = known(stream); own != nullptr && own->outstanding()) return;
  const auto evicted = [](const auto& lane) { return lane->outstanding() && lane->share.ctas.value() == 0; };
  std::size_t before = 0;
  for (Clock::duration still{}; outstanding() > 0 && still < kStandsStill;) {
    const std::size_t now = held_channels();
    if (now <= channels_of_process() / 2) return;  // launches that enter by themselves take others
    if (now != std::exchange(before, now) || std::ranges::any_of(all(), evicted)) still = {};
    const auto begin = Clock::now();
    wake();
    wait_for_change(held);
    still += std::min<Clock::duration>(Clock::now() - begin, std::chrono::milliseconds(1));  // not while others hold the lock
  }
}

void Lanes::after_wait(std::unique_lock<std::mutex>& held, CUstream stream) {
  StreamId id;
  const auto context = current_context();
  if (outstanding() == 0 || !context || SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS) return;
  id.first = *context;
  const std::shared_ptr<ContextState> state = context_state(held);
  const Relaxed relaxed;
  const Event behind = state == nullptr ? nullptr : state->event(CU_EVENT_DISABLE_TIMING);
  if (behind != nullptr && SLUICE_REAL(cuEventRecord)(behind.get(), stream) == CUDA_SUCCESS) queues_[id].behind = behind;
}

bool Lanes::stream_begins() {
  ++streams_made_;
  return crowded();
}

std::shared_ptr<ContextState> Lanes::here() const {
  const auto id = current_context();
  const auto known = id ? contexts_.find(*id) : contexts_.end();
  return known == contexts_.end() ? nullptr : known->second;
}

void Lanes::make_spares(std::unique_lock<std::mutex>& held) {
  const std::shared_ptr<ContextState> state = here();
  if (state == nullptr) return;
  held.unlock();
  state->make_spares(lock_, channels_of_process());
  held.lock();
}

void Lanes::stream_ends(CUstream stream) {
  StreamId id;
  const auto context = current_context();
  ++streams_ended_;
  if (streams_.empty() || !context || SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS) return;
  id.first = *context;
  queues_.erase(id);
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const Relaxed relaxed;
  const Event event = found->second->context_state->event(CU_EVENT_DISABLE_TIMING);
  if (event != nullptr && SLUICE_REAL(cuEventRecord)(event.get(), stream) == CUDA_SUCCESS)
    retired_.emplace_back(found->second, event);
  streams_.erase(found);
}

void Lanes::may_end(CUcontext context) {
  const auto found = std::ranges::find_if(contexts_, [&](const auto& c) { return c.second && c.second->context() == context; });
  if (found != contexts_.end()) with_what_may_end_ = sums(found->second.get());
}

std::shared_ptr<ContextState> Lanes::context_ends(CUcontext context, ContextId gone, bool read) {
  const auto found = std::ranges::find_if(
      contexts_, [&](const auto& c) { return (gone == 0 || c.first == gone) && c.second && c.second->context() == context; });
  if (found == contexts_.end()) return nullptr;
  const ContextId id = found->first;
  const std::shared_ptr<ContextState> state = found->second;
  if (gone == 0)
    counted_ = read ? with_what_may_end_ : sums(state.get());
  else
    counted_.known = false;
  for (const std::shared_ptr<Lane>& lane : all())
    if (lane->context_state == state) give_up(*lane);
  state->ends();
  std::erase_if(streams_, [&](const auto& s) { return s.first.first == id; });
  std::erase_if(queues_, [&](const auto& q) { return q.first.first == id; });
  std::erase_if(retired_, [&](const auto& r) { return r.first->context_state == state; });
  graphs_.erase(id);
  looked_at_.erase(state.get());
  contexts_.erase(found);
  return state;
}

void Lanes::forget() {
  new std::map(std::exchange(shares_, {}));  // their threads and sessions are the parent's
  for (auto& [id, context_state] : contexts_)
    if (context_state != nullptr) new std::shared_ptr(context_state);  // the parent's: never given back
  contexts_.clear();
  looked_at_.clear();
  making_.clear();
  streams_.clear();
  queues_.clear();
  graphs_.clear();
  retired_.clear();
  gone_.clear();
  running_ = polls_ = false;
}

std::size_t Lanes::outstanding(std::optional<GpuNumber> gpu) const {
  const auto waits = [&](const auto& lane) {
    return (!gpu || lane.second->context_state->gpu() == *gpu) && lane.second->outstanding();
  };
  return static_cast<std::size_t>(std::ranges::count_if(streams_, waits) + std::ranges::count_if(graphs_, waits));
}

bool Lanes::one_stands_still() const {
  const auto stands = [now = Clock::now()](const auto& slot) {
    return !slot->pending.empty() && slot->pending.front().waits && slot->resident > 0 && now - slot->moved > kStandsStill;
  };
  return std::ranges::any_of(all(), [&](const auto& lane) {
    return lane->outstanding() && lane->share.ctas.value() > 0 && std::ranges::any_of(lane->slots, stands);
  });
}

std::vector<std::shared_ptr<Lane>> Lanes::all() const {
  std::vector<std::shared_ptr<Lane>> all;
  for (const auto& [id, lane] : streams_) all.push_back(lane);
  for (const auto& [id, lane] : graphs_) all.push_back(lane);
  for (const auto& [lane, event] : retired_) all.push_back(lane);
  return all;
}

void Lanes::count_runs(std::unique_lock<std::mutex>& held, const Lane& lane, Slot& slot, SluiceJob& job) {
  static const bool checks = std::getenv("SLUICE_CHECK") != nullptr;
  if (!checks || (slot.of != 0 && slot.of != job.blocks)) return;
  if (std::exchange(slot.of, job.blocks) == 0) {
    held.unlock();
    slot.runs = lane.context_state->zeroed(job.blocks * sizeof(unsigned), 0, 0);
    held.lock();
  }
  if (slot.runs == 0) return;
  job.runs = reinterpret_cast<unsigned*>(slot.runs);
  job.counts_runs = 1;
  ++slot.counted;
}

Lanes::Sums Lanes::sums(const ContextState* of) {
  Sums sums = counted_;
  const auto add = [&](const Lane& lane) {
    for (const std::shared_ptr<Slot>& slot : lane.slots) {
      unsigned violations = 0, told[2] = {};
      if (!lane.context_state->read(&violations, slot->control + offsetof(SluiceControl, violations), sizeof violations) ||
          !lane.context_state->read(told, slot->control + offsetof(SluiceControl, ended), sizeof told))
        sums.known = false;
      sums.violations += violations;
      sums.naps += told[1];
      std::array<unsigned, SLUICE_MAX_SM> most{};
      if (lane.context_state->read(most.data(), slot->control + offsetof(SluiceControl, max_resident), sizeof most))
        for (const unsigned ctas : most)
          if (ctas > 0) ++sums.placed[lane.told.name][std::to_string(ctas)];
      for (std::uint64_t from = 0; from < slot->of && slot->runs != 0; from += most.size()) {
        const std::size_t count = std::min<std::size_t>(most.size(), slot->of - from);
        sums.known &= lane.context_state->read(most.data(), slot->runs + from * sizeof(unsigned), count * sizeof(unsigned));
        Sums::Checked& checked = sums.checked[lane.told.name];
        for (std::size_t i = 0; i < count; ++i) {
          checked.blocks += most[i];
          checked.wrong += most[i] == slot->counted ? 0 : 1;
        }
      }
    }
  };
  CUcontext before = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&before);
  for (const auto& lane : all()) {
    if (of != nullptr && lane->context_state.get() != of) continue;
    if (lane->context_state->enter())
      add(*lane);
    else
      sums.known = false;
  }
  SLUICE_REAL(cuCtxSetCurrent)(before);
  return sums;
}

bool Lanes::admitted_runs(GpuNumber gpu) { return Program::instance().held_one_runs(gpu); }
void Lanes::look_at_admitted(GpuNumber gpu) { Program::instance().look_at_admitted(gpu); }

std::vector<CoverageLine> Lanes::coverage(GpuNumber gpu) { return Program::instance().coverage_lines(gpu); }

MemoryFigures Lanes::memory(GpuNumber gpu) { return Memory::instance().figures(gpu); }

bool Lanes::has_failed(GpuNumber gpu) {
  const auto held = lock_at_exit(lock_);
  if (!held.owns_lock()) return false;
  return std::ranges::any_of(contexts_, [&](const auto& c) {
    return c.second != nullptr && c.second->gpu() == gpu && c.second->enter() && c.second->has_failed();
  });
}

DeviceShape Lanes::device(GpuNumber gpu) {
  for (const auto& [id, state] : contexts_)
    if (state != nullptr && state->gpu() == gpu) return state->shape();
  return ContextState::shape_of_current();
}

std::string Lanes::times_json() const { return shares_.empty() ? "" : shares_.begin()->second->times_json(); }

}  // namespace sluice::interpose
