// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sw/gpu/apps/launch_spec.h"

namespace sluice::gpu {

enum class AppScale {
  Full,   ///< a launch of about a millisecond on an H200, data beyond its L2: for measurements
  Small,  ///< a few hundred blocks: checked in full against the CPU
};

/// Contents of a kernel's buffers after a run, in argument order; empty for scalars.
using HostBuffers = std::vector<std::vector<std::byte>>;

/// One of Sluice's own kernels: the ten applications of Warped-Slicer's table II, written anew, and six micro kernels.
struct App {
  LaunchSpec launch;
  std::string full_name;
  bool micro = false;
  /// CPU reference: what is wrong with the outputs, or an empty text. `spec` is the launch that produced them.
  std::function<std::string(const LaunchSpec& spec, const HostBuffers& buffers)> check;
};

[[nodiscard]] const std::vector<std::string>& app_names();  ///< BLK .. NN, then FMA .. LAT
[[nodiscard]] std::vector<std::string> table2_names();      ///< the ten

/// @throws InputError naming the known applications
[[nodiscard]] App make_app(const std::string& name, AppScale scale);

}  // namespace sluice::gpu
