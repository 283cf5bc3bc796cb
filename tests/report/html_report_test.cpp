// SPDX-License-Identifier: Apache-2.0
// What the report page promises beyond its content (report_test.cpp): shape, gaps, honesty about what is shown.
#include "sw/report/html_report.h"

#include <gtest/gtest.h>

#include <array>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "sw/core/errors.h"
#include "sw/report/results_json.h"
#include "sw/report/terminal_table.h"
#include "synthetic_results.h"

namespace sluice {
namespace {

using test::synthetic_results;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// From one heading to the next.
std::string section(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("<h2>" + heading);
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("<h2>", begin + 1) - begin);
}

/// The first end tag that closes another element than the last opened one; "" when all match.
std::string mismatched_tag(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return "unclosed <";
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.ends_with('/')) continue;
    if (name[0] != '/') {
      open.push_back(name);
      continue;
    }
    if (open.empty() || "/" + open.back() != name) return name + " closes " + (open.empty() ? "nothing" : open.back());
    open.pop_back();
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

std::string body(const std::string& page) {
  const std::size_t begin = page.find("<body>");
  return page.substr(begin, page.find("</html>") - begin);
}

void expect_sound(const std::string& page) {
  EXPECT_EQ(mismatched_tag(body(page)), "");
  EXPECT_EQ(count(page, "<rect"), count(page, "</title></rect>")) << "every bar says its value";
  EXPECT_EQ(count(page, "<circle"), count(page, "</title></circle>"));
  for (const char* number : {">nan", ": nan", "\"nan", ",nan", ">inf", ": inf", "\"inf", "http"})
    EXPECT_FALSE(contains(page, number)) << number;
}

TEST(HtmlReport, IsWellFormed) { expect_sound(html_report(synthetic_results())); }

TEST(HtmlReport, FromJsonShowsWhatItShowsFromResults) {
  const EvalResults results = synthetic_results();
  const std::string page = html_report(nlohmann::json::parse(results_text(results)));
  const std::string direct = html_report(results);
  EXPECT_EQ(page.substr(page.find("<h2>")), direct.substr(direct.find("<h2>")));
}

TEST(HtmlReport, RefusesJsonOutsideTheSchema) {
  try {
    (void)html_report(nlohmann::json::parse(R"({"meta": {}, "solo": [], "runs": [{"kernels": []}]})"));
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "results: runs[0].kernels: must not be empty");
  }
}

TEST(HtmlReport, ResultTableNamesTheChosenPartition) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs)
    if (run.policy == "warped_slicer") run.partition = on_every_sm(std::array{CtaCount(11), CtaCount(13)});
  EXPECT_EQ(count(section(html_report(results), "All results"), ">(11,13)<"), 30U);
}

TEST(HtmlReport, LeavesGapsWhereAPolicyDidNotRun) {
  for (const char* missing : {"left_over", "even", "spatial", "warped_slicer"}) {
    SCOPED_TRACE(missing);
    EvalResults results = synthetic_results();
    std::size_t seen = 0;  // keeps the first two of that policy
    std::erase_if(results.runs, [&](const EvalRun& run) { return run.policy == missing && seen++ >= 2; });
    normalize_to_left_over(results);
    expect_sound(html_report(results));
    std::erase_if(results.runs, [&](const EvalRun& run) { return run.policy == missing; });
    normalize_to_left_over(results);
    expect_sound(html_report(results));
  }
}

TEST(HtmlReport, ToleratesFiguresThatAreNotKnown) {
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
  expect_sound(html_report(results));
}

TEST(HtmlReport, WithoutRunsShowsTheKernelsAlone) {
  EvalResults results = synthetic_results();
  results.runs.clear();
  const std::string page = html_report(results);
  expect_sound(page);
  EXPECT_TRUE(contains(section(page, "Kernels alone"), ">BLK<"));
  EXPECT_EQ(section(page, "All results"), "");
}

TEST(HtmlReport, PublishedFiguresAreMarkedAndNeverStandForTheModels) {
  EvalResults results = synthetic_results();
  const std::string gains = section(html_report(results), "What Warped-Slicer gains");
  for (const char* figure : {"+23 %", "+14 %", "+17 %"})
    EXPECT_TRUE(contains(gains, std::string("<td class=\"published\">") + figure)) << figure;
  std::erase_if(results.runs, [](const EvalRun& run) { return run.policy == "warped_slicer"; });
  EXPECT_EQ(section(html_report(results), "What Warped-Slicer gains"), "") << "nothing of ours to compare";
}

TEST(HtmlReport, PublishedMeansOfPairsAreNotShownBesideTriples) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs) {
    run.kernels.emplace_back("THIRD");
    run.per_kernel.push_back(run.per_kernel.back());
  }
  const std::string gains = section(html_report(results), "What Warped-Slicer gains");
  EXPECT_FALSE(gains.empty());
  EXPECT_FALSE(contains(gains, "+23 %"));
  EXPECT_FALSE(contains(section(html_report(results), "Fairness and turnaround"), "published"));
  EXPECT_FALSE(contains(terminal_report(results), "ISCA 2016"));
}

TEST(HtmlReport, SaysWhenMinimumSpeedUpOnlyRepeatsNormalisedIpc) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs) run.min_speedup = run.normalized_ipc / 2;
  EXPECT_TRUE(contains(html_report(results), "no evidence of its own"));
  results.runs.back().min_speedup *= 1.01;
  EXPECT_FALSE(contains(html_report(results), "no evidence of its own"));
}

}  // namespace
}  // namespace sluice
