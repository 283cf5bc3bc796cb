// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/run_pool.h"
#include "sw/driver/i_device.h"
#include "sw/policy/names.h"
#include "sw/policy/policy.h"

namespace sluice {

/// How a list of traced kernels is to run.
struct TraceRunOptions {
  std::uint32_t max_ctas = 0;  ///< CTAs per SM at most; 0 = as many as the machine allows
  std::string policy = kLeftOver;
  std::vector<CtaCount> ctas;  ///< policy static
  PartitionerKind partitioner = PartitionerKind::Twin;
  std::uint32_t sample = 1;  ///< RunSpec::sample
  std::uint64_t window = 0;  ///< RunSpec::window
  bool until_one = false;    ///< RunSpec::until_one, of the last launch of each list
};

/// A run of every kernel of some lists: kernels of one stream one after the other, streams side by side. Each list is a process:
/// it shares neither streams nor memory with the others.
/// @throws InputError on a bad list or header, a policy that is not one plan, a kernel that does not fit
[[nodiscard]] RunSpec trace_spec(const std::vector<std::filesystem::path>& lists, MachineConfig machine,
                                 const TraceRunOptions& options);

/// What `sluice trace --json` prints (docs/user/traces.md): the run's cycles, rates, stalls, and one entry a kernel.
[[nodiscard]] nlohmann::json trace_json(const RunSpec& spec, const RunResult& result, const HostCost& cost);

}  // namespace sluice
