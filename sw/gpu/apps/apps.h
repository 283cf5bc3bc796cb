// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// One of Sluice's own kernels: those of the papers, written anew, and six micro kernels.
struct App {
  LaunchSpec launch;
  std::string full_name;
  bool micro = false;
  /// CPU reference: what is wrong with the outputs, or an empty text. `spec` is the launch that produced them.
  std::function<std::string(const LaunchSpec& spec, const HostBuffers& buffers)> check;
};

[[nodiscard]] const std::vector<std::string>& app_names();  ///< BLK .. NN of Warped-Slicer's table II, then FMA .. LAT
[[nodiscard]] std::vector<std::string> table2_names();      ///< the ten

/// A kernel as a paper names it.
struct PaperKernel {
  std::string app;                     ///< make_app's name
  std::string name;                    ///< the paper's, and the scenarios'
  std::optional<double> milliseconds;  ///< of a launch alone, where the paper prints it
};
/// @param paper  "effisha" (table 3), "sim" (table 3), "kernelet" (table 2), "slate" (table II), "table2" (Warped-Slicer's)
/// @throws InputError naming the five
[[nodiscard]] const std::vector<PaperKernel>& paper_kernels(const std::string& paper);

/// How much work a launch has: a grid of about so many blocks, run so many times over in one launch. The passes are an axis of
/// the grid that the kernel does not read: every pass writes the same values.
struct AppSize {
  std::uint32_t blocks = 0;  ///< 0: as at full scale, and for applications that have no other
  std::uint32_t passes = 1;
};

/// @throws InputError naming the known applications
[[nodiscard]] App make_app(const std::string& name, AppScale scale);
[[nodiscard]] App make_app(const std::string& name, const AppSize& size);
[[nodiscard]] AppSize full_size(const std::string& name);

}  // namespace sluice::gpu
