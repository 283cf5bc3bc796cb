// SPDX-License-Identifier: Apache-2.0
// The pages of results/ are drawn from their figures.json alone, whatever of it is missing.
#include "sw/report/views.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sw/io/atomic_file.h"
#include "well_formed.h"

namespace sluice::figures {
namespace {

using test::contains;

Json committed(const std::string& folder) {
  return Json::parse(read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / "results" / folder / "figures.json"));
}

TEST(Views, EveryCommittedPageIsSoundAndHasAChartInNearlyEveryFigure) {
  for (const char* folder : {"figures", "effisha", "five", "sim", "slate", "kernelet"}) {
    SCOPED_TRACE(folder);
    const report::Page page = page_of(committed(folder));
    test::expect_sound(report::html(page));
    EXPECT_FALSE(page.opening.empty());
    std::size_t bare = 0;
    for (const report::Section& section : page.sections) bare += section.blocks.size() < 2 ? 1 : 0;
    EXPECT_EQ(bare, 0U) << "a figure with sentences alone";
  }
}

TEST(Views, TheTitleIsTheFindingOfTheData) {
  Json json = committed("figures");
  EXPECT_TRUE(page_of(json).title.starts_with("Warped-Slicer gains "));
  json["figures"]["6"]["data"]["warped_slicer_over"]["left_over"] = 1.5;
  EXPECT_TRUE(page_of(json).title.starts_with("Warped-Slicer gains 50.0 % over Left-Over")) << page_of(json).title;
}

TEST(Views, WhatIsMissingIsLeftOut) {
  Json json = committed("figures");
  for (const char* id : {"6", "8", "guard", "9", "larger_sm", "energy"}) json["figures"].erase(id);
  test::expect_sound(report::html(page_of(json)));
  for (auto& [id, figure] : json["figures"].items()) figure["data"] = Json::object();
  test::expect_sound(report::html(page_of(json)));
}

TEST(Views, SomethingPublishedStandsOnTheAxisOfWhatWasMeasured) {
  EXPECT_TRUE(contains(report::html(page_of(committed("figures"))), "published: +23.0 %"));
  const report::RowChart chart = beside("t", {{"a", 1.2, 1.3}, {"missing", report::kNone, 1.4}});
  ASSERT_EQ(chart.rows.size(), 1U);
  EXPECT_EQ(chart.rows[0].points[0].published, 1.3);
}

}  // namespace
}  // namespace sluice::figures
