// SPDX-License-Identifier: Apache-2.0
// What every page promises: well formed, without script or network, no number that is not one, every mark with its value.
#include "sw/report/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "well_formed.h"

namespace sluice::report {
namespace {

using test::contains;
using test::count;
using test::expect_sound;

Table gains() {
  Table table({"mix", Column("gain", Notation::Gain, 1), words("why")});
  table.heading("a<b").row({"A", 1.25, "one, two"}).row({"B", std::nan("")}).rule().mean({"mean", Cell(1.1, 1.05, 1.15)});
  return table;
}

TEST(Table, WritesTheSameCellsInEveryForm) {
  EXPECT_EQ(gains().text(), R"(mix                        gain       why
-----------------------------------------
a<b
A                       +25.0 %  one, two
B                             –
-----------------------------------------
mean  +10.0 % [+5.0 %, +15.0 %]
)");
  EXPECT_EQ(gains().csv(), "mix,gain,why\nA,1.25,\"one, two\"\nB,,\n");
  EXPECT_TRUE(contains(gains().html(), "<th colspan=\"3\">a&lt;b</th>"));
}

Page every_kind() {
  RowChart rows{.title = "Gain", .series = {{"one", 1}}, .rows = {{"A", {{1.2, 1.1, 1.3, 1.25}}}, {"B", {{std::nan("")}}}}};
  rows.notation = Notation::Gain;
  rows.baseline = 1.0;
  RowChart bars{.title = "Bars", .series = {{"x", 0}, {"y", 1}}, .rows = {{"A", {{1}, {2}}}}, .kind = RowChart::Kind::Bars};
  RowChart stack{
      .title = "Shares", .series = {{"x", 0}, {"y", 1}}, .rows = {{"A", {{0.2}, {0.5}}}}, .kind = RowChart::Kind::Stack};
  LineChart lines{.title = "Curve", .lines = {{{"k", 2}, {{1, 0.5}, {2, std::nan("")}, {3, 1}}}}};
  Timeline timeline{.title = "CTAs",
                    .series = {{"A", 4}},
                    .rows = {"SM 0"},
                    .spans = {{0, 0, 5, 0, 1, 0, "A"}},
                    .phases = {{"profile", 0}, {"quotas", 3}},
                    .end = 10};
  return {"A & B",
          "Said <so>.",
          {Large{rows}, Large{timeline}},
          {{"one", "First", {Multiples{{bars, stack, lines}}, Folded{"Numbers", gains()}}}},
          {{"seed", 1}, {"command", "sluice"}}};
}

TEST(Page, IsWellFormedAndStatic) {
  const std::string page = html(every_kind());
  expect_sound(page);
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_EQ(count(page, "<h1>A &amp; B</h1>"), 1U);
  EXPECT_GT(page.find("<footer>"), page.find("<h2"));
}

TEST(Page, LeavesOutWhatHasNoData) {
  const std::string page = html({"Nothing", "", {Large{RowChart{.title = "Gain"}}, Table({"a"})}, {}, {}});
  expect_sound(page);
  EXPECT_EQ(count(page, "<svg"), 0U);
  EXPECT_EQ(count(page, "<table"), 0U);
}

TEST(RowChart, SortsByTheFirstSeriesAndKeepsMeansInTheirPlace) {
  RowChart chart{.title = "t", .rows = {{"low", {{1}}}, {"high", {{3}}}, {"mean", {{2}}, true}}, .sorted = true};
  const std::string svg = draw(chart, 400);
  EXPECT_LT(svg.find(">high<"), svg.find(">low<"));
  EXPECT_LT(svg.find(">low<"), svg.find(">mean<"));
}

TEST(RowChart, ShowsWhatWasPublishedOnTheSameAxis) {
  const RowChart chart{.title = "t", .rows = {{"A", {{1.2, 1.1, 1.3, 1.5}}}}, .notation = Notation::Gain, .digits = 0};
  const std::string svg = draw(chart, 400);
  EXPECT_TRUE(contains(svg, "class=\"paper\""));
  EXPECT_TRUE(contains(svg, ">+50 %<"));
}

TEST(Picture, StandsAlone) {
  const std::string svg = picture(every_kind().opening.empty() ? Chart{} : std::get<Large>(every_kind().opening[1]).chart, 600);
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(contains(svg, "prefers-color-scheme: dark"));
  EXPECT_EQ(test::mismatched_tag(svg), "");
}

}  // namespace
}  // namespace sluice::report
