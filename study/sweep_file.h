// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"

namespace sluice {

/// One machine of a sweep: a file with some keys changed.
struct SweepMachine {
  std::string label;                                                     ///< "fermi_table1" or "fermi_table1 sm.scheduler='lrr'"
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();  ///< {"sm.scheduler": "lrr"}
  MachineConfig config;
  std::string text;  ///< machine_text()
};

/// A sweep: every machine x every combination of parameters x every seed x every mix, under the same policies
/// (docs/user/sweeps.md).
struct Sweep {
  std::string name;
  std::vector<SweepMachine> machines;  ///< parameters applied
  Workload workload;
  std::string workload_file;
  std::vector<std::string> mixes;  ///< names, e.g. "IMG_NN"
  std::vector<std::string> policies;
  std::vector<std::uint64_t> seeds;
  std::uint64_t window = 2000000;
  std::string partitioner = "twin";

  /// A task is one mix on one machine with one seed: what one job of an array runs.
  struct Task {
    std::size_t machine = 0, seed = 0, mix = 0;
  };
  [[nodiscard]] std::size_t tasks() const { return machines.size() * seeds.size() * mixes.size(); }
  [[nodiscard]] Task task(std::size_t index) const;
};

/// @param machines  files in place of the sweep's own, if any
/// @throws InputError naming file, line, key and allowed values
[[nodiscard]] Sweep read_sweep(const std::filesystem::path& path, const std::vector<std::filesystem::path>& machines = {});

}  // namespace sluice
