// SPDX-License-Identifier: Apache-2.0
// Scenarios on the GPU model, beside the fake executor with the times that the model measures alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "study/schedule_model.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class ScheduleModel : public test::Scratch {
 protected:
  Scenario scenario = read(R"(name = "four"
[[job]]
name = "long"
kernel = "BFS"
priority = 1
[[job]]
name = "short"
kernel = "KNN"
arrival_ms = 0.03
priority = 5
[[job]]
name = "later"
kernel = "BFS"
arrival_ms = 0.06
priority = 3
[[job]]
name = "urgent"
kernel = "KNN"
arrival_ms = 0.2
priority = 9
)");
  ScheduleTarget target = target_of(scenario, read_machine(kRoot / "configs/machines/fermi_table1.toml"),
                                    read_workload(kRoot / "configs/workloads/table2.toml"));

  [[nodiscard]] Scenario read(const std::string& text) const { return read_scenario(write("schedule_model.toml", text)); }
};

TEST_F(ScheduleModel, AgreesWithTheFakeExecutorAtEqualTimesAlone) {
  ScheduleOnModel model({PartitionerKind::Both, 1, 2});
  for (const char* scheduler : {"arrival", "prio_np", "piv"}) {
    const ScheduleRun on_model = model(scenario, target, scheduler, {});
    for (std::size_t k = 0; k < scenario.jobs.size(); ++k) scenario.jobs[k].alone = on_model.jobs[k].alone;
    const ScheduleRun on_fake = schedule_on_fake(scenario, target, scheduler);
    ASSERT_EQ(on_model.jobs.size(), on_fake.jobs.size());
    for (std::size_t k = 0; k < on_fake.jobs.size(); ++k) {
      EXPECT_NEAR(on_model.jobs[k].ntt() / on_fake.jobs[k].ntt(), 1, 0.1) << scheduler << ", " << on_fake.jobs[k].name;
      EXPECT_EQ(on_model.jobs[k].evictions, on_fake.jobs[k].evictions) << scheduler << ", " << on_fake.jobs[k].name;
    }
    EXPECT_EQ(on_model.evictions() > 0, scheduler == std::string("piv"));
  }
}

/// In what order jobs get their first CTAs.
std::vector<std::string> dispatches(ScheduleRun run) {
  std::ranges::stable_sort(run.jobs, {}, &LaunchOutcome::began);
  std::vector<std::string> names;
  for (const LaunchOutcome& job : run.jobs) names.push_back(job.name);
  return names;
}

/// Schedulers that share SMs, some by times that are measured first; RTL and twin side by side.
TEST_F(ScheduleModel, DispatchesInTheFakeExecutorsOrder) {
  ScheduleOnModel model({PartitionerKind::Both, 1, 2});
  for (const char* scheduler : {"adaptive", "pt"}) {
    if (scheduler == std::string("pt")) {  // without quotas the last job's turn depends on how long the model's CTAs take
      scenario.jobs.resize(3);
      target.kernels.resize(3);
    }
    const ScheduleRun on_model = model(scenario, target, scheduler, {});
    for (std::size_t k = 0; k < scenario.jobs.size(); ++k) scenario.jobs[k].alone = on_model.jobs[k].alone;
    EXPECT_EQ(dispatches(on_model), dispatches(schedule_on_fake(scenario, target, scheduler))) << scheduler;
  }
}

/// SiM on its own machine, the unit of 15 SMs as RTL and twin side by side: with SLUICE_FULL=1.
TEST_F(ScheduleModel, RtlAndTwinAgreeOnTheK40) {
  if (std::getenv("SLUICE_FULL") == nullptr) GTEST_SKIP() << "with SLUICE_FULL=1";
  scenario = read("name = \"pair\"\n[[job]]\nname = \"LM\"\n[[job]]\nname = \"TP\"\narrival_ms = 0.005\n");
  target =
      target_of(scenario, read_machine(kRoot / "configs/machines/k40.toml"), read_workload(kRoot / "configs/workloads/sim.toml"));
  const ScheduleRun both = ScheduleOnModel({PartitionerKind::Both, 1, 2})(scenario, target, "adaptive", {});
  const ScheduleRun twin = ScheduleOnModel({PartitionerKind::Twin, 1, 2})(scenario, target, "adaptive", {});
  EXPECT_EQ(both.makespan, twin.makespan);
}

/// Kernelet on its own machines, units of 14 and of 8 SMs as RTL and twin side by side: with SLUICE_FULL=1. A slice of 5 ms ends
/// within the jobs, whose times are scaled so that they take seconds to simulate.
TEST_F(ScheduleModel, RtlAndTwinAgreeOnKerneletsMachines) {
  if (std::getenv("SLUICE_FULL") == nullptr) GTEST_SKIP() << "with SLUICE_FULL=1";
  scenario = read("name = \"pair\"\n[[job]]\nname = \"PC\"\n[[job]]\nname = \"BS\"\narrival_ms = 0.5\n");
  for (const std::string name : {"c2050", "gtx680"}) {
    target = target_of(scenario, read_machine(kRoot / ("configs/machines/" + name + ".toml")),
                       read_workload(kRoot / "configs/workloads/kernelet.toml"));
    for (KernelDescriptor& kernel : target.kernels) kernel.grid_ctas /= 10;
    scale_time(target, 0.02);
    const std::filesystem::path pairs = kRoot / ("results/kernelet/pairs_" + name + ".json");
    const CoRunTables rates{read_co_runs(pairs, "predicted"), read_co_runs(pairs, "executed")};
    std::vector<ScheduleRun> runs;
    for (const PartitionerKind unit : {PartitionerKind::Both, PartitionerKind::Twin})
      runs.push_back(ScheduleOnModel({unit, 1, 2, {}, {}, {}, rates})(scenario, target, "kernelet", {}));
    EXPECT_EQ(runs[0].makespan, runs[1].makespan) << name;
    EXPECT_GT(runs[0].decisions, 6U) << name << ": slices, beside two arrivals and two ends";
  }
}

