// SPDX-License-Identifier: Apache-2.0
#include "sw/report/timelines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/report/chrome_trace.h"
#include "tests/support.h"
#include "well_formed.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

/// A trace of two SMs: A holds SM 0 for 1,000 cycles; on SM 1 two CTAs of B follow after 500.
class SmTimeline : public test::Scratch {
 protected:
  SmTimeline() {
    ChromeTrace trace(file_, 2);
    trace.cta(0, 0, "A", 0, 0, 1000);
    trace.cta(1, 0, "B", 0, 500, 1000);
    trace.cta(1, 1, "B", 1, 500, 1000);
    trace.close();
    run_.kernels = {"A", "B"};
    run_.policy = "warped_slicer";
    run_.cycles = 1000;
    DecisionRecord& decision = run_.decisions.emplace_back();
    decision.sampled_at = 500;
    decision.decided_at = 600;
    decision.partition = on_every_sm(std::array{CtaCount(1), CtaCount(2)});
  }

  const std::filesystem::path file_ = folder_ / "ctas.json";
  EvalRun run_;
};

TEST_F(SmTimeline, HasARowAnSmAndAsHighASpanAsItHoldsCtas) {
  const report::Timeline chart = sm_timeline(file_, run_);
  EXPECT_EQ(chart.rows, (std::vector<std::string>{"SM 0", "SM 1"}));
  ASSERT_EQ(chart.spans.size(), 2U);
  EXPECT_EQ(chart.spans[0].height, 0.5) << "one CTA, where two is the most";
  EXPECT_EQ(chart.spans[1].height, 1.0);
  EXPECT_NEAR(chart.spans[1].begin, 500, 3);
  EXPECT_EQ(chart.spans[1].end, 1000);
}

TEST_F(SmTimeline, MarksProfileDecisionAndQuotas) {
  const report::Timeline chart = sm_timeline(file_, run_);
  ASSERT_EQ(chart.phases.size(), 3U);
  EXPECT_EQ(chart.phases[0].first, "profile");
  EXPECT_EQ(chart.phases[1], (std::pair<std::string, double>{"decision", 500}));
  EXPECT_EQ(chart.phases[2], (std::pair<std::string, double>{"quotas (1,2)", 600}));
}

TEST_F(SmTimeline, WritesAPageAndAPictureBesideTheTrace) {
  write_timeline_page(file_, run_, {{"seed", 1}});
  test::expect_sound(read_file(folder_ / "ctas.html"));
  EXPECT_EQ(test::mismatched_tag(read_file(folder_ / "ctas.svg")), "");
}

TEST_F(SmTimeline, RefusesWhatIsNoTrace) {
  write_file_atomically(file_, "[{");
  EXPECT_THROW((void)sm_timeline(file_, run_), InputError);
}

using TaskTimelines = test::Scratch;

TEST_F(TaskTimelines, TasksTakeTheLowestSlotThatIsFreeAndAreCountedByLaunch) {
  const std::filesystem::path file = folder_ / "tasks.json";
  Scenario scenario;
  for (const char* name : {"A", "B"}) scenario.jobs.emplace_back().name = name;
  scenario.jobs[0].launches = 2;
  ScheduleTarget target;
  target.machine.num_sms = 2;
  TaskTimeline timeline(file, scenario, target, {});
  timeline.task_begins(JobId(0), SmId(1), 0us, 4us);
  timeline.task_begins(JobId(1), SmId(1), 1us, 2us);  // B
  timeline.task_begins(JobId(0), SmId(1), 2us, 3us);
  timeline.task_begins(JobId(2), SmId(1), 4us, 5us);  // A's second launch
  timeline.task_begins(JobId(0), SmId(0), 4us, 5us);
  timeline.close();
  std::vector<std::string> tasks;
  for (const nlohmann::json& event : nlohmann::json::parse(std::ifstream(file)))
    if (event["ph"] == "X")
      tasks.push_back(fmt::format("{} {} SM {} slot {} at {} for {}", event["name"].get<std::string>(),
                                  event["args"].begin()->dump(), event["pid"].dump(), event["tid"].dump(), event["ts"].dump(),
                                  event["dur"].dump()));
  EXPECT_EQ(tasks, (std::vector<std::string>{"A 0 SM 1 slot 0 at 0 for 4000", "B 0 SM 1 slot 1 at 1000 for 1000",
                                             "A 1 SM 1 slot 1 at 2000 for 1000", "A 0 SM 1 slot 0 at 4000 for 1000",
                                             "A 2 SM 0 slot 0 at 4000 for 1000"}));
}

}  // namespace
}  // namespace sluice
