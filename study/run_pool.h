// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "sw/core/errors.h"
#include "sw/driver/i_device.h"

namespace sluice {

/// What one finished run cost its process.
struct HostCost {
  double cpu_seconds = 0;
  double peak_rss_mib = 0;
};

/// Runs specs in processes of their own, at most `jobs` at a time: SystemC elaborates once per process, and a crash or an
/// interrupt loses one run, not all.
class RunPool {
 public:
  using DeviceFactory = std::function<std::unique_ptr<IDevice>()>;
  /// Called in the parent, in order of completion.
  using OnDone = std::function<void(std::size_t index, const RunResult&, const HostCost&)>;

  RunPool(DeviceFactory make_device, unsigned jobs) : make_device_(std::move(make_device)), jobs_(jobs == 0 ? 1 : jobs) {}

  /// Called in the parent just before a run starts: what has ended so far may shorten it.
  using BeforeStart = std::function<void(std::size_t index, RunSpec&)>;

  /// Called in the parent where a run fails or its process dies; the others go on.
  using OnFailed = std::function<void(std::size_t index, ErrorKind, const std::string& error)>;

  /// Runs all, started in order; SIGINT or SIGTERM stops the children and returns.
  /// @return false when interrupted
  /// @throws SystemError when a child cannot be started; without `on_failed` also when it dies, and the child's error, of the
  /// same class (std::logic_error when it was none of sw/core/errors.h)
  bool run(std::vector<RunSpec> specs, const OnDone& on_done, const BeforeStart& before_start = {},
           const OnFailed& on_failed = {}) const;

 private:
  DeviceFactory make_device_;
  unsigned jobs_;
};

struct MeasuredRun {
  RunResult result;
  HostCost cost;
};

/// Runs one spec on the GPU model, in a process of its own.
/// @throws Interrupted on Ctrl-C, otherwise as RunPool::run
[[nodiscard]] MeasuredRun run_one(const RunSpec& spec);

/// Lossless text form of a result: what a simulation process hands to its parent, and what a resumable evaluation keeps.
void to_json(nlohmann::json& json, const RunResult& result);
/// @throws nlohmann::json::exception on anything `to_json` did not write
void from_json(const nlohmann::json& json, RunResult& result);

}  // namespace sluice
