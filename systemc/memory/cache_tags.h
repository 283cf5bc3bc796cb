// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "sw/core/machine.h"

namespace sluice {

/// Tags of a set-associative LRU cache that reserves a way when a miss is sent (allocate on miss). Holds no data. Lines have four
/// sectors, each valid, on its way, or neither; a cache without sectors simply asks for all four at once. A sector that is dirty
/// and not valid is written in part: its other bytes are in DRAM.
class CacheTags {
 public:
  struct Way {
    [[nodiscard]] bool empty() const { return (valid | pending | dirty) == 0; }
    std::uint64_t line = 0;
    std::uint64_t last_use = 0;
    std::uint32_t mshr = 0;                          ///< while sectors are pending: the user's MSHR index
    std::uint8_t valid = 0, pending = 0, dirty = 0;  ///< sector masks
    std::array<std::uint8_t, 4> written{};           ///< of each sector that is not valid: bytes written
  };

  explicit CacheTags(const CacheConfig& config)
      : ways_(config.ways),
        sets_(config.bytes / (config.line_bytes * config.ways)),
        index_(config.index),
        tags_(static_cast<std::size_t>(sets_) * ways_) {}

  /// The way that holds sectors of `line`, or awaits them; nullptr when none does. Counts as a use.
  Way* find(std::uint64_t line) {
    Way* way = look(line);
    if (way != nullptr) way->last_use = ++uses_;
    return way;
  }
  /// The same, without counting.
  Way* look(std::uint64_t line) {
    Way* set = set_of(line);
    for (std::uint32_t w = 0; w < ways_; ++w)
      if (!set[w].empty() && set[w].line == line) return &set[w];
    return nullptr;
  }
  /// The way a miss of `line` would take: an empty one first, then the least recently used; nullptr when all await sectors.
  Way* victim(std::uint64_t line) {
    Way* set = set_of(line);
    Way* oldest = nullptr;
    for (std::uint32_t w = 0; w < ways_; ++w) {
      if (set[w].empty()) return &set[w];
      if (set[w].pending == 0 && (oldest == nullptr || set[w].last_use < oldest->last_use)) oldest = &set[w];
    }
    return oldest;
  }
  void assign(Way& way, std::uint64_t line) {
    way.line = line;
    way.valid = way.pending = way.dirty = 0;
    way.written = {};
    way.last_use = ++uses_;
  }

 private:
  [[nodiscard]] std::uint64_t set_index(std::uint64_t line) const {
    switch (index_) {
      case CacheIndex::Linear: return line % sets_;
      case CacheIndex::Fermi: {
        // Line address bits 0..4 (byte 7..11) against byte address bits 13, 14, 15, 17 and 19: what Nugteren et al. (HPCA 2014)
        // measured on a GTX 470. Byte address bit 12 on top for 64 sets.
        const std::uint64_t upper = (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4;
        return (((line & 31) ^ upper) | (line & 32)) % sets_;
      }
      case CacheIndex::Xor: break;
    }
    // Fold the upper bits in: kernels stride by powers of two.
    return (line ^ (line >> 10) ^ (line >> 20)) % sets_;
  }
  Way* set_of(std::uint64_t line) { return &tags_[set_index(line) * ways_]; }

  std::uint32_t ways_;
  std::uint64_t sets_;
  CacheIndex index_;
  std::vector<Way> tags_;
  std::uint64_t uses_ = 0;
};

}  // namespace sluice
