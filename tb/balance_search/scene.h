// SPDX-License-Identifier: Apache-2.0
// Random scenes of balance_search, its twin's too, and ports of any width.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sw/partition/balance.h"
#include "sw/partition/balance_unit.h"
#include "systemc/unit/twin/balance_search_unit.h"
#include "tb/common/random.h"

namespace sluice::tb {

inline constexpr unsigned kCtaW = 6, kWeightW = 7, kRateW = 15, kRowW = 6;
inline constexpr std::uint32_t kScale = 4;  ///< instructions of a step of a sample

/// A port of any width, a bit at a time.
template <class Port>
void put(Port& port, unsigned low, unsigned width, std::uint64_t value) {
  if constexpr (std::is_integral_v<Port>) {
    const std::uint64_t mask = ((std::uint64_t{1} << width) - 1) << low;
    port = static_cast<Port>((port & ~mask) | (value << low));
  } else {
    for (unsigned bit = 0; bit < width; ++bit) {
      const unsigned at = low + bit;
      port[at / 32] = (port[at / 32] & ~(1U << at % 32)) | (static_cast<std::uint32_t>(value >> bit & 1U) << at % 32);
    }
  }
}
template <class Port>
std::uint32_t get(const Port& port, unsigned low, unsigned width) {
  std::uint32_t value = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const unsigned at = low + bit;
    if constexpr (std::is_integral_v<Port>) {
      value |= static_cast<std::uint32_t>(port >> at & 1U) << bit;
    } else {
      value |= (port[at / 32] >> at % 32 & 1U) << bit;
    }
  }
  return value;
}

template <class Port>
JointCounts counts_of(const Port& port, std::size_t kernels) {
  JointCounts counts;
  for (unsigned k = 0; k < kernels; ++k) counts.emplace_back(get(port, k * kCtaW, kCtaW));
  return counts;
}

struct Scene {
  SmResources capacity;
  std::vector<SmResources> demand;
  std::vector<BalanceWish> wishes;  ///< as the golden rules take them
  BalanceUnitSettings unit;         ///< the same
  JointCounts base;
  std::uint32_t room = 1;

  [[nodiscard]] bool fit(const JointCounts& counts) const {
    SmResources free = capacity;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (!fits(demand[k], free, counts[k])) return false;
      free = take(free, demand[k], counts[k]);
    }
    return true;
  }
};

/// As the unit takes them.
inline std::uint64_t amounts(const SmResources& of) {
  return std::uint64_t{of.shared_memory_bytes} << 24U | std::uint64_t{of.registers} << 7U | of.threads / kWarpSize;
}

inline std::optional<Scene> scene(Random& random, std::uint32_t most_kernels, std::uint32_t most_ctas, std::uint32_t most_room) {
  Scene s;
  const std::uint32_t warps = random.in(8, 64);
  const bool large = random.chance(0.2);  // as many as the fields hold
  s.capacity = {warps * kWarpSize, random.in(4096, large ? 131071 : 65536), random.in(0, large ? 262143 : 49152),
                random.in(2, most_ctas)};
  const bool wished = random.chance(0.5), promised = random.chance(0.3);
  for (std::uint32_t k = random.in(2, most_kernels); k-- > 0;) {
    const auto some = [&](std::uint32_t of) { return random.in(1, std::max(1U, of / random.in(2, 12))); };
    s.demand.push_back(
        {some(warps) * kWarpSize, some(s.capacity.registers), random.chance(0.3) ? some(s.capacity.shared_memory_bytes) : 0, 1});
    s.unit.weights.push_back(wished ? random.in(1, 127) : 64);
    s.unit.floors.push_back(promised ? random.in(0, 10000) : 0);
    s.wishes.push_back({s.unit.weights.back() / 64.0, s.unit.floors.back() / 8192.0});
  }
  s.unit.keep = random.chance(0.5) ? 1U << 15U : random.in(0, (1U << 18U) - 1) >> random.in(0, 2);
  s.room = random.chance(0.5) ? most_room : random.chance(0.4) ? 0 : random.in(1, most_room);
  const std::vector<JointCounts> frontier = balance_candidates(s.demand, s.capacity, 8, 8);
  if (frontier.empty()) return std::nullopt;
  s.base = frontier[random.in(0, static_cast<std::uint32_t>(frontier.size()) - 1)];
  if (random.chance(0.3)) s.base.front() = CtaCount(random.in(1, s.base.front().value()));  // with room left
  return s;
}

/// The same search by the twin. @return cycles to the first round
inline std::uint64_t begin(BalanceSearchUnit& twin, const Scene& s) {
  const auto amounts_of = [](const SmResources& of) {
    return std::array<std::uint32_t, 4>{of.cta_slots, of.threads / kWarpSize, of.registers, of.shared_memory_bytes};
  };
  BalanceSearchUnit::Plan plan{amounts_of(s.capacity), {}, s.unit, s.room};
  for (const SmResources& demand : s.demand) plan.demand.push_back(amounts_of(demand));
  BalanceSearchUnit::Counts base;
  for (const CtaCount count : s.base) base.push_back(count.value());
  return twin.begin(std::move(plan), base);
}

/// Instructions of a kernel beside others: of these CTAs always the same, near half of those alone.
inline std::uint32_t speed(const JointCounts& held, std::size_t k, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const CtaCount count : held) hash = hash * 6364136223846793005ULL + count.value() + k;
  const std::uint32_t spread = static_cast<std::uint32_t>(seed % 3 == 0 ? 12000 : 2500);  // wild, or near each other
  return 500 + static_cast<std::uint32_t>((hash ^ hash >> 29U) * 0x9E3779B97F4A7C15ULL >> 40U) % spread;
}

}  // namespace sluice::tb
