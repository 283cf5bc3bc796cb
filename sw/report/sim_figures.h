// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/report/paper_page.h"

// The tables and figures of SiM's evaluation (Adaptive Simultaneous Multi-tenancy for GPUs, section 4), each from runs of the
// model and beside what the paper's text or tables say.
namespace sluice::figures {

/// A kernel alone.
struct SimKernel {
  KernelDescriptor kernel;         ///< with launch_reference
  LaunchReference model;           ///< the same of the model
  RunResult run;                   ///< one launch, in all CTAs that fit
  std::vector<double> times;       ///< of a launch with 1, 2, ... CTAs on every SM, any unit
  [[nodiscard]] bool low() const;  ///< issue-slot utilisation below 50 %, as the paper prints it
};

/// A pair under one scheduler: means over the orders of arrival.
struct SimShare {
  double stp = 0;              ///< normalised: the sequential span over this one
  double antt = 0;             ///< turnaround over the time alone
  double antt_sequential = 0;  ///< ANTT over that of sequential execution
  double worst_ntt = 0;        ///< of a job in any order
};
struct SimPair {
  std::string name;         ///< A_B
  bool low = false;         ///< with a kernel of low issue-slot utilisation
  double bound = 0;         ///< no schedule's STP is above: sim_bound() in study/sim_study.h
  double longer_alone = 0;  ///< STP where the span is the longer kernel alone: no bound, as a kernel may gain beside another
  std::map<std::string, SimShare> shares;  ///< by scheduler
};

[[nodiscard]] Figure sim_table2(const MachineConfig& machine);
[[nodiscard]] Figure sim_table3(const std::vector<SimKernel>& kernels, const MachineConfig& machine);
[[nodiscard]] Figure sim_spatial(const std::vector<SimKernel>& kernels, const MachineConfig& machine);  ///< figure 2
[[nodiscard]] Figure sim_units(const std::vector<SimKernel>& kernels, const MachineConfig& machine);    ///< figure 7
[[nodiscard]] Figure sim_curves(const std::vector<SimKernel>& kernels);                                 ///< figure 9
[[nodiscard]] Figure sim_example(const MachineConfig& machine);                                         ///< section 3.7, figure 6
/// Figures 10 (`low`) and 11, or the same with kernels of equal length.
[[nodiscard]] Figure sim_pairs(const std::vector<SimPair>& pairs, bool low, bool equal);
[[nodiscard]] Figure sim_antt(const std::vector<SimPair>& pairs, bool equal);

}  // namespace sluice::figures
