// SPDX-License-Identifier: Apache-2.0
// Scenarios of pairs, and SiM's report, as a user meets them.
#include <nlohmann/json.hpp>

#include "tests/cli/sluice_program.h"

namespace sluice::test {
namespace {

TEST_F(Sluice, SchedulesEveryPairOfAFileOfPairs) {
  const fs::path file = folder_ / "pairs.toml";
  std::ofstream(file) << "name = 'S'\ntask_us = 100\npair_gap_ms = 1\n[[job]]\nname = 'A'\nalone_ms = 2\n[[job]]\nname = 'B'\n"
                         "alone_ms = 3\n";
  const Outcome o = sluice("schedule --scenario " + file.string() + " --scheduler arrival,piv --json");
  ASSERT_EQ(o.exit, 0) << o.err;
  const nlohmann::json runs = nlohmann::json::parse(o.out).at("runs");
  ASSERT_EQ(runs.size(), 6U) << "three orders, two schedulers";
  EXPECT_EQ(runs[2]["jobs"][0]["name"], "B");
  EXPECT_EQ(runs[2]["jobs"][1]["arrival_ms"], 1.0);
  const Outcome table = sluice("schedule --scenario " + file.string() + " --scheduler arrival,piv");
  for (const char* title : {"A_B\n", "B_A\n", "A_B_together\n"}) EXPECT_NE(table.out.find(title), std::string::npos) << table.out;
}

TEST_F(Sluice, ReportSimRefusesWhatItCannotUse) {
  const std::string report = "report sim --out " + (folder_ / "sim").string();
  refuses(report + " --scenario " + effisha, "effisha_group.toml: pair_gap_ms is missing");
  refuses(report + " --workload " + table2, "sim_pairs.toml: job BO: kernel BO: not in workload table2");
  refuses(report + " --workload " +
              edited("configs/workloads/sim.toml", "[kernel.launch_reference]\ntime_ms", "[kernel.launch]\ntime_ms"),
          "kernel.launch: unknown key");
  refuses(report + " --equal-ms -1", "--equal-ms");
}

TEST_F(Sluice, CalibrateRefusesAWorkloadOfTwoKindsOfReference) {
  const std::string mixed =
      edited("configs/workloads/sim.toml", "[kernel.launch_reference]\ntime_ms = 0.08821\nissue_utilization = 0.275\n", "");
  refuses("calibrate --machine configs/machines/k40.toml --workload " + mixed, "kernel FD: kernel.launch_reference is missing");
}

}  // namespace
}  // namespace sluice::test
