// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sw/core/machine.h"
#include "systemc/memory/cache_tags.h"
#include "systemc/memory/port_calendar.h"

namespace sluice {

/// Instruction supply of one SM. A warp whose buffer has run empty is served by one fetch: up to `width` instructions that follow
/// each other in one cache line, a fetch a cycle for all warps. A line that the instruction cache lacks comes
/// from L2. Serving costs no event: the answer is the cycle from which the warp can issue.
class FetchUnit {
 public:
  static constexpr std::uint64_t kMissing = std::numeric_limits<std::uint64_t>::max();

  FetchUnit(const FetchConfig& config, std::uint32_t warp_slots)
      : config_(config), tags_(cache_config(config)), buffers_(warp_slots) {}

  [[nodiscard]] bool modelled() const { return config_.cache_bytes != 0; }
  void flush(std::uint32_t slot) { buffers_[slot] = {}; }  ///< a new warp in this slot

  /// The warp in `slot` wants the instruction at `address` (of all kernels' code together) after cycle `after`, which may be
  /// ahead of `now`.
  /// @return cycle from which it can issue; kMissing: after fill() of its line
  std::uint64_t request(std::uint32_t slot, std::uint64_t address, std::uint64_t after, std::uint64_t now) {
    Buffer& buffer = buffers_[slot];
    if (address > buffer.last && address < buffer.end) {
      buffer.last = address;
      return after + 1;
    }
    const std::uint64_t fetched = port_.reserve(now, after, 1);
    const std::uint64_t line = address / 128;
    CacheTags::Way* way = tags_.find(line);
    if (way == nullptr || way->pending != 0) return kMissing;
    buffer.last = address;
    buffer.end = std::min(address + static_cast<std::uint64_t>(config_.width) * config_.instruction_bytes, (line + 1) * 128);
    return fetched - 1 + config_.latency;
  }
  /// After kMissing: reserves the line. @return true when it must be asked for, false when it is on its way or no way is free
  bool miss(std::uint64_t address) {
    const std::uint64_t line = address / 128;
    if (tags_.find(line) != nullptr) return false;
    CacheTags::Way* way = tags_.victim(line);
    if (way == nullptr) return false;
    tags_.assign(*way, line);
    way->pending = 0xf;
    return true;
  }
  void fill(std::uint64_t address) {
    CacheTags::Way* way = tags_.find(address / 128);
    way->pending = 0;
    way->valid = 0xf;
  }

 private:
  struct Buffer {
    std::uint64_t last = 0, end = 0;  ///< holds the instructions behind `last`, up to `end`
  };
  static CacheConfig cache_config(const FetchConfig& fetch) {
    CacheConfig cache;
    cache.bytes = std::max(fetch.cache_bytes, fetch.cache_ways * 128);
    cache.ways = fetch.cache_ways;
    cache.index = CacheIndex::Linear;
    return cache;
  }

  FetchConfig config_;
  CacheTags tags_;
  std::vector<Buffer> buffers_;
  PortCalendar port_;  ///< a fetch a cycle
};

}  // namespace sluice
