// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/fake_copies.h"

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {

/// Kernelet's pairs need as many.
constexpr std::size_t kReadyWanted = 2;
constexpr double kPicosPerSecond = 1e12;

}  // namespace

bool FakeCopies::wants_gpu() const {
  return scheduler_.can_begin(CopyDirection::FromDevice) ||
         (scheduler_.ready() < kReadyWanted && scheduler_.can_begin(CopyDirection::ToDevice));
}

bool FakeCopies::holds_gpu() const { return !memory_.overlap && (engines_[0] || engines_[1] || wants_gpu()); }

std::vector<FakeCopies::Begun> FakeCopies::begin(Time now, bool gpu_busy) {
  std::vector<Begun> begun;
  for (const CopyDirection direction : {CopyDirection::FromDevice, CopyDirection::ToDevice}) {
    std::optional<CopyCommand>& engine = engines_[static_cast<std::size_t>(direction)];
    if (engine) continue;
    if (!memory_.overlap && (gpu_busy || engines_[0] || engines_[1] || !wants_gpu())) continue;
    engine = scheduler_.begin(direction);
    if (!engine) continue;
    const double picos = static_cast<double>(engine->bytes) / memory_.bytes_a_second * kPicosPerSecond;
    begun.push_back({*engine, now + Time(std::llround(picos))});
  }
  return begun;
}

std::vector<JobId> FakeCopies::end(CopyDirection direction) {
  std::optional<CopyCommand>& engine = engines_[static_cast<std::size_t>(direction)];
  const CopyCommand copy = engine.value();
  engine.reset();
  return scheduler_.ended(copy);
}

void FakeCopies::account(Time since, Time now, bool gpu_busy) {
  const Time copying =
      static_cast<std::int64_t>(std::ranges::count_if(engines_, [](const auto& e) { return e.has_value(); })) * (now - since);
  times_.total += copying;
  if (gpu_busy) times_.overlapped += copying;
}

}  // namespace sluice
