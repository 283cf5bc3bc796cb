// SPDX-License-Identifier: Apache-2.0
// The bound that no schedule of SiM's pairs is above.
#include "study/sim_study.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

RunResult work(std::uint64_t instructions, std::uint64_t alu, std::uint64_t sfu) {
  RunResult run;
  run.kernels.resize(1);
  run.kernels[0].warp_instructions = instructions;
  run.kernels[0].alu_busy = alu;
  run.kernels[0].sfu_busy = sfu;
  return run;
}

TEST(SimBound, IsTheScarcestOfIssueSlotsAluPipesAndSfus) {
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
TEST(SimBound, NoPublishedPairIsAboveIt) {
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
TEST(SimBound, HoldsForRunsOfTheModel) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "sim_bound";
  const std::filesystem::path scenario = std::filesystem::path(testing::TempDir()) / "sim_bound.toml";
  write_file_atomically(scenario, "name = \"two\"\npair_gap_ms = 0.001\n[[job]]\nname = \"MD\"\n[[job]]\nname = \"NB\"\n");
  SimStudy study;
  study.machine = read_machine(kRoot / "configs/machines/k40.toml");
  study.machine_text = "k40";
  study.workload = read_workload(kRoot / "configs/workloads/sim.toml");
  study.scenario = read_scenario(scenario);
  study.runs_folder = folder;
  const SimOutcome outcome = run_sim(study, 0.02);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(outcome.pairs.size(), 1U);
  EXPECT_EQ(outcome.pairs.front().shares.size(), 3U);
  for (const auto& [scheduler, share] : outcome.pairs.front().shares)
    EXPECT_LE(share.stp, outcome.pairs.front().bound) << scheduler;
}

}  // namespace
}  // namespace sluice
