// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "sw/scheduler/schedule_run.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

class ScenarioFile : public test::Scratch {
 protected:
  Scenario read(const std::string& text) { return read_scenario(write("s.toml", text)); }
  /// The message without the folder.
  std::string refusal(const std::string& text) {
    const std::string what = test::refusal([&] {
      const Scenario s = read(text);
      (void)schedule_on_fake(s, abstract_target(s), "piv");
    });
    const std::string file = (folder_ / "s.toml").string();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_EQ(what.find(file), 0U) << what;
    return what.substr(std::min(what.size(), file.size()));
  }

  const std::string head_ = "name = 'S'\ntask_us = 10\n[[job]]\nname = 'A'\nalone_ms = 1.5\n";
};

TEST_F(ScenarioFile, TheShortestOneIsOneJob) {
  const Scenario s = read(head_);
  ASSERT_EQ(s.jobs.size(), 1U);
  const std::vector<ScenarioLaunch> all = launches(s, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].priority, 10) << "that of a thread at nice 0";
  const ScheduleRun r = schedule_on_fake(s, abstract_target(s), "arrival");
  EXPECT_EQ(r.makespan, Time(1500us));
  EXPECT_EQ(r.jobs[0].ntt(), 1.0);
}

TEST_F(ScenarioFile, PairsComeInBothOrdersAndTogether) {
  const Scenario s = read("name = 'S'\npair_gap_ms = 0.5\n[[job]]\nname = 'A'\n[[job]]\nname = 'B'\n[[job]]\nname = 'C'\n");
  std::vector<std::string> made;
  for (const Scenario& pair : runs_of(s)) {
    ASSERT_EQ(pair.jobs.size(), 2U);
    EXPECT_EQ(pair.jobs[0].arrival, Time(0));
    EXPECT_EQ(pair.jobs[1].arrival, pair.name.ends_with("_together") ? Time(0) : Time(500us));
    EXPECT_EQ(pair.name.substr(0, 3), pair.jobs[0].name + "_" + pair.jobs[1].name);
    made.push_back(pair.name);
  }
  EXPECT_EQ(made,
            (std::vector<std::string>{"A_B", "B_A", "A_B_together", "A_C", "C_A", "A_C_together", "B_C", "C_B", "B_C_together"}));
  EXPECT_EQ(runs_of(read(head_)).size(), 1U);
}

TEST_F(ScenarioFile, PairsArriveByTheirGapAlone) {
  const std::string pairs = "pair_gap_ms = 1\n" + head_;
  EXPECT_EQ(refusal(pairs), ":1: pair_gap_ms = 1: needs two jobs at least");
  EXPECT_EQ(refusal(pairs + "[[job]]\nname = 'B'\narrival_ms = 1\n"),
            ":8: job.name = 'B': with pair_gap_ms a job has no arrival_ms, no after and one launch");
  EXPECT_EQ(refusal("pair_gap_ms = -1\n" + head_), ":1: pair_gap_ms = -1: must be a number, 0..1000000");
}