TEST_F(ScheduleModel, TimesAloneAreMeasuredAtEveryCount) {
  ScheduleOnModel model({PartitionerKind::Twin, 1, 2});
  const SoloTimes times = model.measure_times(target);
  for (const KernelDescriptor& kernel : target.kernels) {
    const std::vector<double>& alone = times_of(kernel, times, target.machine);
    for (std::size_t j = 1; j < alone.size(); ++j) EXPECT_LT(alone[j], 1.02 * alone[j - 1]) << kernel.name;
    EXPECT_GT(alone.front(), 1.5 * alone.back()) << kernel.name;
    EXPECT_EQ(alone.back(), model.measure_alone(target).at(kernel.name).kernels.front().finish_cycle) << kernel.name;
  }
}

TEST_F(ScheduleModel, ComesAgainSoLongAfterItsEnd) {
  scenario = read("name = \"again\"\nwait_ms = 0.05\n[[job]]\nname = \"KNN\"\nlaunches = 3\n");
  target.kernels.resize(2);
  target.kernels = {target.kernels[1]};
  const ScheduleRun run = ScheduleOnModel({PartitionerKind::Twin, 1, 2})(scenario, target, "arrival", scenario.waits.front());
  ASSERT_EQ(run.jobs.size(), 3U);
  for (std::size_t k = 1; k < 3; ++k) {
    const double gap =
        std::chrono::duration<double, std::milli>(run.jobs[k].arrival - run.jobs[k - 1].arrival - run.jobs[k - 1].turnaround)
            .count();
    EXPECT_NEAR(gap, 0.05, 1e-5);
    EXPECT_NEAR(run.jobs[k].ntt(), 1, 0.1) << "the caches are warm";
  }
}

TEST_F(ScheduleModel, HostCostsAreTheScenarios) {
  ScheduleOnModel model({PartitionerKind::Twin, 1, 2});
  const ScheduleRun quick = model(scenario, target, "piv", {});
  scenario.costs.evict = scenario.costs.launch = std::chrono::microseconds(20);
  const ScheduleRun slow = model(scenario, target, "piv", {});
  EXPECT_GE(slow.jobs[1].turnaround, quick.jobs[1].turnaround + std::chrono::microseconds(38)) << "an eviction and a launch";
}

TEST_F(ScheduleModel, SoftwareCostsWhatItPolls) {
  scenario.jobs.resize(2);
  target.kernels.resize(2);
  std::vector<ScheduleRun> runs;
  for (const std::optional<SoftwarePreemption>& how :
       {std::optional<SoftwarePreemption>(), std::optional(SoftwarePreemption{Polling::Adaptive}),
        std::optional(SoftwarePreemption{Polling::Proxy}), std::optional(SoftwarePreemption{Polling::Basic})})
    runs.push_back(ScheduleOnModel({PartitionerKind::Twin, 1, 2, how})(scenario, target, "arrival", {}));
  EXPECT_EQ(runs[1].flavour, "software-adaptive");
  for (std::size_t i = 1; i < runs.size(); ++i) EXPECT_LT(runs[i - 1].makespan, runs[i].makespan) << runs[i].flavour;
}

TEST_F(ScheduleModel, SoftwareEvictsForTheUrgentJob) {
  scale_time(target, 0.4);
  const ScheduleRun run = ScheduleOnModel({PartitionerKind::Both, 1, 2, SoftwarePreemption{}})(scenario, target, "piv", {});
  EXPECT_GT(run.jobs[0].evictions, 0U);
  EXPECT_EQ(run.jobs[3].evictions, 0U);
  EXPECT_GT(run.jobs[0].arrival + run.jobs[0].turnaround, run.jobs[3].arrival + run.jobs[3].turnaround);
}

TEST_F(ScheduleModel, SoftwareGivesTheGpuToOneJobAtATime) {
  ScheduleOnModel model({PartitionerKind::Twin, 1, 2, SoftwarePreemption{}});
  EXPECT_EQ(test::refusal([&] { (void)model(scenario, target, "even", {}); }),
            "--flavour software: scheduler even: must give the GPU to one job at a time: arrival, rr, prio_np, piv, dprr");
}

TEST_F(ScheduleModel, AShareOfTheCyclesTakesTheSameTime) {
  scenario.jobs.resize(1);
  target.kernels.resize(1);
  const Time whole = ScheduleOnModel({PartitionerKind::Twin, 1, 2})(scenario, target, "arrival", {}).makespan;
  const MachineConfig full = target.machine;
  scale_time(target, 0.25);
  EXPECT_EQ(target.machine.core_mhz, 0.25 * full.core_mhz);
  EXPECT_EQ(target.machine.dram.clock_mhz, 0.25 * full.dram.clock_mhz) << "as many core cycles an access";
  const Time quarter = ScheduleOnModel({PartitionerKind::Twin, 1, 2})(scenario, target, "arrival", {}).makespan;
  EXPECT_NEAR(static_cast<double>(quarter.count()) / static_cast<double>(whole.count()), 1, 0.5) << "latencies weigh more";
}

TEST_F(ScheduleModel, RefusesWhatItHasNot) {
  scenario.costs.copy = std::chrono::microseconds(1);
  EXPECT_THROW((void)ScheduleOnModel({PartitionerKind::Twin, 1, 2})(scenario, target, "piv", {}), InputError);
}

}  // namespace
}  // namespace sluice
