// SPDX-License-Identifier: Apache-2.0
#include "sw/report/slate_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sw/core/errors.h"

namespace sluice::figures {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace sluice::figures
