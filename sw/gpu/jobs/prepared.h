// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sw/core/resources.h"
#include "sw/gpu/apps/apps.h"
#include "sw/gpu/cuda/compiler.h"
#include "sw/gpu/cuda/objects.h"

namespace sluice::gpu {

/// What holds one SM of this GPU, with what every CTA's shared memory costs beside its own.
[[nodiscard]] SmResources sm_capacity(const DeviceLimits& limits);

/// Fills and fingerprints buffers on the device.
class DeviceTools {
 public:
  DeviceTools(const Context& context, const Compiler& compiler);
  void fill(CUdeviceptr to, const ArgumentSpec& argument) const;
  [[nodiscard]] std::uint64_t fingerprint(CUdeviceptr buffer, std::size_t bytes) const;

 private:
  const Context& context_;
  Kernel fill_[6], fingerprint_;
  DeviceMemory scratch_;
};

/// A launch specification: a kernel as the program has it, and its buffers on the device.
class PreparedKernel {
 public:
  /// @throws GpuError, InputError when it does not compile, does not fit, or its arguments do not match the kernel's parameters
  PreparedKernel(const Context& context, const Compiler& compiler, const DeviceTools& tools, LaunchSpec spec);

  /// Every buffer as before the first run: inputs filled, outputs poisoned, variables of the module as they were loaded.
  void reset_buffers() const;
  void poison_outputs() const;
  void launch(CUstream stream) const;
  [[nodiscard]] HostBuffers download() const;
  [[nodiscard]] std::vector<std::uint64_t> fingerprints() const;  ///< one a buffer

  [[nodiscard]] const LaunchSpec& spec() const { return spec_; }
  [[nodiscard]] const std::string& symbol() const { return symbol_; }  ///< its name in the module
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }
  [[nodiscard]] unsigned occupancy() const { return occupancy_; }
  [[nodiscard]] SmResources demand() const;  ///< of one CTA
  /// Addresses of the parameters, for a launch.
  [[nodiscard]] std::vector<void*> parameters() const;
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  void keep_variables(const std::string& ptx);
  const Context& context_;
  const DeviceTools& tools_;
  LaunchSpec spec_;
  std::string symbol_;
  Kernel kernel_;
  unsigned occupancy_ = 0;
  std::vector<DeviceMemory> buffers_;
  std::vector<std::vector<char>> parameters_;  // one a parameter
  struct Variable {
    CUdeviceptr address = 0;
    std::vector<char> bytes;
  };
  std::vector<Variable> variables_;  // of the module, as they were when it was loaded
};

}  // namespace sluice::gpu
