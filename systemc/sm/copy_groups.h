// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace sluice {

/// The asynchronous copies of a warp that are under way, by group. Groups further back than kGroups count with the oldest kept.
class CopyGroups {
 public:
  static constexpr std::uint32_t kGroups = 64;
  static constexpr std::uint8_t kNone = 255;

  void clear() { *this = {}; }
  /// A copy begins. @return its group, for ended()
  std::uint8_t begin() {
    ++under_way_[open_];
    return static_cast<std::uint8_t>(open_);
  }
  void ended(std::uint8_t group) {
    if (group != kNone) --under_way_[group];
  }
  void commit() { open_ = (open_ + 1) % kGroups; }
  /// No copy is under way but those of the `left` groups committed last, and of the open one.
  [[nodiscard]] bool done(std::uint32_t left) const {
    for (std::uint32_t back = left + 1; back < kGroups; ++back)
      if (under_way_[(open_ + kGroups - back) % kGroups] != 0) return false;
    return true;
  }

 private:
  std::array<std::uint16_t, kGroups> under_way_{};
  std::uint32_t open_ = 0;
};

}  // namespace sluice
