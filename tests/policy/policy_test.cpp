#include <gtest/gtest.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "tests/policy/sample_mix.h"

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

DispatchPlan plan(const std::string& policy, const Kernels& mix, const MachineConfig& machine = fermi()) {
  return make_policy(policy)->plans(machine, mix).at(0);
}

std::string refusal(const std::string& policy, const Kernels& mix, const std::vector<CtaCount>& ctas = {},
                    const MachineConfig& machine = fermi()) {
  try {
    (void)make_policy(policy, ctas)->plans(machine, mix);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LeftOver, GivesTheFirstKernelItsOccupancyAndTheNextTheRest) {
  EXPECT_EQ(plan("left_over", {hot(), dxt()}).partition, (Partition{PartitionMode::LeftOver, counts({3, 2})}));
  EXPECT_EQ(plan("left_over", {dxt(), hot()}).partition, (Partition{PartitionMode::LeftOver, counts({8, 0})}));
  EXPECT_EQ(plan("left_over", {hot(), dxt()}).mode, DispatchMode::LeftOver);
}

TEST(Fcfs, FillsInTurnAndPassesOverWhatDoesNotFit) {
  // HOT 2 and DXT 2 leave 9728 registers: a third HOT, then 512 registers for nobody.
  const DispatchPlan fcfs = plan("fcfs", {hot(), dxt()});
  EXPECT_EQ(fcfs.partition, (Partition{PartitionMode::Fcfs, counts({3, 2})}));
  EXPECT_EQ(fcfs.mode, DispatchMode::Fcfs);
  EXPECT_EQ(plan("fcfs", {dxt(), mvp()}).partition.ctas, counts({4, 4}));
}

TEST(Even, GivesHotOneAndDxtFourOnTheTableOneMachine) {
  const DispatchPlan even = plan("even", {hot(), dxt()});
  EXPECT_EQ(even.mode, DispatchMode::Partitioned);
  EXPECT_EQ(even.partition, (Partition{PartitionMode::IntraSm, counts({1, 4})}));
  EXPECT_EQ(even.quotas({KernelId(0), KernelId(1)}).ctas, counts({1, 4}));
}

TEST(Even, GivesDxtAndMvpFourEach) { EXPECT_EQ(plan("even", {dxt(), mvp()}).partition.ctas, counts({4, 4})); }

TEST(Even, DividesByThreeAndThenByTwoWhenOneEnds) {
  const DispatchPlan even = plan("even", {dxt(), mvp(), dxt()});
  EXPECT_EQ(even.partition.ctas, counts({2, 2, 2}));
  const Quotas two = even.quotas({KernelId(0), KernelId(1)});
  EXPECT_EQ(two.ctas[0], CtaCount(4));
  EXPECT_EQ(two.ctas[1], CtaCount(4));
}

TEST(Even, BecomesSpatialWhenAKernelWouldGetNothing) {
  EXPECT_EQ(plan("even", {dxt(), huge()}).partition, (Partition{PartitionMode::Spatial, counts({8, 1})}));
  EXPECT_EQ(plan("even", {hot(), hot(), hot(), hot()}).partition.mode, PartitionMode::Spatial);
}

TEST(Spatial, GivesEachKernelItsOccupancyOnItsOwnSms) {
  const DispatchPlan spatial = plan("spatial", {hot(), dxt(), bfs()});
  EXPECT_EQ(spatial.partition, (Partition{PartitionMode::Spatial, counts({3, 8, 3})}));
  const Quotas quotas = spatial.quotas({KernelId(0), KernelId(1), KernelId(2)});
  EXPECT_EQ(quotas.sm_ranges[0].count, 6U);
  EXPECT_EQ(quotas.sm_ranges[1].first, SmId(6));
  EXPECT_EQ(quotas.sm_ranges[2].first, SmId(11));
}

TEST(Spatial, DividesTheSmsAnewWhenAKernelEnds) {
  const Quotas quotas = plan("spatial", {hot(), dxt(), bfs()}).quotas({KernelId(0), KernelId(2)});
  EXPECT_EQ(quotas.sm_ranges[0].count, 8U);
  EXPECT_EQ(quotas.sm_ranges[2].first, SmId(8));
  EXPECT_EQ(quotas.sm_ranges[2].count, 8U);
}

TEST(Spatial, RefusesMoreKernelsThanSms) {
  MachineConfig machine = fermi();
  machine.num_sms = 1;
  EXPECT_NE(refusal("spatial", {hot(), dxt()}, {}, machine).find("machine fermi"), std::string::npos);
}

TEST(Static, TakesWhatTheHostAsksFor) {
  const auto plans = make_policy("static", counts({2, 6}))->plans(fermi(), {hot(), dxt()});
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].partition, (Partition{PartitionMode::IntraSm, counts({2, 6})}));
}

TEST(Static, LeavesNothingIdleWhenOneOfThreeEnds) {
  const DispatchPlan three = make_policy("static", counts({2, 2, 2}))->plans(fermi(), {dxt(), mvp(), dxt()}).front();
  EXPECT_EQ(three.quotas({KernelId(0), KernelId(1), KernelId(2)}).ctas, counts({2, 2, 2}));
  const Quotas two = three.quotas({KernelId(0), KernelId(2)});  // four of eight slots are left
  EXPECT_EQ(two.ctas[0], CtaCount(4));
  EXPECT_EQ(two.ctas[2], CtaCount(4));
  // In turn HOT, DXT, HOT: then 512 registers are left, for nobody.
  const DispatchPlan other = make_policy("static", counts({1, 1, 4}))->plans(fermi(), {hot(), dxt(), mvp()}).front();
  const Quotas rest = other.quotas({KernelId(0), KernelId(1)});
  EXPECT_EQ(rest.ctas[0], CtaCount(3));
  EXPECT_EQ(rest.ctas[1], CtaCount(2));
}

