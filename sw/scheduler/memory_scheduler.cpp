// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/memory_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr double kMiB = 1024 * 1024;

/// The models of what a kernel is know three types; for the bus there are two.
std::size_t kind(const MemoryDemand& demand) { return demand.type == KernelType::Compute ? 0 : 1; }

}  // namespace

void check_fits(std::uint64_t device_bytes, const MemoryDemand& demand) {
  if (demand.in_bytes > device_bytes || demand.out_bytes > device_bytes - demand.in_bytes)
    throw InputError(fmt::format("{:.1f} MiB of inputs and outputs: the device has {:.1f} MiB",
                                 (static_cast<double>(demand.in_bytes) + static_cast<double>(demand.out_bytes)) / kMiB,
                                 static_cast<double>(device_bytes) / kMiB));
}

void MemoryScheduler::arrive(JobId job, const MemoryDemand& demand) {
  if (std::ranges::find(entries_, job, &Entry::job) != entries_.end())
    throw std::logic_error(fmt::format("job {}: arrives twice", job.value()));
  check_fits(device_bytes_, demand);
  entries_.push_back({job, demand});
}

std::size_t MemoryScheduler::find(JobId job, State state) const {
  const auto found = std::ranges::find(entries_, job, &Entry::job);
  if (found == entries_.end() || found->state != state)
    throw std::logic_error(fmt::format("job {}: the memory scheduler does not wait for this", job.value()));
  return static_cast<std::size_t>(found - entries_.begin());
}

/// Those before it in its program have come as far.
bool MemoryScheduler::leads(std::size_t place, State at_least) const {
  const Entry& entry = entries_[place];
  return std::none_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(place), [&](const Entry& before) {
    return entry.demand.program && before.demand.program == entry.demand.program && before.state < at_least;
  });
}

std::size_t MemoryScheduler::next(CopyDirection direction) const {
  if (direction == CopyDirection::FromDevice) return done_.empty() ? entries_.size() : find(done_.front(), State::WaitsOut);
  std::array<std::size_t, 2> ready_of{};
  for (const Entry& entry : entries_) {
    if (entry.state == State::CopyIn || entry.state == State::Loaded) return entries_.size();
    if (entry.state == State::Placed || entry.state == State::Ready) ++ready_of[kind(entry.demand)];
  }
  std::size_t best = entries_.size();
  const auto order = [&](const MemoryDemand& demand) { return std::tuple(ready_of[kind(demand)], demand.in_bytes); };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const MemoryDemand& demand = entries_[i].demand;
    if (entries_[i].state != State::Waiting || demand.in_bytes > free_bytes_ || !leads(i, State::CopyIn)) continue;
    if (best == entries_.size() || order(demand) < order(entries_[best].demand)) best = i;
  }
  return best;
}

bool MemoryScheduler::can_begin(CopyDirection direction) const { return next(direction) != entries_.size(); }

std::optional<CopyCommand> MemoryScheduler::begin(CopyDirection direction) {
  const std::size_t place = next(direction);
  if (place == entries_.size()) return std::nullopt;
  Entry& entry = entries_[place];
  if (direction == CopyDirection::ToDevice) {
    entry.state = State::CopyIn;
    free_bytes_ -= entry.demand.in_bytes;
    return CopyCommand{entry.job, direction, entry.demand.in_bytes};
  }
  entry.state = State::CopyOut;
  done_.erase(done_.begin());
  return CopyCommand{entry.job, direction, entry.demand.out_bytes};
}

std::vector<JobId> MemoryScheduler::ended(const CopyCommand& copy) {
  if (copy.direction == CopyDirection::FromDevice)
    release(find(copy.job, State::CopyOut));
  else
    entries_[find(copy.job, State::CopyIn)].state = State::Loaded;
  return make_ready();
}

std::vector<JobId> MemoryScheduler::make_ready() {
  std::vector<JobId> ready;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.state == State::Loaded && entry.demand.out_bytes <= free_bytes_) {
      free_bytes_ -= entry.demand.out_bytes;
      entry.state = State::Placed;
    }
    if (entry.state != State::Placed || !leads(i, State::WaitsOut)) continue;
    entry.state = State::Ready;
    ready.push_back(entry.job);
  }
  return ready;
}

std::vector<JobId> MemoryScheduler::kernel_done(JobId job) {
  const std::size_t place = find(job, State::Ready);
  entries_[place].state = State::WaitsOut;
  free_bytes_ += entries_[place].demand.in_bytes;
  if (entries_[place].demand.out_bytes == 0)
    release(place);
  else
    done_.push_back(job);
  return make_ready();
}

void MemoryScheduler::release(std::size_t place) {
  free_bytes_ += entries_[place].demand.out_bytes;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
}

std::size_t MemoryScheduler::ready() const {
  return static_cast<std::size_t>(std::ranges::count(entries_, State::Ready, &Entry::state));
}

}  // namespace sluice
