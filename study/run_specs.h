// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/policy/policy.h"
#include "sw/scheduler/registry.h"

namespace sluice {

/// A machine file without its table [energy], on which no run depends: energy is computed from a run's counters.
inline std::string without_energy(const std::string& text) {
  const std::size_t table = text.find("\n[energy]");
  if (table == std::string::npos) return text;
  const std::size_t before = text.find_last_not_of('\n', table), next = text.find("\n[", table + 1);
  return text.substr(0, before + 1) + "\n" + (next == std::string::npos ? "" : text.substr(next));
}

/// What kept runs depend on in a machine file.
inline std::string machine_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return without_energy({std::istreambuf_iterator<char>(in), {}});
}

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
