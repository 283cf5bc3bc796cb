// SPDX-License-Identifier: Apache-2.0
// What the figures say in words: every part of the published claim, also where it fails.
#include "sw/report/figures.h"

#include <gtest/gtest.h>

namespace sluice::figures {
namespace {

EvalRun run(const std::string& kernel, const std::string& category, const std::string& policy, double ipc) {
  EvalRun r;
  r.kernels = {kernel, "X"};
  r.category = category;
  r.policy = policy;
  r.ipc = ipc;
  r.cycles = 1000;
  r.per_kernel.resize(2);
  return r;
}

void expect_says(const Figure& figure, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(figure.measured.find(part), std::string::npos) << part << "\n" << figure.measured;
}

/// One pair 6 % up and one 6 % down: their mean is close to nothing.
TEST(Figures, TenAReportsThePairThatMovesMostAndNotTheMeanAlone) {
  EvalResults base, moved;
  const double ratio[] = {1.06, 0.945, 1.01, 1.018};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string name(1, static_cast<char>('A' + i));
    base.runs.push_back(run(name, "c", "warped_slicer", 100));
    moved.runs.push_back(run(name, "c", "warped_slicer", 100 * ratio[i]));
  }
  const Figure figure = profiling_sensitivity({{"5 K cycles", &base}, {"10 K cycles", &moved}, {"delay 1 K", &moved, 0.015}});
  expect_says(figure, {"10 K cycles: largest +6.0 % (A_X), 2 of 4 pairs beyond 2.0 %",
                       "delay 1 K: largest +6.0 % (A_X), 3 of 4 pairs beyond 1.5 %", "mean +0.7", "All against 5 K cycles."});
  EXPECT_EQ(figure.data["10 K cycles"]["pairs_beyond_limit"], 2);
  EXPECT_EQ(figure.measured.find("5 K cycles: "), std::string::npos) << "against itself nothing moves";
}

TEST(Figures, SevenCNamesTheStallsThatFallMost) {
  EvalResults pairs;
  for (const char* policy : {"left_over", "warped_slicer"}) {
    EvalRun& r = pairs.runs.emplace_back(run("A", "compute+cache", policy, 1));
    const bool ours = r.policy == "warped_slicer";
    r.stalls = {ours ? 0.09 : 0.10, ours ? 0.10 : 0.20, 0.05, 0.05, 0.0, 0.0};
  }
  const Figure figure = stalls_together(pairs);
  expect_says(figure, {"long memory -10.0 %", "execution resource -50.0 %", "RAW +0.0 %", "barrier not known",
                       "Falls most: execution resource."});
  EXPECT_DOUBLE_EQ(figure.data["over_left_over"]["long_memory"], 0.9);
}

TEST(Figures, SevenBSaysWhoseMissRateIsLowestInEveryCategory) {
  EvalResults pairs;
  for (const auto& [policy, l1, l2] : {std::tuple{"left_over", 0.42, 0.3}, {"even", 0.40, 0.5}, {"warped_slicer", 0.41, 0.4}})
    for (const char* category : {"compute+cache", "compute+memory"}) {
      EvalRun& r = pairs.runs.emplace_back(run("A", category, policy, 1));
      r.l1_miss_rate = l1;
      r.l2_miss_rate = l2;
    }
  expect_says(miss_rates(pairs), {"lowest under Even; L2 accesses", "L2 miss rate highest under Even",
                                  "compute+memory: L1 miss rate lowest under Even (0.4000; Left-Over 0.4200)"});
}

TEST(Figures, SixSaysWhereWarpedSlicerLosesAndTheMeanOfTheCategories) {
  EvalResults pairs;
  for (const auto& [name, category, ours] :
       {std::tuple{"A", "compute+cache", 400.0}, {"B", "compute+memory", 100.0}, {"C", "compute+memory", 99.0}})
    for (const char* policy : {"left_over", "even", "spatial", "warped_slicer"})
      pairs.runs.push_back(run(name, category, policy, std::string(policy) == "warped_slicer" ? ours : 100));
  normalize_to_left_over(pairs);
  const Figure figure = pair_performance(pairs);
  expect_says(figure, {"as the mean of the categories", "Even +0.0 %, Spatial +0.0 % over Left-Over",
                       "Left-Over in 1 (C_X 0.990)", "FCFS in none"});
  EXPECT_NEAR(figure.data["warped_slicer_over_left_over_of_categories"].get<double>(), 1.995, 1e-3);
}

TEST(Figures, EightTellsTheMixesWithTwoComputeApplicationsApart) {
  EvalResults triples;
  for (const auto& [name, category, ours] : {std::tuple{"A", "compute+compute+memory", 120.0},
                                             {"B", "compute+memory+memory", 100.0},
                                             {"C", "compute+compute+compute", 100.0}})
    for (const char* policy : {"left_over", "even", "warped_slicer"})
      triples.runs.push_back(run(name, category, policy, std::string(policy) == "warped_slicer" ? ours : 100));
  expect_says(triple_performance(triples),
              {"3 mixes: Warped-Slicer +6.3 % over Even", "The 1 with two compute applications: +20.0 % over Even"});
}

/// Memory's share of the energy doubles, the SMs' stays: only with memory does anything move.
TEST(Figures, EnergyHasOneBoundaryForPowerAndEnergy) {
  EvalResults pairs;
  for (const char* policy : {"left_over", "warped_slicer"}) {
    EvalRun& r = pairs.runs.emplace_back(run("A", "c", policy, 1));
    r.per_kernel[0].counters.warp_instructions = 1000;
    r.per_kernel[0].counters.dram_bytes = r.policy == "left_over" ? 1000 : 2000;
  }
  MachineConfig machine;
  machine.num_sms = 1;
  machine.core_mhz = 1000;
  machine.energy = EnergyConfig{};
  machine.energy.sm_leakage_watts = 0;
  machine.energy.registers = 0;
  const Figure figure = energy(pairs, {}, machine);
  expect_says(figure, {"performance +0.0 %", "SMs only: dynamic power +0.0 %, energy +0.0 %",
                       "With interconnect, L2 and DRAM: dynamic power +9"});
  EXPECT_EQ(figure.data["warped_slicer_over_left_over"]["dynamic_power"], figure.data["warped_slicer_over_left_over"]["energy"]);
  EXPECT_EQ(figure.data["mixes"]["A_X"]["sm_energy"], 1.0);
}

TEST(Figures, TenBSaysHowFarTheSchedulersAreApart) {
  EvalResults a, b;
  for (EvalResults* r : {&a, &b})
    for (const char* policy : {"left_over", "warped_slicer"})
      r->runs.push_back(run("A", "c", policy, std::string(policy) == "left_over" ? 100 : r == &a ? 122 : 129));
  expect_says(scheduler_sensitivity({{"one", &a}, {"two", &b}}), {"one +22.0 %, two +29.0 % over Left-Over: 7.0 points"});
}

}  // namespace
}  // namespace sluice::figures
