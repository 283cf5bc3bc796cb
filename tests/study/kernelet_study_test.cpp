// SPDX-License-Identifier: Apache-2.0
// Kernelet's pairs on the GPU model, at a window that is too short for their figures but not for their shape.
#include "study/kernelet_study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/policy/corun_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class KerneletStudy : public ::testing::Test {
 protected:
  KerneletStudy() {
    runs.machine = read_machine(kRoot / "configs/machines/c2050.toml");
    runs.machine_text = "test";
    runs.workload = read_workload(kRoot / "configs/workloads/kernelet.toml");
    std::erase_if(runs.workload.kernels, [](const KernelDescriptor& k) { return k.name != "MM" && k.name != "TEA"; });
    runs.window = 8000;
    runs.runs_folder = folder;
  }
  ~KerneletStudy() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("sluice_kernelet_" + std::to_string(getpid()));
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

class CoRunFile : public ::testing::Test {
 protected:
  ~CoRunFile() override { std::filesystem::remove(file); }
  std::string refusal(const std::string& text) {
    std::ofstream(file) << text;
    try {
      (void)read_co_runs(file, "executed");
    } catch (const InputError& error) {
      std::string what = error.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      EXPECT_EQ(what.find(file.string() + ": executed: "), 0U) << what;
      return what;
    }
    return "accepted";
  }
  std::filesystem::path file = std::filesystem::temp_directory_path() / ("sluice_pairs_" + std::to_string(getpid()) + ".json");
  const std::string kernels_ =
      R"({"executed": {"kernels": {"A": {"ipc": 1, "instructions_per_block": 10, "issue_utilisation": 0.5,
    "memory_utilisation": 0.5}}, "pairs": )";
};

TEST_F(CoRunFile, ReadsWhatItWrites) {
  CoRunTable table;
  table.kernels["A"] = {1, 2000, 0.5, 0.25};
  table.kernels["B"] = {1.5, 3000, 0.75, 0};
  table.pairs[{"A", "B"}] = {{{CtaCount(1), CtaCount(3)}, {0.25, 1.125}}};
  std::ofstream(file) << nlohmann::json({{"executed", to_json(table)}}).dump();
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

}  // namespace
}  // namespace sluice
