// SPDX-License-Identifier: Apache-2.0
#include "sw/report/task_timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(TaskTimeline, TasksTakeTheLowestSlotThatIsFreeAndAreCountedByLaunch) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / fmt::format("sluice_timeline_{}.json", getpid());
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
  std::filesystem::remove(file);
  EXPECT_EQ(tasks, (std::vector<std::string>{"A 0 SM 1 slot 0 at 0 for 4000", "B 0 SM 1 slot 1 at 1000 for 1000",
                                             "A 1 SM 1 slot 1 at 2000 for 1000", "A 0 SM 1 slot 0 at 4000 for 1000",
                                             "A 2 SM 0 slot 0 at 4000 for 1000"}));
}

}  // namespace
}  // namespace sluice
