// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>

namespace sluice {

/// When a port is taken, ahead of time: packets reserve it in the order they are sent, not in the order they get there, so idle
/// time before a reservation stays free for who comes earlier.
class PortCalendar {
 public:
  /// Takes the first `length` free cycles in a row from `ready` on. @param now time; never goes back. @pre ready >= now
  /// @return cycle after the last of them
  std::uint64_t reserve(std::uint64_t now, std::uint64_t ready, std::uint64_t length) {
    while (!busy_.empty() && busy_.front().end <= now) busy_.pop_front();
    std::uint64_t start = ready;
    auto next = busy_.begin();
    for (; next != busy_.end() && next->begin < start + length; ++next) start = std::max(start, next->end);
    const std::uint64_t end = start + length;
    const bool joins_next = next != busy_.end() && next->begin == end;
    const bool joins_previous = next != busy_.begin() && std::prev(next)->end == start;
    if (joins_previous && joins_next) {
      std::prev(next)->end = next->end;
      busy_.erase(next);
    } else if (joins_previous) {
      std::prev(next)->end = end;
    } else if (joins_next) {
      next->begin = start;
    } else {
      busy_.insert(next, {start, end});
    }
    return end;
  }

 private:
  struct Interval {
    std::uint64_t begin, end;
  };
  std::deque<Interval> busy_;  ///< sorted, apart from each other
};

}  // namespace sluice
