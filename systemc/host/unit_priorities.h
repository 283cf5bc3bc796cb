// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>

#include "sw/core/errors.h"

namespace sluice {

/// What a kernel slot's register PRIORITY gets for each priority of the launches: their order, as the register has three bits.
/// @throws InputError where there are more than eight
[[nodiscard]] inline std::map<std::int32_t, std::uint32_t> unit_priorities(const std::set<std::int32_t>& of_launches) {
  constexpr std::size_t kLevels = 8;
  if (of_launches.size() > kLevels)
    throw InputError(fmt::format("partitioner.priority: the unit tells {} priorities apart, the launches have {}", kLevels,
                                 of_launches.size()));
  std::map<std::int32_t, std::uint32_t> levels;
  for (const std::int32_t priority : of_launches) levels.emplace(priority, static_cast<std::uint32_t>(levels.size()));
  return levels;
}

}  // namespace sluice
