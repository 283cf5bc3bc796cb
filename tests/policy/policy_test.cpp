// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sw/policy/registry.h"
#include "tests/policy/sample_mix.h"
#include "tests/support.h"

namespace sluice {
namespace {

using test::bfs;
using test::counts;
using test::dxt;
using test::fermi;
using test::hot;
using test::huge;
using test::mvp;
using Kernels = std::vector<KernelDescriptor>;

PolicyPlan plan(const std::string& policy, const Kernels& mix, const MachineConfig& machine = fermi()) {
  return policy_plans(policy, machine, mix).at(0);
}

std::string refusal(const std::string& policy, const Kernels& mix, const std::vector<CtaCount>& ctas = {},
                    const MachineConfig& machine = fermi()) {
  return test::refusal([&] { (void)policy_plans(policy, machine, mix, ctas); });
}

TEST(LeftOver, GivesTheFirstKernelItsOccupancyAndTheNextTheRest) {
  EXPECT_EQ(plan("left_over", {hot(), dxt()}).partition, on_every_sm(counts({3, 2}), Mode::LeftOver));
  EXPECT_EQ(plan("left_over", {dxt(), hot()}).partition, on_every_sm(counts({8, 0}), Mode::LeftOver));
  EXPECT_EQ(plan("left_over", {hot(), dxt()}).mode, Mode::LeftOver);
}

TEST(Fcfs, FillsInTurnAndPassesOverWhatDoesNotFit) {
  // HOT 2 and DXT 2 leave 9728 registers: a third HOT, then 512 registers for nobody.
  const PolicyPlan fcfs = plan("fcfs", {hot(), dxt()});
  EXPECT_EQ(fcfs.partition, on_every_sm(counts({3, 2}), Mode::Fcfs));
  EXPECT_EQ(fcfs.mode, Mode::Fcfs);
  EXPECT_EQ(plan("fcfs", {dxt(), mvp()}).partition, on_every_sm(counts({4, 4}), Mode::Fcfs));
}

TEST(Even, GivesHotOneAndDxtFourOnTheTableOneMachine) {
  const PolicyPlan even = plan("even", {hot(), dxt()});
  EXPECT_EQ(even.mode, Mode::Static);
  EXPECT_EQ(even.partition, on_every_sm(counts({1, 4})));
  EXPECT_EQ(even.shares(std::vector{KernelId(0), KernelId(1)}), on_every_sm(counts({1, 4})).shares);
}

TEST(Even, GivesDxtAndMvpFourEach) { EXPECT_EQ(plan("even", {dxt(), mvp()}).partition, on_every_sm(counts({4, 4}))); }

TEST(Even, DividesByThreeAndThenByTwoWhenOneEnds) {
  const PolicyPlan even = plan("even", {dxt(), mvp(), dxt()});
  EXPECT_EQ(even.partition, on_every_sm(counts({2, 2, 2})));
  const std::vector<Share> two = even.shares(std::vector{KernelId(0), KernelId(1)});
  EXPECT_EQ(two[0].ctas, CtaCount(4));
  EXPECT_EQ(two[1].ctas, CtaCount(4));
}

TEST(Even, BecomesSpatialWhenAKernelWouldGetNothing) {
  EXPECT_EQ(plan("even", {dxt(), huge()}).partition, on_own_sms(counts({8, 1}), 16));
  EXPECT_EQ(plan("even", {hot(), hot(), hot(), hot()}).partition.mode, Mode::Spatial);
}

TEST(Spatial, GivesEachKernelItsOccupancyOnItsOwnSms) {
  const PolicyPlan spatial = plan("spatial", {hot(), dxt(), bfs()});
  EXPECT_EQ(spatial.partition, on_own_sms(counts({3, 8, 3}), 16));
  const std::vector<Share> shares = spatial.shares(std::vector{KernelId(0), KernelId(1), KernelId(2)});
  EXPECT_EQ(shares[0].sms.count, 6U);
  EXPECT_EQ(shares[1].sms.first, SmId(6));
  EXPECT_EQ(shares[2].sms.first, SmId(11));
}

TEST(Spatial, DividesTheSmsAnewWhenAKernelEnds) {
  const std::vector<Share> shares = plan("spatial", {hot(), dxt(), bfs()}).shares(std::vector{KernelId(0), KernelId(2)});
  EXPECT_EQ(shares[0].sms, (SmRange{SmId(0), 8}));
  EXPECT_EQ(shares[1].sms, (SmRange{SmId(8), 8}));
}

TEST(Spatial, RefusesMoreKernelsThanSms) {
  MachineConfig machine = fermi();
  machine.num_sms = 1;
  EXPECT_NE(refusal("spatial", {hot(), dxt()}, {}, machine).find("machine fermi"), std::string::npos);
}

TEST(Static, TakesWhatTheHostAsksFor) {
  const auto plans = policy_plans("static", fermi(), {hot(), dxt()}, counts({2, 6}));
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].partition, on_every_sm(counts({2, 6})));
}

