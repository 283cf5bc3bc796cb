// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>

namespace sluice {

/// Contiguous first-fit allocation of one SM resource (registers or shared memory), as real SMs place CTAs: what lets FCFS
/// fragment (Warped-Slicer, figure 2a). Free neighbours merge.
class RegionAllocator {
 public:
  explicit RegionAllocator(std::uint32_t size) : size_(size) {}

  /// Lowest free region of `length` units; a length of 0 always succeeds and holds nothing.
  /// @return its base, or nullopt when no single gap is long enough
  std::optional<std::uint32_t> allocate(std::uint32_t length);
  /// Gives back the region at `base`. Bases of empty regions are ignored.
  void release(std::uint32_t base);

  [[nodiscard]] std::uint32_t free_units() const;   ///< in all gaps together
  [[nodiscard]] std::uint32_t largest_gap() const;  ///< longest single gap

 private:
  std::uint32_t size_;
  std::map<std::uint32_t, std::uint32_t> used_;  ///< base -> length
};

}  // namespace sluice
