// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/gpu/cuda/compiler.h"
#include "sw/gpu/cuda/objects.h"

namespace sluice::gpu {

[[nodiscard]] Kernel load_flag_proxy(const Context& context, const Compiler& compiler);

/// EffiSha's proxy (section 4.2): a warp that reads the host's orders over and over and copies a new one to device memory, where
/// the workers read it. A grid of its own here, a block of the kernel there.
class FlagProxy {
 public:
  /// @param host  a SluiceOrders, written with its epoch last. @param device  where it is copied to
  FlagProxy(const Kernel& kernel, const PinnedMemory& host, CUdeviceptr device);
  ~FlagProxy();  ///< ends it
  FlagProxy(const FlagProxy&) = delete;
  FlagProxy& operator=(const FlagProxy&) = delete;

 private:
  PinnedMemory end_;
  StreamHandle stream_;
};

}  // namespace sluice::gpu
