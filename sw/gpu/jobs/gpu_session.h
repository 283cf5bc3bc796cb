// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sw/gpu/jobs/prepared.h"

namespace sluice::gpu {

using Clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// A GPU with the applications that run on it, prepared when first asked for.
class GpuSession {
 public:
  GpuSession();
  [[nodiscard]] const PreparedKernel& app(const std::string& name, const AppSize& size);
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const Compiler& compiler() const { return compiler_; }
  [[nodiscard]] const DeviceTools& tools() const { return tools_; }

 private:
  Context context_;
  Compiler compiler_;
  DeviceTools tools_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::unique_ptr<PreparedKernel>> apps_;
};

/// Run-time of one launch by device events, seconds.
[[nodiscard]] double launch_seconds(const PreparedKernel& kernel, CUstream stream);

}  // namespace sluice::gpu
