// SPDX-License-Identifier: Apache-2.0
// Studies of single papers' evaluations.
#include "study/paper_studies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/schedule_model.h"
#include "study/slate_profiles.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

/// Kernelet's pairs on the GPU model, at a window that is too short for their figures but not for their shape.
class KerneletStudy : public test::Scratch {
 protected:
  KerneletStudy() {
    runs.machine = read_machine(kRoot / "configs/machines/c2050.toml");
    runs.machine_text = "test";
    runs.workload = read_workload(kRoot / "configs/workloads/kernelet.toml");
    std::erase_if(runs.workload.kernels, [](const KernelDescriptor& k) { return k.name != "MM" && k.name != "TEA"; });
    runs.window = 8000;
    runs.store = folder_ / "runs.sqlite";
  }

  KerneletRuns runs;
};

TEST_F(KerneletStudy, MeasuresAndPredictsEveryRatioOnce) {
  const auto [tables, alone, slices] = measure_co_runs(runs);
  EXPECT_NO_THROW(check_complete(tables.executed, runs.workload.kernels, runs.machine));
  EXPECT_NO_THROW(check_complete(tables.predicted, runs.workload.kernels, runs.machine));
  const CoRunKernel &mm = tables.executed.kernels.at("MM"), &tea = tables.executed.kernels.at("TEA");
  EXPECT_EQ(mm.instructions_per_block, 8 * 3840);
  EXPECT_GT(mm.ipc, 1);
  EXPECT_LE(mm.issue_utilisation, 1);
  EXPECT_LT(tea.memory_utilisation, 0.3);
  EXPECT_NEAR(tables.predicted.kernels.at("TEA").ipc, tea.ipc, 0.05) << "the model is calibrated to the kernel alone";

  EXPECT_EQ(alone.at("MM").size(), occupancy(runs.workload.kernels[0].demand(), runs.machine.sm.capacity).value());
  EXPECT_EQ(alone.at("MM").back(), mm.ipc);
  EXPECT_LT(alone.at("MM").front(), mm.ipc);

  for (const KernelDescriptor& k : runs.workload.kernels) {
    const std::vector<SliceOverhead>& own = slices.at(k.name);
    const std::uint32_t wave = occupancy(k.demand(), runs.machine.sm.capacity).value() * runs.machine.num_sms;
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].blocks, wave << i) << k.name;
      EXPECT_EQ(own[i].overhead <= kSliceOverhead, i + 1 == own.size()) << k.name << ": only the last is short enough";
    }
  }

  const std::vector<figures::PairPoint> points = pair_points(tables, runs.machine);
  EXPECT_EQ(points.size(), tables.executed.of("MM", "TEA").size());
  EXPECT_EQ(std::ranges::count(points, true, &figures::PairPoint::chosen), 1);
  const auto chosen = std::ranges::find(points, true, &figures::PairPoint::chosen);
  for (const figures::PairPoint& p : points) {
    EXPECT_LE(p.predicted_profit, chosen->predicted_profit);
    EXPECT_GT(p.measured, 0.5);
    EXPECT_LE(p.measured, 1);
    EXPECT_GT(p.measured_profit, 0) << "the scratchpad of one, the ALUs of the other";
  }
  const std::size_t made = host_totals().runs;
  EXPECT_EQ(to_json(measure_co_runs(runs).tables.executed), to_json(tables.executed));
  EXPECT_EQ(host_totals().runs, made) << "kept";
  runs.window = 9000;
  EXPECT_NE(to_json(measure_co_runs(runs).tables.executed), to_json(tables.executed)) << "another window is another run";
}

class CoRunFile : public test::Scratch {
 protected:
  std::string refusal(const std::string& text) {
    const std::filesystem::path file = write("pairs.json", text);
    const std::string what = test::refusal([&] { (void)read_co_runs(file, "executed"); });
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_TRUE(what == "accepted" || what.starts_with(file.string() + ": executed: ")) << what;
    return what;
  }
  const std::string kernels_ =
      R"({"executed": {"kernels": {"A": {"ipc": 1, "instructions_per_block": 10, "issue_utilisation": 0.5,
    "memory_utilisation": 0.5}}, "pairs": )";
};

TEST_F(CoRunFile, ReadsWhatItWrites) {
  CoRunTable table;
  table.kernels["A"] = {1, 2000, 0.5, 0.25};
  table.kernels["B"] = {1.5, 3000, 0.75, 0};
  table.pairs[{"A", "B"}] = {{{CtaCount(1), CtaCount(3)}, {0.25, 1.125}}};
  const auto file = write("pairs.json", nlohmann::json({{"executed", to_json(table)}}).dump());
  EXPECT_EQ(to_json(read_co_runs(file, "executed")), to_json(table));
}