TEST_F(ScenarioFile, RefusesInOneLineThatNamesFileAndField) {
  EXPECT_EQ(refusal(head_ + "alone = 3\n"),
            ":6: job.alone: unknown key; allowed: after, alone_ms, arrival_ms, in_mib, kernel, launches, name, nice, out_mib, "
            "per_second, priority, random_priority, root");
  EXPECT_EQ(refusal(head_ + "arrival_ms = -3\n"), ":6: job.arrival_ms = -3: must be a number, 0..1000000");
  EXPECT_EQ(refusal(head_ + "arrival_ms = nan\n"), ":6: job.arrival_ms = nan: must be a number, 0..1000000");
  EXPECT_EQ(refusal(head_ + "arrival_ms = inf\n"), ":6: job.arrival_ms = inf: must be a number, 0..1000000");
  EXPECT_EQ(refusal(head_ + "arrival_ms = '3'\n"), ":6: job.arrival_ms = '3': must be a number, 0..1000000");
  EXPECT_EQ(refusal(head_ + "priority = 31\n"), ":6: job.priority = 31: must be 0..30");
  EXPECT_EQ(refusal(head_ + "priority = -1\n"), ":6: job.priority = -1: must be 0..30");
  EXPECT_EQ(refusal(head_ + "nice = -21\n"), ":6: job.nice = -21: must be -20..19");
  EXPECT_EQ(refusal(head_ + "launches = 0\n"), ":6: job.launches = 0: must be 1..100000");
  EXPECT_EQ(refusal(head_ + "launches = 2\n"), ":1: wait_ms: is missing: a job has several launches");
  EXPECT_EQ(refusal("wait_ms = 3\n" + head_), ":1: wait_ms = 3: no job has several launches");
  EXPECT_EQ(refusal("wait_ms = [1, -1]\n" + head_ + "launches = 2\n"),
            ":1: wait_ms = [ 1, -1 ]: must be a number or a list of numbers, 0..1000000");
  EXPECT_EQ(refusal("wait_ms = []\n" + head_ + "launches = 2\n"), ":1: wait_ms = []: must not be empty");
  EXPECT_EQ(refusal(head_ + "random_priority = { lowest = 4, highest = 3 }\n"),
            ":6: job.random_priority.highest = 3: must not be below lowest");
  EXPECT_EQ(refusal(head_ + "priority = 3\nrandom_priority = { lowest = 1, highest = 3 }\n").substr(0, 26),
            ":7: job.random_priority = ");
  EXPECT_EQ(refusal(head_ + "[[job]]\nname = 'A'\n"), ":7: job.name = 'A': another job has this name");
  EXPECT_EQ(refusal(head_ + "after = 'B'\n"), ":6: job.after = 'B': no job has this name");
  EXPECT_EQ(refusal(head_ + "after = 'A'\n"), ":6: job.after = 'A': the jobs wait for each other in a cycle");
  EXPECT_EQ(refusal(head_ + "after = 'B'\n[[job]]\nname = 'B'\nalone_ms = 1\nafter = 'A'\n"),
            ":6: job.after = 'B': the jobs wait for each other in a cycle");
  EXPECT_EQ(refusal(head_ + "[costs]\nevict_us = -1\n"), ":7: costs.evict_us = -1: must be a number, 0..1000000");
  EXPECT_EQ(refusal(head_ + "[costs]\nevict_ms = 1\n").substr(0, 32), ":7: costs.evict_ms: unknown key;");
  EXPECT_EQ(refusal("name = 'S'\n"), ":1: job: is missing: must be an array of tables, each [[job]]");
  EXPECT_EQ(refusal("name = 'S'\ntask_us = 1\n[[job]]\nname = 'A'\n"), ": job A: alone_ms is missing");
  EXPECT_EQ(refusal("name = 'S'\n[[job]]\nname = 'A'\nalone_ms = 1\n"),
            ": task_us is missing: needed where no --workload is given");
  EXPECT_EQ(refusal("name = 'S'\ntask_us = 1e-6\n[[job]]\nname = 'A'\nalone_ms = 1e6\n"),
            ": job A: 1e+15 tasks of task_us: at most 2^32 - 1");
}

TEST_F(ScenarioFile, RefusesAMemoryThatIsNone) {
  EXPECT_EQ(refusal(head_ + "per_second = 0\n"), ":6: job.per_second = 0: must be a number, 0.001..1000000");
  EXPECT_EQ(refusal(head_ + "after = 'A'\nper_second = 2\n"),
            ":7: job.per_second = 2: launches that come by themselves follow no other job");
  EXPECT_EQ(refusal("wait_ms = 3\n" + head_ + "launches = 3\nper_second = 2\n"), ":1: wait_ms = 3: no job has several launches");
  EXPECT_EQ(refusal(head_ + "in_mib = -1\n"), ":6: job.in_mib = -1: must be a number, 0..1000000000");
  EXPECT_EQ(refusal(head_ + "[memory]\ndevice_mib = 0\ngb_per_second = 6\n"),
            ":7: memory.device_mib = 0: must be a number, 1..1000000000");
  EXPECT_EQ(refusal(head_ + "[memory]\ndevice_mib = 9\n"), ":6: memory.gb_per_second: is missing");
  EXPECT_EQ(refusal(head_ + "[costs]\ncopy_us = 1\n[memory]\ndevice_mib = 9\ngb_per_second = 6\n"),
            ":9: memory.device_mib = 9: costs.copy_us is given, too");
  EXPECT_EQ(refusal(head_ + "in_mib = 80\nout_mib = 21\n[memory]\ndevice_mib = 100\ngb_per_second = 6\n"),
            ": job A: 101.0 MiB of inputs and outputs: the device has 100.0 MiB");
}