TEST(Static, LeavesNothingIdleWhenOneOfThreeEnds) {
  const PolicyPlan three = policy_plans("static", fermi(), {dxt(), mvp(), dxt()}, counts({2, 2, 2})).front();
  EXPECT_EQ(three.shares(std::vector{KernelId(0), KernelId(1), KernelId(2)}), on_every_sm(counts({2, 2, 2})).shares);
  const std::vector<Share> two = three.shares(std::vector{KernelId(0), KernelId(2)});  // four of eight slots are left
  EXPECT_EQ(two[0].ctas, CtaCount(4));
  EXPECT_EQ(two[1].ctas, CtaCount(4));
  // In turn HOT, DXT, HOT: then 512 registers are left, for nobody.
  const PolicyPlan other = policy_plans("static", fermi(), {hot(), dxt(), mvp()}, counts({1, 1, 4})).front();
  const std::vector<Share> rest = other.shares(std::vector{KernelId(0), KernelId(1)});
  EXPECT_EQ(rest[0].ctas, CtaCount(3));
  EXPECT_EQ(rest[1].ctas, CtaCount(2));
}

TEST(SoloCurve, DecidesAsWarpedSlicerDoesOnTheCurves) {
  const SoloCurves curves{{"HOT", {1, 2, 3}}, {"DXT", {1, 2, 3, 4, 5, 6, 7, 8}}};
  const PolicyPlan decided = policy_plans("solo_curve", fermi(), {hot(), dxt()}, {}, curves).at(0);
  EXPECT_EQ(decided.mode, Mode::Static);
  EXPECT_EQ(decided.partition, on_every_sm(counts({2, 6})));
  EXPECT_EQ(decided.shares(std::vector{KernelId(0), KernelId(1)}), on_every_sm(counts({2, 6})).shares);
}

TEST(SoloCurve, FallsBackToSpatialWhenTheGuardTrips) {
  MachineConfig strict = fermi();
  strict.partitioner.loss_limit = 0.4;
  const SoloCurves curves{{"HOT", {1, 2, 3}}, {"DXT", {1, 2, 3, 4, 5, 6, 7, 8}}};
  const PolicyPlan decided = policy_plans("solo_curve", strict, {hot(), dxt()}, {}, curves).at(0);
  EXPECT_EQ(decided.partition, on_own_sms(counts({3, 8}), 16));
  EXPECT_EQ(decided.shares(std::vector{KernelId(0), KernelId(1)}).at(1).sms.first, SmId(8));
}

TEST(SoloCurve, DecidesAnewWhenOneOfThreeEnds) {
  const SoloCurves curves{{"HOT", {1, 2, 3}}, {"DXT", {1, 2, 3, 4, 5, 6, 7, 8}}, {"MVP", {1, 1, 1, 1, 1, 1, 1, 1}}};
  const PolicyPlan three = policy_plans("solo_curve", fermi(), {hot(), mvp(), dxt()}, {}, curves).at(0);
  const std::vector<Share> two = three.shares(std::vector{KernelId(0), KernelId(2)});
  EXPECT_EQ(two[0].ctas, CtaCount(2));
  EXPECT_EQ(two[1].ctas, CtaCount(6));
}

TEST(SoloCurve, RefusesAKernelWithoutACurve) {
  EXPECT_EQ(refusal("solo_curve", {hot(), dxt()}), "policy solo_curve: kernel HOT: no curve over CTA counts: use sluice eval");
}

