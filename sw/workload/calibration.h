#pragma once
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/device/i_device.h"

namespace sluice {

/// A kernel's solo figures as the model gives them, in the units of SoloReference.
[[nodiscard]] SoloReference measure_solo(const RunResult& result, const MachineConfig& machine);

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

/// Weighted distance used to keep the best of all steps: 0 = exact.
[[nodiscard]] double fit_distance(const SoloFit& fit);

}  // namespace sluice
