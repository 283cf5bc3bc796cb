// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/driver/i_device.h"

namespace sluice {

/// For what runs many times, before the first: RTL for the machine and so many kernels at once that is not linked is built.
/// @throws InputError when it can't be
void check_partitioner(const MachineConfig& machine, PartitionerKind kind, std::size_t kernels);
/// @throws InputError when the machine's unit of this kind has not the mode
void check_unit_has(Mode mode, PartitionerKind partitioner, const MachineConfig& machine);

/// The SystemC GPU model behind the device interface. One run per process: SystemC elaborates once.
class ModelDevice : public IDevice {
 public:
  RunResult run(const RunSpec& spec) override;
};

}  // namespace sluice
