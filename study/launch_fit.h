// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/driver/i_device.h"

namespace sluice {

// The fit of a kernel of which a paper prints nothing but the time of a launch and its issue-slot utilisation, both alone.

/// One launch of the whole grid alone, in as many CTAs as fit.
[[nodiscard]] RunSpec launch_spec(const MachineConfig& machine, const KernelDescriptor& kernel, std::uint64_t seed);

/// @param result  of launch_spec()
[[nodiscard]] LaunchReference measure_launch(const RunResult& result, const MachineConfig& machine);

/// Where every fit starts, so that a fit of a fitted kernel repeats it: the instructions that fill the published share of the
/// issue slots for the published time. Keeps the kernel's instruction mix and its memory behaviour: what kind of program it is.
/// @pre kernel.launch_reference, as for the next
[[nodiscard]] KernelDescriptor initial_launch(KernelDescriptor kernel, const MachineConfig& machine);

/// One step: dependency distance and instruction-buffer waits towards the utilisation, instructions of a warp towards the time.
/// @param damping  0..1: shortens the step
[[nodiscard]] KernelDescriptor launch_step(KernelDescriptor kernel, const LaunchReference& model, double damping);

/// 0 = exact; 1: 10 % of the time, or 5 points of the utilisation, away.
[[nodiscard]] double launch_distance(const LaunchReference& model, const LaunchReference& published);

}  // namespace sluice
