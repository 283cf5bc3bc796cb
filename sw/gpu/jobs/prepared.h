// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sw/core/resources.h"
#include "sw/gpu/apps/apps.h"
#include "sw/gpu/cuda/compiler.h"
#include "sw/gpu/cuda/objects.h"

namespace sluice::gpu {

/// What holds one SM of this GPU, with what every CTA's shared memory costs beside its own.
[[nodiscard]] SmResources sm_capacity(const DeviceLimits& limits);

/// Fills, fingerprints and compares buffers on the device.
class DeviceTools {
 public:
  DeviceTools(const Context& context, const Compiler& compiler);
  void fill(CUdeviceptr to, const ArgumentSpec& argument) const;
  [[nodiscard]] std::uint64_t fingerprint(CUdeviceptr buffer, std::size_t bytes) const;
  [[nodiscard]] std::uint64_t differences(CUdeviceptr a, CUdeviceptr b, std::size_t bytes) const;
  /// SM identifiers in use and %nsmid. @throws GpuError when they are not 0..sms-1, which the quota table needs
  [[nodiscard]] unsigned highest_sm() const;

 private:
  const Context& context_;
  Kernel fill_[6], seen_, fingerprint_, differences_;
  DeviceMemory scratch_;
};

/// A launch specification, compiled twice (as it is, and transformed) and with its buffers on the device.
class PreparedKernel {
 public:
  /// @throws GpuError, InputError when it does not compile, does not fit, or its arguments do not match the kernel's parameters
  /// @param warps_apart  whether the warps of a CTA go on by themselves, where they can; nothing: where it is worth it
  PreparedKernel(const Context& context, const Compiler& compiler, const DeviceTools& tools, LaunchSpec spec,
                 std::optional<bool> warps_apart = {});

  /// Every buffer as before the first run: inputs filled, outputs poisoned.
  void reset_buffers() const;
  void poison_outputs() const;
  /// One launch of the untransformed kernel.
  void launch_native(CUstream stream) const;
  [[nodiscard]] HostBuffers download() const;
  [[nodiscard]] std::vector<std::uint64_t> fingerprints() const;  ///< one a buffer

  [[nodiscard]] const LaunchSpec& spec() const { return spec_; }
  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }  ///< why it has no transformed form
  [[nodiscard]] const Kernel& native() const { return native_; }
  [[nodiscard]] const Kernel& persistent() const { return persistent_; }
  [[nodiscard]] bool stand_in() const { return stand_in_; }
  [[nodiscard]] const std::optional<std::string>& together() const {
    return together_;
  }                                                                ///< why its warps cannot go on by themselves
  [[nodiscard]] bool warps_apart() const { return warps_apart_; }  ///< they do
  [[nodiscard]] std::uint32_t warps() const { return (spec_.block_threads() + 31) / 32; }  ///< of a CTA
  [[nodiscard]] std::array<std::uint32_t, 3> persistent_block() const {  ///< threads that a transformed CTA is launched with
    return warps_apart_ ? std::array<std::uint32_t, 3>{warps() * 32, 1, 1} : spec_.block;
  }
  [[nodiscard]] unsigned native_occupancy() const { return native_occupancy_; }
  [[nodiscard]] unsigned occupancy() const { return occupancy_; }  ///< of the transformed kernel
  [[nodiscard]] SmResources demand() const { return demand_; }     ///< of one CTA of the transformed kernel
  /// Addresses of the parameters, for a launch. The transformed kernel takes one more.
  [[nodiscard]] std::vector<void*> parameters() const;
  [[nodiscard]] CUdeviceptr buffer(std::size_t argument) const { return buffers_[argument].get(); }
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  const Context& context_;
  const DeviceTools& tools_;
  LaunchSpec spec_;
  std::optional<std::string> refusal_;
  bool stand_in_ = false, warps_apart_ = false;
  std::optional<std::string> together_;
  Kernel native_, persistent_;
  unsigned native_occupancy_ = 0, occupancy_ = 0;
  SmResources demand_;
  std::vector<DeviceMemory> buffers_;
  std::vector<std::vector<char>> parameters_;  // one a parameter
};

}  // namespace sluice::gpu
