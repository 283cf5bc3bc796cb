// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// A launch and what it left, as its CPU reference reads them: by argument.
struct CheckedRun {
  const LaunchSpec& spec;
  const HostBuffers& buffers;
  template <class T>
  [[nodiscard]] std::vector<T> in(std::size_t argument) const {
    return host_fill<T>(spec.arguments[argument]);
  }
  template <class T>
  [[nodiscard]] T value(std::size_t argument) const {
    T v;
    std::memcpy(&v, spec.arguments[argument].value.data(), sizeof(T));
    return v;
  }
  template <class T>
  [[nodiscard]] std::vector<T> out(std::size_t argument) const {
    std::vector<T> all(buffers[argument].size() / sizeof(T));
    std::memcpy(all.data(), buffers[argument].data(), all.size() * sizeof(T));
    return all;
  }
};

/// One of Sluice's own kernels: those of the papers, written anew, and six micro kernels.
struct App {
  LaunchSpec launch;
  std::string full_name;
  /// CPU reference, independent of the CUDA text: what is wrong with the outputs, or an empty text.
  std::function<std::string(const CheckedRun& run)> check;
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
