// SPDX-License-Identifier: Apache-2.0
#include "sw/report/sim_figures.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sw/workload/machine_file.h"

namespace sluice::figures {
namespace {

SimPair pair(const char* name, bool low, double pt, double even, double adaptive) {
  SimPair made{name, low, 1.5, 1.4, {}};
  made.shares["pt"] = {pt, 1.2, 0.9, 1.5};
  made.shares["even"] = {even, 1.3, 0.9, 1.5};
  made.shares["adaptive"] = {adaptive, 1.4, 1.1, 2.5};
  return made;
}

TEST(SimFigures, MeansAreOverThePairsOfTheirGroup) {
  const std::vector<SimPair> pairs = {pair("A_B", true, 1.0, 1.2, 1.1), pair("A_C", true, 1.1, 1.0, 1.3),
                                      pair("B_C", false, 1.0, 1.0, 0.9)};
  const Figure low = sim_pairs(pairs, true, false), high = sim_pairs(pairs, false, false);
  EXPECT_NEAR(low.data["mean"]["adaptive"], 1.2, 1e-12);
  EXPECT_NEAR(low.data["mean"]["pt"], 1.05, 1e-12);
  EXPECT_NEAR(low.data["mean"]["bound"], 1.5, 1e-12);
  EXPECT_NEAR(low.data["mean"]["longer_alone"], 1.4, 1e-12);
  EXPECT_EQ(low.data["pairs"].size(), 2U);
  EXPECT_NE(low.measured.find("adaptive +20.0 % (best A_C +30.0 %, worst A_B +10.0 %)"), std::string::npos) << low.measured;
  EXPECT_NE(low.measured.find("below even in 1 of 2 pairs"), std::string::npos) << low.measured;
  EXPECT_NEAR(high.data["mean"]["adaptive"], 0.9, 1e-12);
  const Figure antt = sim_antt(pairs, false);
  EXPECT_NE(antt.measured.find("low: +40.0 % over the kernels alone, +10.0 % over sequential"), std::string::npos)
      << antt.measured;
}

TEST(SimFigures, CountsThatAreNotFasterAreListed) {
  SimKernel kernel;
  kernel.kernel.name = "K";
  kernel.times = {8, 4, 4, 5, 3};
  EXPECT_EQ(sim_curves({kernel}).data["K"]["left_out"], (std::vector<int>{3, 4}));
}

TEST(SimFigures, TheExampleGivesFiveThenThreeAndThreeThenFive) {
  const MachineConfig k40 = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/k40.toml");
  const auto steps = sim_example(k40).data;
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0]["ctas"].dump(), R"({"A":5})");
  EXPECT_EQ(steps[1]["ctas"].dump(), R"({"A":3,"B":3})");
  EXPECT_EQ(steps[2]["ctas"].dump(), R"({"A":5})");
}

}  // namespace
}  // namespace sluice::figures
