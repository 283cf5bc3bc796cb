#pragma once
#include <cstdint>
#include <vector>

#include "sw/core/machine.h"

namespace sluice {

/// Tags of a set-associative LRU cache that reserves a way when a miss is sent (allocate on miss). Holds no data.
class CacheTags {
 public:
  enum class State : std::uint8_t { Invalid, Reserved, Valid };
  struct Way {
    std::uint64_t line = 0;
    std::uint64_t last_use = 0;
    std::uint32_t mshr = 0;  ///< while Reserved: the user's MSHR index
    State state = State::Invalid;
    bool dirty = false;
  };

  explicit CacheTags(const CacheConfig& config)
      : ways_(config.ways),
        sets_(config.bytes / (config.line_bytes * config.ways)),
        tags_(static_cast<std::size_t>(sets_) * ways_) {}

  /// The way that holds `line` (Valid or Reserved), or nullptr. Counts as a use.
  Way* find(std::uint64_t line) {
    Way* set = set_of(line);
    for (std::uint32_t w = 0; w < ways_; ++w) {
      if (set[w].state != State::Invalid && set[w].line == line) {
        set[w].last_use = ++uses_;
        return &set[w];
      }
    }
    return nullptr;
  }
  /// The way a miss of `line` would take: invalid first, then least recently used; nullptr when all are reserved.
  Way* victim(std::uint64_t line) {
    Way* set = set_of(line);
    Way* oldest = nullptr;
    for (std::uint32_t w = 0; w < ways_; ++w) {
      if (set[w].state == State::Invalid) return &set[w];
      if (set[w].state == State::Valid && (oldest == nullptr || set[w].last_use < oldest->last_use)) oldest = &set[w];
    }
    return oldest;
  }
  void fill(Way& way, std::uint64_t line, State state) {
    way.line = line;
    way.state = state;
    way.dirty = false;
    way.last_use = ++uses_;
  }

 private:
  Way* set_of(std::uint64_t line) {
    // Fold the upper bits in: kernels stride by powers of two, and hashed sets are what real L1s do about it.
    const std::uint64_t index = (line ^ (line >> 10) ^ (line >> 20)) % sets_;
    return &tags_[index * ways_];
  }

  std::uint32_t ways_;
  std::uint64_t sets_;
  std::vector<Way> tags_;
  std::uint64_t uses_ = 0;
};

}  // namespace sluice
