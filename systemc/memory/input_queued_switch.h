// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace sluice {

/// A crossbar with FIFO inputs and a round-robin arbiter at each output. A packet that waits for its output holds up those behind
/// it (head-of-line blocking: with uniform traffic and many ports at most 2 - sqrt(2) of the bandwidth is left; Karol, Hluchyj
/// and Morgan, 1987). A packet may consist of several units that are arbitrated one by one, such as the sectors of a line.
template <class Payload>
class InputQueuedSwitch {
 public:
  InputQueuedSwitch(std::size_t inputs, std::size_t outputs)
      : queues_(inputs), input_free_(inputs), output_free_(outputs), turn_(outputs), chosen_(outputs) {}

  /// Enters a packet that is at its input from cycle `ready` on.
  void push(std::size_t input, std::size_t output, std::uint64_t ready, std::uint32_t units, std::uint64_t unit_cycles,
            Payload payload) {
    std::deque<Packet>& queue = queues_[input];
    auto at = queue.end();
    // In order of arrival at the input, but never before a packet that is being sent.
    while (at != queue.begin() && std::prev(at)->ready > ready && !std::prev(at)->started) --at;
    queue.insert(at, {ready, output, units, unit_cycles, false, payload});
  }

  /// Arbitrates cycle `now`. @param deliver  called with (payload, cycle the last unit is through, input, output)
  template <class Deliver>
  void cycle(std::uint64_t now, const Deliver& deliver) {
    constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
    std::ranges::fill(chosen_, kNobody);
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (queues_[i].empty() || input_free_[i] > now || queues_[i].front().ready > now) continue;
      const std::size_t o = queues_[i].front().output;
      if (output_free_[o] > now) continue;
      const auto distance = [&](std::size_t input) { return (input + queues_.size() - turn_[o]) % queues_.size(); };
      if (chosen_[o] == kNobody || distance(i) < distance(chosen_[o])) chosen_[o] = i;
    }
    for (std::size_t o = 0; o < chosen_.size(); ++o) {
      const std::size_t i = chosen_[o];
      if (i == kNobody) continue;
      Packet& packet = queues_[i].front();
      packet.started = true;
      input_free_[i] = output_free_[o] = now + packet.unit_cycles;
      turn_[o] = (i + 1) % queues_.size();
      if (--packet.units != 0) continue;
      Payload payload = packet.payload;
      queues_[i].pop_front();
      deliver(payload, output_free_[o], i, o);
    }
  }

  /// The next cycle after `now` in which something can be sent; the largest value when all is empty.
  [[nodiscard]] std::uint64_t next(std::uint64_t now) const {
    std::uint64_t soonest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (queues_[i].empty()) continue;
      const Packet& head = queues_[i].front();
      soonest = std::min(soonest, std::max({now + 1, head.ready, input_free_[i], output_free_[head.output]}));
    }
    return soonest;
  }

 private:
  struct Packet {
    std::uint64_t ready;
    std::size_t output;
    std::uint32_t units;
    std::uint64_t unit_cycles;
    bool started;
    Payload payload;
  };
  std::vector<std::deque<Packet>> queues_;
  std::vector<std::uint64_t> input_free_, output_free_;
  std::vector<std::size_t> turn_, chosen_;
};

}  // namespace sluice