TEST(OwnModes, AskTheUnitForTheSamePartition) {
  for (const Kernels& mix : {Kernels{hot(), dxt()}, Kernels{dxt(), huge()}}) {
    EXPECT_EQ(plan("even_mode", mix).partition, plan("even", mix).partition);
    EXPECT_EQ(plan("even_mode", mix).mode, Mode::Even);
    EXPECT_EQ(plan("spatial_mode", mix).partition, plan("spatial", mix).partition);
    EXPECT_EQ(plan("spatial_mode", mix).mode, Mode::Spatial);
  }
}

TEST(Static, RefusesWhatDoesNotFitTogether) {
  EXPECT_NE(refusal("static", {hot(), dxt()}, counts({3, 3})).find("DXT"), std::string::npos);
  EXPECT_NE(refusal("static", {dxt(), huge()}, counts({1, 1})).find("HUGE"), std::string::npos);
}

TEST(Static, RefusesZeroAndMissingCounts) {
  EXPECT_NE(refusal("static", {hot(), dxt()}, counts({0, 1})).find("kernel HOT: 0 CTAs"), std::string::npos);
  EXPECT_NE(refusal("static", {hot(), dxt()}, counts({1})).find("1 CTA counts for 2 kernels"), std::string::npos);
}

TEST(WarpedSlicer, LeavesTheCountsToTheRun) {
  EXPECT_EQ(plan("warped_slicer", {hot(), dxt()}).mode, Mode::Dynamic);
  EXPECT_TRUE(plan("warped_slicer", {hot(), dxt()}).partition.shares.empty());
}

TEST(Oracle, ListsEveryCombinationOnceWithSpatialAndLeftOver) {
  const auto plans = policy_plans("oracle", fermi(), {hot(), dxt()});
  // HOT 1 with DXT 1..7, HOT 2 with DXT 1..6, HOT 3 with DXT 1..2; Spatial; Left-Over.
  EXPECT_EQ(plans.size(), 17U);
  const auto times = [&](const Partition& partition) { return std::ranges::count(plans, partition, &PolicyPlan::partition); };
  EXPECT_EQ(times(on_every_sm(counts({2, 6}))), 1);
  EXPECT_EQ(times(on_every_sm(counts({3, 3}))), 0);
  EXPECT_EQ(times(on_own_sms(counts({3, 8}), 16)), 1);
  EXPECT_EQ(times(on_every_sm(counts({3, 2}), Mode::LeftOver)), 1);
}

TEST(Oracle, HasOnlySpatialAndLeftOverWhenKernelsDoNotFitTogether) {
  EXPECT_EQ(policy_plans("oracle", fermi(), {dxt(), huge()}).size(), 2U);
}

TEST(Policies, RefuseAKernelWhoseCtaDoesNotFitAnEmptySm) {
  const Kernels mix{hot(), test::kernel("FOO", KernelType::Compute, 256, 40000)};
  for (const PolicyRow& row : policy_rows()) {
    EXPECT_EQ(refusal(std::string(row.name), mix, counts({1, 1})),
              "kernel FOO: one CTA needs 40000 registers, an SM of machine fermi has 32768")
        << row.name;
  }
}

TEST(Policies, GiveALoneKernelTheWholeSm) {
  for (const char* name : {"left_over", "fcfs", "even", "spatial"}) {
    EXPECT_EQ(plan(name, {hot()}).partition.shares.at(0).ctas, CtaCount(3)) << name;
  }
}

TEST(Registry, NamesTheAllowedPoliciesWhenItKnowsNone) {
  EXPECT_EQ(refusal("evne", {hot()}), "policy evne: must be one of " + policy_names());
  EXPECT_EQ(policy_names().find("left_over, fcfs, even, spatial, static, warped_slicer"), 0U);
}

TEST(Registry, EveryRowHasANameALabelAndAColourOfItsOwn) {
  for (const PolicyRow& row : policy_rows()) {
    EXPECT_FALSE(row.name.empty() || row.label.empty());
    for (const PolicyRow& other : policy_rows())
      EXPECT_EQ(&row == &other, row.name == other.name || row.label == other.label || row.colour == other.colour) << row.name;
    EXPECT_EQ(find_policy(row.name), &row);
  }
  EXPECT_EQ(find_policy("nobody"), nullptr);
}

}  // namespace
}  // namespace sluice
