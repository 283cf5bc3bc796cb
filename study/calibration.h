// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/driver/i_device.h"

namespace sluice {

/// A kernel's solo figures as the model gives them, in the units of SoloReference.
[[nodiscard]] SoloReference measure_solo(const RunResult& result, const MachineConfig& machine);

/// How full a kernel alone makes what it uses, 0..1, and which of it holds the kernel back.
struct SoloLimits {
  double issue = 0;             ///< of the schedulers' slots
  double alu = 0, sfu = 0;      ///< of pipeline-cycles
  double lookups = 0;           ///< cycles in which the LDST unit looks up a line or passes over its banks
  double held = 0;              ///< cycles in which memory holds it: no MSHR, no way of the set, no store credit
  double interconnect = 0;      ///< of the flits that the L2's ports can take, the fuller way
  double interconnect_max = 1;  ///< what is left of them by FIFO inputs, all inputs full
  double dram = 0;              ///< of the peak bandwidth
  std::string_view limit;       ///< "DRAM", "interconnect", "SFU", ..., "MSHRs", or what most stalled cycles wait for
};
/// @pre loads and stores only, none of them past the L1
[[nodiscard]] SoloLimits measure_limits(const RunResult& result, const MachineConfig& machine);

/// How far a kernel is from its reference. Relative: model / published - 1. Utilisations: difference, -1..1.
struct SoloFit {
  SoloReference model, published;
  double instructions_error = 0;
  double alu_error = 0, sfu_error = 0, ldst_error = 0;
  double mpki_error = 0;           ///< relative
  double mpki_absolute_error = 0;  ///< misses per thousand warp instructions
};
[[nodiscard]] SoloFit compare_solo(const SoloReference& model, const SoloReference& published);

/// What follows from the published figures without a simulation: the SFU share and the mean ALU interval that give the published
/// utilisations at the published rate, and a first guess for the share of lines that stream from DRAM.
/// Everything else that is fitted gets a fixed start, so that a fit of a fitted kernel repeats it.
/// Keeps the kernel's load, store and scratchpad shares (what kind of program it is). @pre kernel.reference
[[nodiscard]] KernelDescriptor initial_behaviour(KernelDescriptor kernel, const MachineConfig& machine);

/// One step of the fit, from the kernel's own solo run and nothing else: streaming share towards the MPKI, lines per access
/// towards the LDST utilisation, dependency distance (and, when that is at its end, instruction-buffer waits) towards the
/// instruction count. `damping` in (0, 1] shortens the step. @pre kernel.reference
[[nodiscard]] KernelDescriptor calibration_step(KernelDescriptor kernel, const SoloReference& model, double damping);

/// Brings the rate of instructions nearer to `speed` times what it is: by the dependency distance and, at its end,
/// instruction-buffer waits (for cache-sensitive kernels: the working set).
void change_rate(KernelDescriptor& kernel, double speed);

/// Weighted distance used to keep the best of all steps: 0 = exact.
[[nodiscard]] double fit_distance(const SoloFit& fit);

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
