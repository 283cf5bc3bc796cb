// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sw/core/units.h"

namespace sluice {

inline constexpr std::uint32_t kWarpSize = 32;

/// Resource vector of one SM, or of one CTA on it: what a CTA holds from dispatch to its end.
struct SmResources {
  std::uint32_t threads = 0;              ///< rounded up to whole warps for a CTA
  std::uint32_t registers = 0;            ///< 32-bit registers
  std::uint32_t shared_memory_bytes = 0;  ///< scratchpad
  std::uint32_t cta_slots = 0;            ///< 1 for a CTA

  bool operator==(const SmResources&) const = default;
};

/// Every component of `demand * count` is within `available`.
[[nodiscard]] bool fits(const SmResources& demand, const SmResources& available, CtaCount count = CtaCount(1));

/// `pool - demand * count`. @pre fits(demand, pool, count)
[[nodiscard]] SmResources take(const SmResources& pool, const SmResources& demand, CtaCount count = CtaCount(1));

/// Largest number of CTAs of `demand` that fit into `available` together; 0 when one does not fit.
[[nodiscard]] CtaCount occupancy(const SmResources& demand, const SmResources& available);

}  // namespace sluice
