// SPDX-License-Identifier: Apache-2.0
#include "study/slate_profiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "study/schedule_model.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

KernelDescriptor named(const std::string& name) {
  KernelDescriptor kernel;
  kernel.name = name;
  return kernel;
}

TEST(SlateProfiles, IntensitiesAreSharesOfThePeaks) {
  const MachineConfig machine = read_machine(kRoot / "configs/machines/titan_xp.toml");
  KernelDescriptor kernel;
  kernel.block_threads = 64;
  KernelCounters alone;
  alone.l1_accesses = 3000;
  alone.store_lines = 1000;
  alone.ctas_completed = 300;
  alone.warp_instructions = 120000;
  const double peak = 547.6e9 / 1582e6;  // bytes a cycle
  const Intensity issue = measured_intensity(kernel, alone, 1000, machine);
  EXPECT_NEAR(issue.memory, 4000 * 128 / 1000.0 / peak, 1e-3);
  EXPECT_DOUBLE_EQ(issue.compute, 120 / (30.0 * 4)) << "of four schedulers on 30 SMs";
  EXPECT_EQ(issue.of, ComputeShare::IssueSlots);
  kernel.behaviour.sectors = 1;
  kernel.flops_per_thread = 10;
  const Intensity flops = measured_intensity(kernel, alone, 1000, machine);
  EXPECT_NEAR(flops.memory, issue.memory / 4, 1e-9) << "one sector of four";
  EXPECT_DOUBLE_EQ(flops.compute, 10 * 64 * 300 / 1000.0 / (2 * 3840));
  EXPECT_EQ(flops.of, ComputeShare::PeakFlops);
}

TEST(SlateProfiles, FiveSplitsOfEachPairThatLeaveNoSm) {
  MachineConfig machine;
  machine.num_sms = 30;
  const KernelDescriptor a = named("A"), b = named("B");
  std::set<std::uint32_t> firsts;
  const std::vector<HeldShares> all = corun_splits(machine, {a, b});
  EXPECT_EQ(all.size(), 15U) << "A A, A B, B B";
  for (const HeldShares& held : all) {
    firsts.insert(held.shares[0].sms.count);
    EXPECT_EQ(held.shares[0].sms.count, held.shares[1].sms.first.value());
    EXPECT_EQ(held.shares[0].sms.count + held.shares[1].sms.count, 30U);
  }
  EXPECT_EQ(firsts, (std::set<std::uint32_t>{5, 10, 15, 20, 25}));
  machine.num_sms = 2;
  EXPECT_EQ(corun_splits(machine, {a}).size(), 1U);
  machine.num_sms = 1;
  EXPECT_TRUE(corun_splits(machine, {a}).empty());
}

/// What fills DRAM beside what does not: together they end earlier, and by what was measured of them alone and side by side.
TEST(SlateProfiles, OnTheModelSlateSharesAndGains) {
  ScheduleTarget target{read_machine(kRoot / "configs/machines/fermi_table1.toml"), {}};
  Scenario scenario;
  for (const KernelDescriptor& kernel : read_workload(kRoot / "configs/workloads/table2.toml").kernels) {
    if (kernel.name != "LBM" && kernel.name != "DXT") continue;
    target.kernels.push_back(kernel);
    target.kernels.back().grid_ctas = kernel.name == "LBM" ? 300 : 600;
    ScenarioJob& job = scenario.jobs.emplace_back();
    job.name = job.kernel = kernel.name;
  }
  ScheduleOnModel model({PartitionerKind::Twin, 1, 2});
  const auto run = [&](const char* scheduler) { return model(scenario, target, scheduler, {}); };
  const ScheduleRun one_by_one = run("arrival"), measured = run("slate_measured");
  EXPECT_LT(measured.makespan, one_by_one.makespan * 0.98) << "least_gain is 2 %";
  EXPECT_EQ(model.measure_coruns(target).size(), 15U);
}

}  // namespace
}  // namespace sluice