TEST_F(ScenarioFile, LaunchesComeInAPoissonStream) {
  const std::string stream =
      "launches = 4000\nper_second = 2\n[[job]]\nname = 'B'\nalone_ms = 1\n" + std::string("launches = 2\n");
  const Scenario s = read(head_ + stream + "per_second = 5\n");
  std::vector<Time> a;
  for (const ScenarioLaunch& launch : launches(s, {})) {
    EXPECT_FALSE(launch.after);
    if (launch.job == 0) a.push_back(launch.arrival);
  }
  ASSERT_EQ(a.size(), 4000U);
  EXPECT_EQ(a[0], Time(0));
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < a.size(); ++i) {
    const double gap = std::chrono::duration<double>(a[i] - a[i - 1]).count();
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / 3999, deviation = std::sqrt(squares / 3999 - mean * mean);
  EXPECT_NEAR(mean, 0.5, 0.03) << "two a second";
  EXPECT_NEAR(deviation, mean, 0.04) << "gaps of a Poisson stream vary as much as they last";
  const std::vector<ScenarioLaunch> other = launches(read("seed = 2\n" + head_ + stream + "per_second = 5\n"), {});
  EXPECT_NE(other[2].arrival, launches(s, {})[2].arrival);
}

TEST_F(ScenarioFile, CopiesTakeTheirTimeOnTheBus) {
  const Scenario s = read(head_ + "in_mib = 3\nout_mib = 6\n[memory]\ndevice_mib = 9\ngb_per_second = 1.048576\n");
  const ScheduleRun r = schedule_on_fake(s, abstract_target(s), "arrival");
  EXPECT_EQ(r.makespan, Time(3ms + 1500us + 6ms));
  ASSERT_TRUE(r.copies);
  EXPECT_EQ(r.copies->total, Time(9ms));
  EXPECT_EQ(r.copies->overlapped, Time(0));
}

/// Section 5.1: "at least two kernels pending for execution at any time", until the last ones have come.
TEST(KerneletScenarios, TwoKernelsArePendingAtAnyTime) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const MachineConfig machine = read_machine(root / "configs/machines/c2050.toml");
  const Workload workload = read_workload(root / "configs/workloads/kernelet.toml");
  for (const char* name : {"ci", "mi", "mix", "all"}) {
    const Scenario s = read_scenario(root / (std::string("configs/scenarios/kernelet_") + name + ".toml"));
    const ScheduleRun r = schedule_on_fake(s, target_of(s, machine, workload), "base");
    std::vector<std::pair<Time, int>> changes;
    Time last{};
    for (const LaunchOutcome& launch : r.jobs) {
      changes.emplace_back(launch.arrival, 1);
      // Also where each launch took a third less.
      changes.emplace_back(launch.arrival + launch.turnaround * 2 / 3, -1);
      last = std::max(last, launch.arrival);
    }
    std::ranges::sort(changes, {}, [](const auto& c) { return std::pair(c.first, -c.second); });
    int pending = 0, least = 1000;
    for (std::size_t i = 0; i + 1 < changes.size() && changes[i].first < last; ++i) {
      pending += changes[i].second;
      if (changes[i + 1].first > changes[i].first) least = std::min(least, pending);
    }
    EXPECT_GE(least, 2) << name;
  }
}

TEST_F(ScenarioFile, RefusesWhatTakesLongerThanTheClockCounts) {
  EXPECT_EQ(refusal("wait_ms = 1e6\nname = 'S'\ntask_us = 1e6\n[[job]]\nname = 'A'\nalone_ms = 1e6\nlaunches = 100000\n"),
            ": takes more than 2e+09 ms in all");
}

