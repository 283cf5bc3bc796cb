// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include "sw/gpu/jobs/job_shape.h"

namespace sluice::gpu {

/// Raises the quotas of a job whose blocks wait for blocks that the quotas keep from beginning: when all CTAs that the quotas
/// allow are resident and none of them has ended a block for a while, the quotas are doubled, up to as many CTAs as the
/// untransformed kernel would have; then the SMs without a quota get one too. Without clock and GPU: it is told what the host
/// sees.
class Watchdog {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// @param bound  how long a job may stand still
  /// @param most   CTAs that fit on an SM
  Watchdog(std::chrono::steady_clock::duration bound, std::uint32_t most) : bound_(bound), most_(most) {}

  /// @param done      tasks that have ended since the start; may wrap
  /// @param resident  CTAs that hold a slot
  /// @return the quotas to put into force instead of `quota`; nothing when the job moves, is not all there, or has all there is
  [[nodiscard]] std::optional<QuotaTable> look(Time now, std::uint64_t done, std::uint64_t resident, const QuotaTable& quota);
  [[nodiscard]] std::uint32_t raises() const { return raises_; }  ///< times that it raised quotas

 private:
  std::chrono::steady_clock::duration bound_;
  std::uint32_t most_, raises_ = 0;
  std::uint64_t done_ = 0;
  std::optional<Time> since_{};  ///< when the job was first seen as it still stands
};

}  // namespace sluice::gpu