TEST_F(CoRunFile, RefusesInOneLine) {
  EXPECT_NE(refusal("{}").find("key 'executed' not found"), std::string::npos);
  EXPECT_NE(refusal("{").find("parse error"), std::string::npos);
  EXPECT_NE(refusal(R"({"executed": {"kernels": {"A": {"ipc": 1}}, "pairs": []}})").find("instructions_per_block"),
            std::string::npos);
  EXPECT_NE(refusal(kernels_ + R"([{"kernels": ["B", "A"], "runs": []}]}})").find("pair B and A: must be in order"),
            std::string::npos);
  EXPECT_NE(refusal(kernels_ + R"([{"kernels": ["A", "B"], "runs": [{"ctas": [1], "ipc": [1, 1]}]}]}})").find("array index 1"),
            std::string::npos);
  EXPECT_NE(
      refusal(kernels_ + R"([{"kernels": ["A", "B"], "runs": [{"ctas": [1, "x"], "ipc": [1, 1]}]}]}})").find("must be number"),
      std::string::npos);
  EXPECT_EQ(refusal(kernels_ + "[]}}"), "accepted");
  EXPECT_THROW((void)read_co_runs("nowhere.json", "executed"), InputError);
}

// The bound that no schedule of SiM's pairs is above.

RunResult work(std::uint64_t instructions, std::uint64_t alu, std::uint64_t sfu) {
  RunResult run;
  run.kernels.resize(1);
  run.kernels[0].warp_instructions = instructions;
  run.kernels[0].alu_busy = alu;
  run.kernels[0].sfu_busy = sfu;
  return run;
}

using SimBound = test::Scratch;

TEST_F(SimBound, IsTheScarcestOfIssueSlotsAluPipesAndSfus) {
  MachineConfig machine;
  machine.num_sms = 10;
  machine.core_mhz = 1000;
  machine.sm.schedulers = 4;
  machine.sm.alu_pipes = 2;
  const RunResult light = work(1000, 100, 0), other = work(3000, 200, 10);
  EXPECT_DOUBLE_EQ(sim_bound({&light}, machine), 1000.0 / 4 / 10 * 1e-6) << "milliseconds of 25 cycles";
  EXPECT_DOUBLE_EQ(sim_bound({&light, &other}, machine), 4000.0 / 4 / 10 * 1e-6);
  const RunResult alu = work(1000, 4000, 0), sfu = work(1000, 0, 3000);
  EXPECT_DOUBLE_EQ(sim_bound({&alu}, machine), 4000.0 / 2 / 10 * 1e-6);
  EXPECT_DOUBLE_EQ(sim_bound({&sfu}, machine), 3000.0 / 10 * 1e-6);
}

/// What is published, pair by pair.
TEST_F(SimBound, NoPublishedPairIsAboveIt) {
  const auto figures = nlohmann::json::parse(read_file(kRoot / "results/sim/figures.json")).at("figures");
  std::size_t pairs = 0;
  for (const char* figure : {"10", "11", "10_equal", "11_equal"})
    for (const auto& [name, pair] : figures.at(figure).at("data").at("pairs").items()) {
      ++pairs;
      for (const char* scheduler : {"pt", "even", "adaptive"})
        EXPECT_LE(pair.at(scheduler).at("stp").get<double>(), pair.at("bound").get<double>())
            << figure << " " << name << " " << scheduler;
    }
  EXPECT_EQ(pairs, 42U);
}

/// MD beside NB, which an earlier bound was below.
TEST_F(SimBound, HoldsForRunsOfTheModel) {
  SimStudy study;
  study.machine = read_machine(kRoot / "configs/machines/k40.toml");
  study.machine_text = "k40";
  study.workload = read_workload(kRoot / "configs/workloads/sim.toml");
  study.scenario =
      read_scenario(write("two.toml", "name = 'two'\npair_gap_ms = 0.001\n[[job]]\nname = 'MD'\n[[job]]\nname = 'NB'\n"));
  study.store = folder_ / "runs.sqlite";
  const SimOutcome outcome = run_sim(study, 0.02);
  ASSERT_EQ(outcome.pairs.size(), 1U);
  EXPECT_EQ(outcome.pairs.front().shares.size(), 3U);
  for (const auto& [scheduler, share] : outcome.pairs.front().shares)
    EXPECT_LE(share.stp, outcome.pairs.front().bound) << scheduler;
}

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
