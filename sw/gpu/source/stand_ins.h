// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

namespace sluice::gpu {

/// A header that NVRTC does not have, and what it says instead. NVRTC itself declares printf, malloc, memcpy, the mathematics and
/// all that the device has.
struct StandIn {
  const char *name, *text;
};
/// Headers of C and CUDA that files with kernels include: what of them device code can use.
[[nodiscard]] std::span<const StandIn> stand_ins();

}  // namespace sluice::gpu
