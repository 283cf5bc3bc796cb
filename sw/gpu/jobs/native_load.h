// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <vector>

#include "sw/gpu/jobs/quota_job.h"

namespace sluice::gpu {

/// When the launches of one kernel were done, seconds on the host's steady clock.
using LaunchTimes = std::vector<double>;

/// Launches the untransformed kernel again and again, three in flight, until `stop`; returns when the last is done.
[[nodiscard]] LaunchTimes run_native_load(const PreparedKernel& kernel, CUstream stream, const std::atomic<bool>& stop);

/// Streams confined to a part of the SMs each (green contexts).
class GreenStreams {
 public:
  static constexpr unsigned kGranularity = 8;  ///< Hopper hands out SMs by eights
  /// @param parts  how many equal parts; the last gets what is left over by the hardware's granularity
  /// @throws GpuError when the driver has no green contexts, or the GPU cannot be split so
  GreenStreams(const Context& context, unsigned parts);
  ~GreenStreams();
  GreenStreams(const GreenStreams&) = delete;
  GreenStreams& operator=(const GreenStreams&) = delete;
  [[nodiscard]] CUstream stream(std::size_t part) const { return streams_[part]; }
  [[nodiscard]] const std::vector<unsigned>& sms() const { return sms_; }  ///< of each part

 private:
  std::vector<CUgreenCtx> contexts_;
  std::vector<CUstream> streams_;
  std::vector<unsigned> sms_;
};

}  // namespace sluice::gpu
