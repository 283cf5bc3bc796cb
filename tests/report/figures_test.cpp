// SPDX-License-Identifier: Apache-2.0
// What the figures say in words: every part of the published claim, also where it fails.
#include "sw/report/paper_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "sw/core/errors.h"
#include "sw/workload/machine_file.h"

namespace sluice::figures {
namespace {

using namespace std::chrono_literals;
using namespace effisha;

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

SchedulerScenes scenes(const char* scheduler, double stp, std::int64_t makespan) {
  return {scheduler, "of somebody", {{"A_B", {stp, 1.5, 2, Time(makespan), 0.25, 0.125, 3}}}};
}

/// Lines that are kept are the same to the last digit.
TEST(FiveFigures, SchedulersComeBackFromTheirOwnData) {
  const std::vector<SchedulerScenes> all = {scenes("arrival", 1.0 / 3, 927066608123), scenes("piv", 1.7, 927066608121)};
  const Figure figure = schedulers_compared("pairs", "title", all, "arrival");
  const std::vector<SchedulerScenes> back = read_schedulers(nlohmann::ordered_json::parse(figure.data.dump()));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].scheduler, "piv");
  EXPECT_EQ(back[1].scenes[0].second.makespan, Time(927066608121));
  EXPECT_EQ(schedulers_compared("pairs", "title", back, "arrival").data.dump(), figure.data.dump());
}

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

/// Two pairs: BS_MM, whose later job ends after `first`, and RG_TR, after `second`.
ScheduleRun run(const std::string& scheduler, Time first, Time second) {
  ScheduleRun run;
  run.scheduler = scheduler;
  run.jobs = {{"BS_MM.1", 0, Time(0), Time(1), first},
              {"BS_MM.2", 0, Time(0), Time(1), first / 2},
              {"RG_TR.1", 0, Time(0), Time(1), second / 4},
              {"RG_TR.2", 0, Time(0), Time(1), second}};
  return run;
}

TEST(SlateFigures, APairEndsWithItsLaterJob) {
  const auto makespans = pair_makespans(run("slate", 2ms, 3ms));
  EXPECT_EQ(makespans, (std::map<std::string, double>{{"BS_MM", 2}, {"RG_TR", 3}}));
}

TEST(SlateFigures, RefusesJobsThatAreNoPairs) {
  ScheduleRun broken = run("slate", 2ms, 3ms);
  broken.jobs.back().name = "RG";
  EXPECT_THROW((void)pair_makespans(broken), InputError);
  broken.jobs.pop_back();
  EXPECT_THROW((void)pair_makespans(broken), InputError);
}

TEST(SlateFigures, ASignIsThePublishedOneOrNot) {
  const Figure none = slate_pairs_figure({run("left_over", 2ms, 3ms), run("slate", 2ms, 3ms)});
  EXPECT_EQ(none.data["published_sign"]["slate"], 1) << "no gain: right for BS_MM, wrong for RG_TR";
  const Figure both = slate_pairs_figure({run("left_over", 2ms, 3ms), run("slate", 3ms, 2ms)});
  EXPECT_EQ(both.data["published_sign"]["slate"], 2);
  EXPECT_DOUBLE_EQ(both.data["pairs"]["RG_TR"]["slate"].get<double>(), 1.5);
  EXPECT_NEAR(both.data["mean"]["slate"].get<double>(), 1, 1e-12);
  const Figure neither = slate_pairs_figure({run("left_over", 3ms, 2ms), run("slate", 2ms, 3ms)});
  EXPECT_EQ(neither.data["published_sign"]["slate"], 0);
  EXPECT_THROW((void)slate_pairs_figure({run("slate", 2ms, 3ms)}), InputError);
}

TEST(SlateFigures, ASetUpThatCostsTheBaselineTurnsSigns) {
  const Figure f =
      slate_set_up_figure({{8, run("left_over", 2ms, 3ms)}, {100, run("left_over", 2ms, 4ms)}}, run("slate", 2ms, 3ms));
  EXPECT_EQ(f.data[0]["published_sign"], 1);
  EXPECT_EQ(f.data[1]["cycles"], 100);
  EXPECT_EQ(f.data[1]["published_sign"], 2) << "BS_MM as fast, RG_TR faster";
  EXPECT_DOUBLE_EQ(f.data[1]["mean"].get<double>(), std::sqrt(4.0 / 3));
}

TEST(SlateFigures, ACurveSaturatesWhereItHasNineteenTwentiethsOfItsBest) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(saturates_at({"K", {50, 94, 95, 100}}), 3U);
  EXPECT_EQ(saturates_at({"K", {kNone, 60, kNone, 100, 99}}), 4U);
}

