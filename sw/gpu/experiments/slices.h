// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/gpu/jobs/gpu_session.h"

namespace sluice::gpu {

/// An untransformed kernel in slices of consecutive blocks (sw/gpu/rewrite/slice.h), one launch each.
class Slices {
 public:
  Slices(const GpuSession& session, const PreparedKernel& kernel);
  /// All slices, one after the other. @param queued  slices that the GPU has at a time, at most 2
  /// @return milliseconds by the host's clock
  [[nodiscard]] double run(CUstream stream, std::uint32_t blocks, std::size_t queued) const;

 private:
  void launch(CUstream stream, std::uint32_t first, std::uint32_t blocks) const;
  const PreparedKernel& kernel_;
  Kernel sliced_;
};

/// One whole launch, timed as slices are.
[[nodiscard]] double native_by_clock(const PreparedKernel& kernel, CUstream stream);

}  // namespace sluice::gpu
