// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/region_allocator.h"

#include <algorithm>

namespace sluice {

namespace {

/// Base that stands for an empty region; no real region starts there because it lies beyond every resource.
constexpr std::uint32_t kEmptyRegion = 0xffffffffU;

}  // namespace

std::optional<std::uint32_t> RegionAllocator::allocate(std::uint32_t length) {
  if (length == 0) return kEmptyRegion;
  std::uint32_t gap_base = 0;
  for (const auto& [base, used] : used_) {
    if (base - gap_base >= length) break;
    gap_base = base + used;
  }
  if (gap_base > size_ || size_ - gap_base < length) return std::nullopt;
  used_.emplace(gap_base, length);
  return gap_base;
}

void RegionAllocator::release(std::uint32_t base) { used_.erase(base); }

std::uint32_t RegionAllocator::free_units() const {
  std::uint32_t free = size_;
  for (const auto& [base, used] : used_) free -= used;
  return free;
}

std::uint32_t RegionAllocator::largest_gap() const {
  std::uint32_t largest = 0, gap_base = 0;
  for (const auto& [base, used] : used_) {
    largest = std::max(largest, base - gap_base);
    gap_base = base + used;
  }
  return std::max(largest, size_ - gap_base);
}

}  // namespace sluice