TEST_F(ScenarioFile, AJobFollowsTheLastLaunchOfAnother) {
  const Scenario s = read(
      "name = 'S'\ntask_us = 10\nwait_ms = 2\n[[job]]\nname = 'B'\nalone_ms = 1\nafter = 'A'\narrival_ms = 5\n"
      "[[job]]\nname = 'A'\nalone_ms = 3\nlaunches = 2\n");
  const ScheduleRun r = schedule_on_fake(s, abstract_target(s), "arrival", s.waits.at(0));
  ASSERT_EQ(r.jobs.size(), 3U);
  EXPECT_EQ(r.jobs[1].arrival, Time(0));
  EXPECT_EQ(r.jobs[2].arrival, Time(5ms)) << "A again, 2 ms after its end";
  EXPECT_EQ(r.jobs[0].arrival, Time(13ms)) << "B, 5 ms after A's second end";
  EXPECT_EQ(r.makespan, Time(14ms));
}

TEST_F(ScenarioFile, DrawsThePrioritiesOfItsSeed) {
  const std::string job = "[[job]]\nname = 'A'\nlaunches = 200\nrandom_priority = { lowest = 3, highest = 6 }\n";
  const Scenario one = read("name = 'S'\nwait_ms = 1\n" + job), two = read("name = 'S'\nseed = 2\nwait_ms = 1\n" + job);
  const auto drawn = [](const Scenario& s) {
    std::vector<std::int32_t> all;
    for (const ScenarioLaunch& launch : launches(s, {})) all.push_back(launch.priority);
    return all;
  };
  EXPECT_EQ(drawn(one), drawn(one));
  EXPECT_NE(drawn(one), drawn(two));
  const std::vector<std::int32_t> all = drawn(one);
  EXPECT_EQ(std::set(all.begin(), all.end()), (std::set{3, 4, 5, 6}));
}

TEST_F(ScenarioFile, TheRootRuleHolds) {
  const Scenario s =
      read(head_ + "priority = 25\nroot = false\n[[job]]\nname = 'B'\npriority = 25\n[[job]]\nname = 'C'\nnice = -20\n");
  const std::vector<ScenarioLaunch> all = launches(s, {});
  EXPECT_EQ(all[0].priority, 10);
  EXPECT_EQ(all[1].priority, 25);
  EXPECT_EQ(all[2].priority, 20);
}

TEST_F(ScenarioFile, KernelsOfAWorkloadFillTheMachineInWaves) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const MachineConfig machine = read_machine(root / "configs/machines/fermi_table1.toml");
  const Workload workload = read_workload(root / "configs/workloads/table2.toml");
  const Scenario s = read("name = 'S'\n[[job]]\nname = 'A'\nkernel = 'DXT'\nalone_ms = 2\n[[job]]\nname = 'HOT'\nalone_ms = 3\n");
  const ScheduleRun r = schedule_on_fake(s, target_of(s, machine, workload), "arrival");
  EXPECT_NEAR(r.jobs[0].ntt(), 1, 1e-9);
  EXPECT_NEAR(static_cast<double>(r.makespan.count()), 5e9, 1e3);
  const std::string what = test::refusal([&] { (void)target_of(read("name = 'S'\n[[job]]\nname = 'A'\n"), machine, workload); });
  EXPECT_NE(what.find(": job A: kernel A: not in workload table2"), std::string::npos) << what;
}

TEST_F(ScenarioFile, CostsAreReadAndPaid) {
  const Scenario s = read(head_ + "[costs]\ncopy_us = 100\nlaunch_us = 20\n");
  EXPECT_EQ(schedule_on_fake(s, abstract_target(s), "piv").jobs[0].turnaround, Time(1620us));
}

/// The launches of a program come one after the other, and the two programs side by side.
TEST(LlmScenario, IsAPromptsLargestProductBesideAStepOfDecode) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  const Workload workload = read_workload(root / "configs/workloads/llm.toml");
  const Scenario s = read_scenario(root / "configs/scenarios/llm.toml");
  ASSERT_EQ(s.jobs.size(), 2U + 14);
  for (std::size_t j = 0; j < s.jobs.size(); ++j) {
    EXPECT_EQ(s.jobs[j].kernel, workload.kernels[j < 2 ? 6 + j : 11 + j].name);
    EXPECT_EQ(s.jobs[j].after, j == 0 || j == 2 ? std::nullopt : std::optional(j - 1)) << s.jobs[j].name;
  }
}

}  // namespace
}  // namespace sluice