TEST(SoloCurve, DecidesAsWarpedSlicerDoesOnTheCurves) {
  const SoloCurves curves{{"HOT", {1, 2, 3}}, {"DXT", {1, 2, 3, 4, 5, 6, 7, 8}}};
  const auto policy = make_policy("solo_curve", {}, curves);
  EXPECT_TRUE(policy->needs_run());
  const DispatchPlan decided = policy->plans(fermi(), {hot(), dxt()}).at(0);
  EXPECT_EQ(decided.mode, DispatchMode::Partitioned);
  EXPECT_EQ(decided.partition, (Partition{PartitionMode::IntraSm, counts({2, 6})}));
  EXPECT_EQ(decided.quotas({KernelId(0), KernelId(1)}).ctas, counts({2, 6}));
}

TEST(SoloCurve, FallsBackToSpatialWhenTheGuardTrips) {
  MachineConfig strict = fermi();
  strict.partitioner.loss_limit = 0.4;
  const SoloCurves curves{{"HOT", {1, 2, 3}}, {"DXT", {1, 2, 3, 4, 5, 6, 7, 8}}};
  const DispatchPlan decided = make_policy("solo_curve", {}, curves)->plans(strict, {hot(), dxt()}).at(0);
  EXPECT_EQ(decided.partition, (Partition{PartitionMode::Spatial, counts({3, 8})}));
  EXPECT_EQ(decided.quotas({KernelId(0), KernelId(1)}).sm_ranges.at(1).first, SmId(8));
}

TEST(SoloCurve, DecidesAnewWhenOneOfThreeEnds) {
  const SoloCurves curves{{"HOT", {1, 2, 3}}, {"DXT", {1, 2, 3, 4, 5, 6, 7, 8}}, {"MVP", {1, 1, 1, 1, 1, 1, 1, 1}}};
  const DispatchPlan three = make_policy("solo_curve", {}, curves)->plans(fermi(), {hot(), mvp(), dxt()}).at(0);
  const Quotas two = three.quotas({KernelId(0), KernelId(2)});
  EXPECT_EQ(two.ctas[0], CtaCount(2));
  EXPECT_EQ(two.ctas[2], CtaCount(6));
}

TEST(SoloCurve, RefusesAKernelWithoutACurve) {
  EXPECT_EQ(refusal("solo_curve", {hot(), dxt()}), "policy solo_curve: kernel HOT: no curve over CTA counts: use sluice eval");
}

TEST(OwnModes, AskTheUnitForTheSamePartition) {
  for (const Kernels& mix : {Kernels{hot(), dxt()}, Kernels{dxt(), huge()}}) {
    EXPECT_EQ(plan("even_mode", mix).partition, plan("even", mix).partition);
    EXPECT_EQ(plan("even_mode", mix).mode, DispatchMode::Even);
    EXPECT_EQ(plan("spatial_mode", mix).partition, plan("spatial", mix).partition);
    EXPECT_EQ(plan("spatial_mode", mix).mode, DispatchMode::Spatial);
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
  EXPECT_TRUE(make_policy("warped_slicer")->needs_run());
  EXPECT_EQ(plan("warped_slicer", {hot(), dxt()}).mode, DispatchMode::Dynamic);
  EXPECT_TRUE(plan("warped_slicer", {hot(), dxt()}).partition.ctas.empty());
}

TEST(Oracle, ListsEveryCombinationOnceWithSpatialAndLeftOver) {
  EXPECT_TRUE(make_policy("oracle")->needs_run());
  const auto plans = make_policy("oracle")->plans(fermi(), {hot(), dxt()});
  // HOT 1 with DXT 1..7, HOT 2 with DXT 1..6, HOT 3 with DXT 1..2; Spatial; Left-Over.
  EXPECT_EQ(plans.size(), 17U);
  const auto times = [&](const Partition& partition) { return std::ranges::count(plans, partition, &DispatchPlan::partition); };
  EXPECT_EQ(times({PartitionMode::IntraSm, counts({2, 6})}), 1);
  EXPECT_EQ(times({PartitionMode::IntraSm, counts({3, 3})}), 0);
  EXPECT_EQ(times({PartitionMode::Spatial, counts({3, 8})}), 1);
  EXPECT_EQ(times({PartitionMode::LeftOver, counts({3, 2})}), 1);
}

TEST(Oracle, HasOnlySpatialAndLeftOverWhenKernelsDoNotFitTogether) {
  EXPECT_EQ(make_policy("oracle")->plans(fermi(), {dxt(), huge()}).size(), 2U);
}

TEST(Policies, RefuseAKernelWhoseCtaDoesNotFitAnEmptySm) {
  const Kernels mix{hot(), test::kernel("FOO", KernelType::Compute, 256, 40000)};
  for (const std::string& name : policy_names()) {
    EXPECT_EQ(refusal(name, mix, counts({1, 1})), "kernel FOO: one CTA needs 40000 registers, an SM of machine fermi has 32768")
        << name;
  }
}

TEST(Policies, GiveALoneKernelTheWholeSm) {
  for (const char* name : {"left_over", "fcfs", "even", "spatial"}) {
    EXPECT_EQ(plan(name, {hot()}).partition.ctas, counts({3})) << name;
  }
}

TEST(Registry, NamesTheAllowedPoliciesWhenItKnowsNone) {
  EXPECT_EQ(refusal("evne", {hot()}),
            "policy evne: must be one of left_over, fcfs, even, spatial, warped_slicer, solo_curve, oracle, static, even_mode, "
            "spatial_mode");
}

}  // namespace
}  // namespace sluice
