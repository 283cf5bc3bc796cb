// SPDX-License-Identifier: Apache-2.0
// Written from what a star-shaped curve is, not from the walk that finds it.
#include "sw/partition/star_hull.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr double kRounding = 1 + 1e-12;

Profile any_profile() {
  const auto values = *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(1, 33), rc::gen::inRange(0, 20000));
  return {values.begin(), values.end()};
}

TEST(StarHull, RaisesASampleToTheLineOfOneWithMoreCtas) {
  EXPECT_EQ(star_hull(Profile{100, 120, 300, 320}), (Profile{100, 200, 300, 320}));
  EXPECT_EQ(star_hull(Profile{0, 0, 0, 400}), (Profile{100, 200, 300, 400}));
}

TEST(StarHull, LeavesACurveThatSaturatesOrFalls) {
  EXPECT_EQ(star_hull(Profile{100, 190, 240, 250}), (Profile{100, 190, 240, 250}));
  EXPECT_EQ(star_hull(Profile{100, 90, 80}), (Profile{100, 90, 80}));
  EXPECT_EQ(star_hull(Profile{}), Profile{});
}

RC_GTEST_PROP(StarHull, NoCtaIssuesMoreBesideOthers, ()) {
  const Profile hull = star_hull(any_profile());
  for (std::size_t n = 2; n <= hull.size(); ++n)
    RC_ASSERT(hull[n - 1] / static_cast<double>(n) <= hull[n - 2] / static_cast<double>(n - 1) * kRounding);
}

RC_GTEST_PROP(StarHull, IsTheGreatestLineThroughASampleWithAsManyCtasOrMore, ()) {
  const Profile profile = any_profile(), hull = star_hull(profile);
  RC_ASSERT(hull.size() == profile.size());
  for (std::size_t n = 1; n <= profile.size(); ++n) {
    double most = 0;
    for (std::size_t m = n; m <= profile.size(); ++m)
      most = std::max(most, profile[m - 1] * static_cast<double>(n) / static_cast<double>(m));
    RC_ASSERT(hull[n - 1] >= profile[n - 1]);
    RC_ASSERT(hull[n - 1] >= most / kRounding && hull[n - 1] <= most * kRounding);
  }
}

RC_GTEST_PROP(StarHull, OfAHullIsTheHull, ()) {
  const Profile hull = star_hull(any_profile()), again = star_hull(hull);
  for (std::size_t j = 0; j < hull.size(); ++j) RC_ASSERT(again[j] >= hull[j] && again[j] <= hull[j] * kRounding);
}

RC_GTEST_PROP(StarHull, KeepsTheBest, ()) {
  const Profile profile = any_profile();
  RC_ASSERT(std::ranges::max(star_hull(profile)) == std::ranges::max(profile));
}

}  // namespace
}  // namespace sluice
