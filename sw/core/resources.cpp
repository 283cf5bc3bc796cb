// SPDX-License-Identifier: Apache-2.0
#include "sw/core/resources.h"

#include <algorithm>
#include <limits>

namespace sluice {

namespace {

std::uint32_t share(std::uint32_t available, std::uint32_t demand) {
  return demand == 0 ? std::numeric_limits<std::uint32_t>::max() : available / demand;
}

}  // namespace

bool fits(const SmResources& demand, const SmResources& available, CtaCount count) {
  const std::uint64_t n = count.value();
  return demand.threads * n <= available.threads && demand.registers * n <= available.registers &&
         demand.shared_memory_bytes * n <= available.shared_memory_bytes && demand.cta_slots * n <= available.cta_slots;
}

SmResources take(const SmResources& pool, const SmResources& demand, CtaCount count) {
  const std::uint32_t n = count.value();
  return {pool.threads - demand.threads * n, pool.registers - demand.registers * n,
          pool.shared_memory_bytes - demand.shared_memory_bytes * n, pool.cta_slots - demand.cta_slots * n};
}

CtaCount occupancy(const SmResources& demand, const SmResources& available) {
  return CtaCount(
      std::min({share(available.threads, demand.threads), share(available.registers, demand.registers),
                share(available.shared_memory_bytes, demand.shared_memory_bytes), share(available.cta_slots, demand.cta_slots)}));
}

}  // namespace sluice
