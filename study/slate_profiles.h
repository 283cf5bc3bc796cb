// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sw/core/counters.h"
#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/share.h"
#include "sw/driver/i_device.h"
#include "sw/scheduler/i_scheduler.h"
#include "sw/scheduler/slate_scheduler.h"

namespace sluice {

/// Global loads and stores of a kernel, bytes a core cycle: nvprof's sum of load and store throughput (Slate, table II).
[[nodiscard]] double global_bytes_per_cycle(const KernelDescriptor& kernel, const KernelCounters& counters, double cycles);
/// Single-precision operations a core cycle; not known where the workload does not say what a thread has.
[[nodiscard]] std::optional<double> flops_per_cycle(const KernelDescriptor& kernel, const KernelCounters& counters,
                                                    double cycles);

/// Slate's profile of a kernel from a run alone. Compute is a share of the peak floating-point rate (a fused multiply-add a lane
/// and cycle) where the workload gives the kernel's operations, of the issue slots where not.
[[nodiscard]] Intensity measured_intensity(const KernelDescriptor& kernel, const KernelCounters& alone, double cycles,
                                           const MachineConfig& machine);

/// Kernels that each hold a share all the time, their grids launched again and again.
struct HeldShares {
  std::string name;  ///< unique; letters, digits, '-', '_', '.'
  std::vector<KernelDescriptor> kernels;
  std::vector<Share> shares;  ///< of each kernel
  Cycles window{40000};
};

/// Job k holds share k as long as it is there.
[[nodiscard]] MakeScheduler hold(std::vector<Share> shares);

/// Five splits of the SMs for each pair of different kernels, and of each kernel with itself.
[[nodiscard]] std::vector<HeldShares> corun_splits(const MachineConfig& machine, const std::vector<KernelDescriptor>& kernels);
/// Speeds of such a run, 1.0 = alone on all SMs.
/// @param first_alone, second_alone  warp instructions a cycle
[[nodiscard]] CorunMeasurement corun_measurement(const HeldShares& held, const RunResult& result, double first_alone,
                                                 double second_alone);

}  // namespace sluice