TEST(SlateFigures, ClassesAreComparedWithTableTwos) {
  const SlateAlone bs{"BS", 161.3, 401.5, 0, 0, 0, 1, {161.3 / 12150, 401.5 / 547.6, ComputeShare::PeakFlops}};
  SlateAlone tr{"TR", 0, 568.6, 0, 0, 0, 1, {0, 568.6 / 547.6, ComputeShare::PeakFlops}};
  EXPECT_NE(slate_profiles_table({bs, tr}).measured.find("2 of 2"), std::string::npos);
  tr.intensity.memory = 0.5;
  EXPECT_NE(slate_profiles_table({bs, tr}).measured.find("1 of 2"), std::string::npos);
}

TEST(SlateFigures, TableOneHasTwelveCoruns) {
  EXPECT_EQ(slate_policy_table().measured, "12 cells of 25 are corun; 2 pairs may share in one order only.");
}

// EffiSha, from made-up measurements.

std::vector<KernelCosts> costs() {
  KernelCosts scan{"Scan", 1.4, 0.08, {}}, md{"MD", 13.9, 0.4, {}};
  for (std::size_t m = 0; m < kMechanisms.size(); ++m) {
    scan.by[m] = {0.01 * static_cast<double>(m), 0.05, 0.08, 2.0 * static_cast<double>(m)};
    md.by[m] = {0.03 * static_cast<double>(m), 0.15, 0.4, 0};
  }
  return {scan, md};
}

ScheduleRun run(const std::string& scheduler, const std::string& flavour, Time scan, Time md) {
  ScheduleRun run{scheduler, "model", flavour, {}, {}, std::max(scan, md), 1};
  run.jobs = {{"Scan", 8, 0ms, 1ms, scan, 0}, {"MD", 2, 0ms, 10ms, md, 1}};
  return run;
}

std::vector<Setting> settings() {
  const auto row = [](const std::string& scheduler, const std::string& flavour, Time scan, Time md) {
    return Setting::Row{run(scheduler, flavour, scan, md), run(scheduler, "hardware", scan, 11ms),
                        run(scheduler, "hardware", scan, md)};
  };
  return {{"group",
           {row("arrival", "hardware", 11ms, 10ms), row("rr", "hardware", 4ms, 12ms), row("piv", "hardware", 1ms, 11ms),
            row("piv", "software-adaptive", 2ms, 22ms)}}};
}

TEST(EffishaFigures, MeansAreOverTheKernels) {
  const Figure overhead = transformation_overhead(costs(), 0);
  EXPECT_NEAR(overhead.data["mean"]["proxy"].get<double>(), 0.04, 1e-12);
  EXPECT_NE(overhead.measured.find("adaptive 6.00 % (worst 9.00 %)"), std::string::npos) << overhead.measured;
  const Figure both = software_and_hardware(costs());
  EXPECT_NEAR(both.data["basic"]["host reads over PCIe a block-task"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(both.data["basic"]["latency, mean, us"].get<double>(), 100, 1e-9);
}

TEST(EffishaFigures, TheDifferenceToTheFakeExecutorIsTheHardwareFlavours) {
  const Figure figure = turnaround(settings());
  EXPECT_NEAR(figure.data["worst_difference_to_fake"].get<double>(), 1 - 10.0 / 11, 1e-12) << "arrival; software has 22 to 11";
  EXPECT_EQ(figure.data["worst_difference_to_fake_with_drain"], 0.0);
  EXPECT_EQ(figure.data["group"]["piv"]["MD"]["fake_with_drain"], 1.1);
  const std::string data = figure.data.dump();
  EXPECT_LT(data.find("\"MD\""), data.find("\"Scan\"")) << "in order of priority";
  EXPECT_EQ(figure.data["group"]["piv, software-adaptive"]["MD"]["model"], 2.2);
}

TEST(EffishaFigures, OverheadOfSchedulingIsOverArrival) {
  const Figure figure = scheduling_overhead(settings());
  EXPECT_NEAR(figure.data["group"]["piv, software-adaptive"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(figure.data["group"]["rr"].get<double>(), 1.0 / 11, 1e-12);
}

TEST(EffishaFigures, SaysWhoIsNotAboveTheDefault) {
  const Figure figure = throughput(settings());
  EXPECT_EQ(figure.measured, "Not above rr: group piv, software-adaptive.");
}

}  // namespace
}  // namespace sluice::figures
