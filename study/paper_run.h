// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/driver/i_device.h"

namespace sluice {

/// What the evaluation of every paper is run with.
struct PaperRun {
  MachineConfig machine;
  std::string machine_text;  ///< all that distinguishes the machine: part of the fingerprint of kept runs
  Workload workload;
  PartitionerKind partitioner = PartitionerKind::Twin;
  std::uint64_t seed = 1;
  unsigned jobs = 1;                  ///< simulations at a time
  std::filesystem::path runs_folder;  ///< finished runs are kept here, and reused
};

}  // namespace sluice
