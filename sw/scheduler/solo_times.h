// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/scheduler/job.h"

namespace sluice {

/// What the whole grid of each kernel takes alone with 1, 2, ... CTAs on every SM, by its name: SiM's offline profile. Any unit,
/// the same for all kernels.
using SoloTimes = std::map<std::string, std::vector<double>>;

/// The times of one kernel.
/// @throws InputError naming the kernel when its CTA fits no SM, it has no times, one is not finite or not above 0, or one of the
/// counts that fit an SM has none
[[nodiscard]] const std::vector<double>& times_of(const KernelDescriptor& kernel, const SoloTimes& times,
                                                  const MachineConfig& machine);

/// The time of one kernel with all CTAs that fit: its last entry.
/// @throws InputError naming the kernel when its CTA fits no SM, it has no times, or that one is not finite or not above 0
[[nodiscard]] double time_alone(const KernelDescriptor& kernel, const SoloTimes& times, const MachineConfig& machine);

/// What the fake executor takes, in milliseconds: rounds of tasks that all take as long.
[[nodiscard]] std::vector<double> fake_solo_times(const MachineConfig& machine, const KernelDescriptor& kernel, Time task_time);

}  // namespace sluice
