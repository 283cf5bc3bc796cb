// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <optional>

#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {

/// A launch of the port, on its way to a kernel slot.
struct PortLaunch {
  std::uint32_t slot = 0;
  LaunchRequest launch;
};

/// The twin of rtl/dispatch/launch_queue.sv, written from docs/reference/blocks/launch_port.md.
class LaunchQueueTwin {
 public:
  /// @param places  0: no launch port
  explicit LaunchQueueTwin(std::uint32_t places) : places_(places) {}

  [[nodiscard]] bool ready() const { return waiting_.size() < places_; }
  /// The launch that goes to a slot in this cycle. @param free  a bit a kernel slot: the port's, and FREE
  /// @param purge  of this cycle: none goes
  [[nodiscard]] std::optional<PortLaunch> take(const LaunchIn& in, std::uint32_t free,
                                               const std::optional<SluiceCsrPurge>& purge) const {
    if (places_ == 0 || (waiting_.empty() && !in.valid)) return std::nullopt;
    const LaunchRequest& next = waiting_.empty() ? in.launch : waiting_.front().launch;
    if (hands_back() || purge) return std::nullopt;
    if (taken_) free &= ~(1U << *taken_);  // its launch is made in this cycle
    if (free == 0) return std::nullopt;
    std::uint32_t slot = 0;
    while ((free >> slot & 1U) == 0) ++slot;
    return PortLaunch{slot, next};
  }
  void clock(const LaunchIn& in, const std::optional<PortLaunch>& takes, const std::optional<SluiceCsrPurge>& purge) {
    const bool back = hands_back();
    if (in.valid && ready()) waiting_.push_back({in.launch, false});
    for (Waiting& launch : waiting_) launch.purged = launch.purged || (purge && purge->meets(launch.launch.context));
    if (takes || back) waiting_.pop_front();
    back_told_ = back_;
    back_ = back;
    told_ = taken_;
    taken_ = takes ? std::optional(takes->slot) : std::nullopt;
  }
  /// The slot whose launch is made in this cycle.
  [[nodiscard]] const std::optional<std::uint32_t>& taken() const { return taken_; }
  /// The slot whose launch was made in the cycle before.
  [[nodiscard]] const std::optional<std::uint32_t>& told() const { return told_; }
  /// A launch was handed back two cycles ago.
  [[nodiscard]] bool back_told() const { return back_told_; }
  [[nodiscard]] std::uint32_t waiting() const { return static_cast<std::uint32_t>(waiting_.size()); }
  [[nodiscard]] bool stirs(std::uint32_t free) const {
    return taken_ || told_ || back_ || back_told_ || hands_back() || take({}, free, std::nullopt);
  }

 private:
  struct Waiting {
    LaunchRequest launch;
    bool purged = false;  ///< handed back in its turn
  };
  /// The oldest leaves without a slot.
  [[nodiscard]] bool hands_back() const { return !waiting_.empty() && waiting_.front().purged; }

  std::uint32_t places_;
  std::deque<Waiting> waiting_;
  bool back_ = false, back_told_ = false;
  std::optional<std::uint32_t> taken_, told_;
};

/// The twin of rtl/dispatch/grid_walker.sv: the place of a CTA follows from its index.
class GridWalkerTwin {
 public:
  void take(const PortLaunch& take) { launches_[take.slot] = take.launch; }
  void launch_of_the_host(std::uint32_t slot) { launches_[slot].reset(); }

  [[nodiscard]] GridPlace place(std::uint32_t slot, std::uint32_t cta) const {
    GridPlace place{cta, 0, 0, 0, 0};
    if (!launches_[slot]) return place;
    const LaunchRequest& l = *launches_[slot];
    const std::uint64_t rows = l.start_y + std::uint64_t{l.size_y} * l.start_z, index = l.start_x + rows * l.size_x + cta;
    place.x = static_cast<std::uint32_t>(index % l.size_x);
    place.y = static_cast<std::uint16_t>(index / l.size_x % l.size_y);
    place.z = static_cast<std::uint16_t>(index / l.size_x / l.size_y);
    place.context = l.context;
    place.priority = l.priority;
    return place;
  }
  [[nodiscard]] std::uint32_t tags(std::uint32_t slot) const {
    return launches_[slot]
               ? regs::kSlotTagsContext.put(launches_[slot]->context) | regs::kSlotTagsPriority.put(launches_[slot]->priority)
               : 0;
  }

 private:
  PerKernel<std::optional<LaunchRequest>> launches_{};
};

}  // namespace sluice
