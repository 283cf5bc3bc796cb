// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "sw/scheduler/i_scheduler.h"

namespace sluice::service {

/// One owner holds the GPU at a time: a plan keeps the shares of one owner's jobs. While jobs of several owners are to hold SMs,
/// they take turns, in order of their names. The next owner waits until every CTA of the last one has left.
class TimeSlices {
 public:
  static constexpr Time kSlice = std::chrono::milliseconds(10);
  using OwnerOf = std::function<std::uint32_t(JobId)>;
  /// @return the same plan, narrowed; the only job of its owner that holds anything gets the whole machine
  [[nodiscard]] Plan narrowed(Plan plan, std::span<const JobView> jobs, const OwnerOf& owner_of, Time now);

 private:
  std::optional<std::uint32_t> holder_;
  Time until_{};        ///< end of the holder's turn
  bool waits_ = false;  ///< for the last one to leave
};

}  // namespace sluice::service
