// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/io/toml_reader.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/registry.h"

namespace sluice {

/// What kept runs depend on in a machine file: neither on its name nor on [energy], which is computed from a run's counters.
inline std::string machine_text(toml::table file) {
  file.erase("name");
  file.erase("energy");
  std::ostringstream text;
  text << file;
  return text.str();
}
inline std::string machine_text(const std::filesystem::path& path) { return machine_text(parse_toml(path)); }

/// One mix under one plan.
inline RunSpec mix_spec(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix, const PolicyPlan& plan,
                        const std::vector<std::uint64_t>& targets, PartitionerKind partitioner, std::uint64_t seed) {
  RunSpec spec;
  spec.machine = machine;
  for (std::size_t k = 0; k < mix.size(); ++k) spec.launches.push_back({mix[k], targets[k], Cycles(0)});
  spec.make_scheduler = scheduler_of(plan, machine);
  spec.partitioner = partitioner;
  spec.seed = seed;
  return spec;
}

/// One kernel alone for a window.
inline RunSpec solo_spec(const MachineConfig& machine, const KernelDescriptor& kernel, std::uint64_t window, std::uint64_t seed) {
  RunSpec spec;
  spec.machine = machine;
  spec.launches.push_back({kernel, 0, Cycles(0)});
  spec.window = Cycles(window);
  spec.seed = seed;
  return spec;
}

}  // namespace sluice
