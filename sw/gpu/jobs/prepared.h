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
#include "sw/gpu/rewrite/transform.h"

namespace sluice::gpu {

/// What holds one SM of this GPU, with what every CTA's shared memory costs beside its own.
[[nodiscard]] SmResources sm_capacity(const DeviceLimits& limits);

/// Fills and fingerprints buffers on the device.
class DeviceTools {
 public:
  DeviceTools(const Context& context, const Compiler& compiler);
  void fill(CUdeviceptr to, const ArgumentSpec& argument) const;
  [[nodiscard]] std::uint64_t fingerprint(CUdeviceptr buffer, std::size_t bytes) const;
  /// SM identifiers in use and %nsmid. @throws GpuError when they are not 0..sms-1, which the quota table needs
  [[nodiscard]] unsigned highest_sm() const;

 private:
  const Context& context_;
  Kernel fill_[6], seen_, fingerprint_;
  DeviceMemory scratch_;
};

/// A launch specification: one module with the kernel as it is and the transformed one beside it, and its buffers on the device.
class PreparedKernel {
 public:
  /// @param transformed  the kernel lies on the device in that form as well
  /// @throws GpuError, InputError when it does not compile, does not fit, or its arguments do not match the kernel's parameters
  PreparedKernel(const Context& context, const Compiler& compiler, const DeviceTools& tools, LaunchSpec spec,
                 bool transformed = true);

  /// Every buffer as before the first run: inputs filled, outputs poisoned, variables of the module as they were loaded.
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
  [[nodiscard]] bool waits() const { return waits_; }              ///< its blocks may wait for others: claimed one by one
  [[nodiscard]] const std::string& rule() const { return rule_; }  ///< of the gate (gate.h), where it has no transformed form
  [[nodiscard]] unsigned counterweight() const { return counterweight_; }                  ///< of the transformed form
  [[nodiscard]] std::uint32_t warps() const { return (spec_.block_threads() + 31) / 32; }  ///< of a CTA
  [[nodiscard]] std::uint32_t persistent_shared() const {  ///< bytes of dynamic shared memory of a transformed CTA
    return spec_.shared_bytes + shared_behind_;
  }
  [[nodiscard]] unsigned native_occupancy() const { return native_occupancy_; }
  [[nodiscard]] unsigned occupancy() const { return occupancy_; }  ///< of the transformed kernel
  [[nodiscard]] SmResources demand() const { return demand_; }     ///< of one CTA of the transformed kernel
  /// Addresses of the parameters, for a launch. The transformed kernel takes one more.
  [[nodiscard]] std::vector<void*> parameters() const;
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  void transform_kernel(const Compiler& compiler, const std::string& ptx, const std::string& symbol);
  void keep_variables(const std::string& ptx);
  const Context& context_;
  const DeviceTools& tools_;
  LaunchSpec spec_;
  std::optional<std::string> refusal_;
  std::string rule_;
  bool waits_ = false;
  unsigned counterweight_ = kCounterweight;
  std::uint32_t shared_behind_ = 0;
  Kernel native_, persistent_;
  unsigned native_occupancy_ = 0, occupancy_ = 0;
  SmResources demand_;
  std::vector<DeviceMemory> buffers_;
  std::vector<std::vector<char>> parameters_;  // one a parameter
  struct Variable {
    CUdeviceptr address = 0;
    std::vector<char> bytes;
  };
  std::vector<Variable> variables_;  // of the module, as they were when it was loaded
};

}  // namespace sluice::gpu
