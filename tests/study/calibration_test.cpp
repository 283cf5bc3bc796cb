// SPDX-License-Identifier: Apache-2.0
// The fit of a kernel to its own solo figures.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>

#include "study/calibration.h"
#include "study/run_pool.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "systemc/model_device.h"

namespace sluice {
namespace {

/// What is fitted must not depend on what an earlier fit left in the file: else the committed workload could not be repeated.
TEST(Calibration, AFitOfAFittedKernelStartsWhereTheFirstDid) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const MachineConfig machine = read_machine(root / "configs/machines/fermi_table1.toml");
  for (const KernelDescriptor& kernel : read_workload(root / "configs/workloads/table2.toml").kernels) {
    const KernelDescriptor first = initial_behaviour(kernel, machine);
    SoloReference model = *kernel.reference;
    model.instructions *= 0.7;
    model.ldst_utilization *= 0.8;
    model.l2_mpki += 3;
    KernelDescriptor fitted = calibration_step(first, model, 1.0);
    fitted.behaviour.reuse_lines += 1;
    fitted.behaviour.fetch_interval += 1;
    const Workload one{"w", {first}}, two{"w", {initial_behaviour(fitted, machine)}};
    EXPECT_EQ(format_workload(two, ""), format_workload(one, ""));
  }
}

/// Table II's column Profile%: 5 K cycles are that share of the kernel. Threads count, not the lanes of whole warps: the last
/// warp of a block may be partial (NN, LBM).
TEST(Calibration, TheLengthOfAWarpFollowsFromProfilePercent) {
  const std::map<std::string, double> profile_percent{{"BLK", 0.7}, {"BFS", 5},    {"DXT", 0.25}, {"HOT", 0.36}, {"IMG", 0.14},
                                                      {"KNN", 6},   {"LBM", 0.25}, {"MM", 0.25},  {"MVP", 0.9},  {"NN", 0.25}};
  for (const KernelDescriptor& k :
       read_workload(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/workloads/table2.toml").kernels) {
    const double cycles = 5000 / (profile_percent.at(k.name) / 100);
    const double threads = static_cast<double>(k.grid_ctas) * k.block_threads;
    const double length = cycles * k.reference->instructions / static_cast<double>(k.reference->cycles) / threads;
    EXPECT_NEAR(k.behaviour.warp_instructions, length, 1) << k.name;
  }
}

/// The file is a fit that the command repeats: time within 10 %, issue-slot utilisation within 5 points of what the paper prints.
TEST(Calibration, SimsKernelsTakeTheirPublishedTimeAndIssueSlots) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const MachineConfig k40 = read_machine(root / "configs/machines/k40.toml");
  const Workload sim = read_workload(root / "configs/workloads/sim.toml");
  std::vector<RunSpec> specs;
  for (const KernelDescriptor& kernel : sim.kernels) specs.push_back(launch_spec(k40, kernel, 1));
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, 2);
  EXPECT_TRUE(pool.run(specs, [&](std::size_t i, const RunResult& run, const HostCost&) {
    const LaunchReference model = measure_launch(run, k40), &paper = *sim.kernels[i].launch_reference;
    EXPECT_NEAR(model.milliseconds / paper.milliseconds, 1, 0.10) << sim.kernels[i].name;
    EXPECT_NEAR(model.issue_utilization, paper.issue_utilization, 0.05) << sim.kernels[i].name;
  }));
}

TEST(Calibration, AFitToALaunchStartsFromItsReferenceAndStepsTowardsIt) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const MachineConfig k40 = read_machine(root / "configs/machines/k40.toml");
  for (const KernelDescriptor& kernel : read_workload(root / "configs/workloads/sim.toml").kernels) {
    const KernelDescriptor start = initial_launch(kernel, k40);
    KernelDescriptor other = kernel;
    other.behaviour.warp_instructions += 7;
    other.behaviour.fetch_interval += 1;
    EXPECT_EQ(initial_launch(other, k40).behaviour, start.behaviour) << "not from an earlier fit";
    LaunchReference model = *kernel.launch_reference;
    EXPECT_EQ(launch_distance(model, *kernel.launch_reference), 0);
    EXPECT_EQ(launch_step(start, model, 1).behaviour, start.behaviour);
    model.milliseconds *= 2;
    EXPECT_NEAR(launch_step(start, model, 1).behaviour.warp_instructions, start.behaviour.warp_instructions / 2.0, 1);
    model.issue_utilization /= 2;  // so the time is right, at the right rate
    EXPECT_EQ(launch_step(start, model, 1).behaviour.warp_instructions, start.behaviour.warp_instructions);
    EXPECT_GT(launch_step(start, model, 1).behaviour.dependency_distance, start.behaviour.dependency_distance);
  }
}

/// 16 SMs, 12 slices, flits of 40 bytes: a line takes four, FIFO inputs leave two thirds of the L2's ports.
TEST(Calibration, WhatLimitsAKernelIsReadFromItsCounters) {
  const MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml");
  RunResult run;
  run.cycles = Cycles(1000);
  run.sm_cycles = 16000;
  run.stalls.raw = 10000;
  run.total.warp_instructions = 16000;
  SoloLimits limits = measure_limits(run, machine);
  EXPECT_DOUBLE_EQ(limits.issue, 0.5);
  EXPECT_EQ(limits.limit, "latency of results");
  run.total.sfu_busy = 15000;
  EXPECT_EQ(measure_limits(run, machine).limit, "SFU");
  run.total.sfu_busy = 0;
  run.total.ldst_busy = 12000;
  run.total.l1_accesses = run.total.l1_misses = 1000;
  limits = measure_limits(run, machine);
  EXPECT_DOUBLE_EQ(limits.lookups, 1.0 / 16);
  EXPECT_DOUBLE_EQ(limits.held, 11.0 / 16);
  EXPECT_EQ(limits.limit, "MSHRs");
  run.total.l1_accesses = run.total.l1_misses = 1900;
  limits = measure_limits(run, machine);
  EXPECT_NEAR(limits.interconnect, 1900 * 4.0 / 12000, 1e-9);
  EXPECT_NEAR(limits.interconnect_max, 2.0 / 3, 1e-9);
  EXPECT_EQ(limits.limit, "interconnect");
  run.total.dram_bytes = 250000;  // of 253,440
  EXPECT_EQ(measure_limits(run, machine).limit, "DRAM");
}

}  // namespace
}  // namespace sluice
