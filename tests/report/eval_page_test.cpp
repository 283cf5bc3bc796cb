// SPDX-License-Identifier: Apache-2.0
// What the report page promises beyond its content (report_test.cpp): shape, gaps, honesty about what is shown.
#include "sw/report/eval_tables.h"

#include <gtest/gtest.h>

#include <array>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "sw/report/eval_results.h"
#include "synthetic_results.h"
#include "tests/support.h"
#include "well_formed.h"

namespace sluice {
namespace {

using test::synthetic_results;

using test::contains;
using test::count;

std::string html_of(const EvalResults& results) { return report::html(eval_page(results)); }

/// From one heading to the next.
std::string section(const std::string& page, const std::string& heading) {
  const std::size_t text = page.find(">" + heading, page.find("<h2"));
  if (text == std::string::npos) return "";
  const std::size_t begin = page.rfind("<h2", text);
  return page.substr(begin, page.find("<h2", begin + 1) - begin);
}

void expect_sound(const std::string& page) {
  test::expect_sound(page);
  EXPECT_EQ(count(page, "<rect"), count(page, "</title></rect>")) << "every bar says its value";
  EXPECT_EQ(count(page, "<circle"), count(page, "</title></circle>")) << "and every dot";
}

TEST(EvalPage, IsWellFormed) { expect_sound(html_of(synthetic_results())); }

TEST(EvalPage, FromJsonShowsWhatItShowsFromResults) {
  const EvalResults results = synthetic_results();
  const std::string page = html_of(results_from_json(nlohmann::ordered_json::parse(results_text(results)), "results"));
  const std::string direct = html_of(results);
  EXPECT_EQ(page.substr(page.find("<h2")), direct.substr(direct.find("<h2")));
}

TEST(EvalPage, RefusesJsonOutsideTheSchema) {
  const auto json = nlohmann::ordered_json::parse(R"({"meta": {}, "solo": [], "runs": [{"kernels": []}]})");
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(json, "results"); }), "results: runs[0].kernels: must not be empty");
}

TEST(EvalPage, ResultTableNamesTheChosenPartition) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs)
    if (run.policy == "warped_slicer") run.partition = on_every_sm(std::array{CtaCount(11), CtaCount(13)});
  EXPECT_EQ(count(section(html_of(results), "Every mix"), ">(11,13)<"), 30U);
}

TEST(EvalPage, LeavesGapsWhereAPolicyDidNotRun) {
  for (const char* missing : {"left_over", "even", "spatial", "warped_slicer"}) {
    SCOPED_TRACE(missing);
    EvalResults results = synthetic_results();
    std::size_t seen = 0;  // keeps the first two of that policy
    std::erase_if(results.runs, [&](const EvalRun& run) { return run.policy == missing && seen++ >= 2; });
    normalize_to_left_over(results);
    expect_sound(html_of(results));
    std::erase_if(results.runs, [&](const EvalRun& run) { return run.policy == missing; });
    normalize_to_left_over(results);
    expect_sound(html_of(results));
  }
}

TEST(EvalPage, ToleratesFiguresThatAreNotKnown) {
  EvalResults results = synthetic_results();
  const double unknown = std::nan("");
  for (EvalRun& run : results.runs) {
    run.stp = run.antt = run.min_speedup = run.l1_miss_rate = run.dram_bytes_per_cycle = unknown;
    run.utilization.shared_memory = run.stalls.raw = unknown;
  }
  for (SoloRun& solo : results.solo) {
    solo.reference.reset();
    solo.curve.clear();
  }
  expect_sound(html_of(results));
}

TEST(EvalPage, WithoutRunsShowsTheKernelsAlone) {
  EvalResults results = synthetic_results();
  results.runs.clear();
  const std::string page = html_of(results);
  expect_sound(page);
  EXPECT_TRUE(contains(section(page, "Kernels alone"), ">BLK<"));
  EXPECT_EQ(section(page, "Every mix"), "");
}

TEST(EvalPage, PublishedFiguresAreMarkedAndNeverStandForTheModels) {
  EvalResults results = synthetic_results();
  const std::string gains = section(html_of(results), "What Warped-Slicer gains");
  for (const char* figure : {"+23 %", "+14 %", "+17 %"})
    EXPECT_TRUE(contains(gains, std::string("<td class=\"published\">") + figure)) << figure;
  EXPECT_TRUE(contains(gains, "class=\"paper\"")) << "the paper's ring on the same axis";
  std::erase_if(results.runs, [](const EvalRun& run) { return run.policy == "warped_slicer"; });
  EXPECT_EQ(section(html_of(results), "What Warped-Slicer gains"), "") << "nothing of ours to compare";
}

TEST(EvalPage, PublishedMeansOfPairsAreNotShownBesideTriples) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs) {
    run.kernels.emplace_back("THIRD");
    run.per_kernel.push_back(run.per_kernel.back());
  }
  const std::string gains = section(html_of(results), "What Warped-Slicer gains");
  EXPECT_FALSE(gains.empty());
  EXPECT_FALSE(contains(gains, "+23 %"));
  EXPECT_FALSE(contains(section(html_of(results), "Fairness and turnaround"), "published by"));
  EXPECT_FALSE(contains(terminal_report(results), "ISCA 2016"));
}

TEST(EvalPage, SaysWhenMinimumSpeedUpOnlyRepeatsNormalisedIpc) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs) run.min_speedup = run.normalized_ipc / 2;
  EXPECT_TRUE(contains(html_of(results), "no evidence of its own"));
  results.runs.back().min_speedup *= 1.01;
  EXPECT_FALSE(contains(html_of(results), "no evidence of its own"));
}

}  // namespace
}  // namespace sluice
