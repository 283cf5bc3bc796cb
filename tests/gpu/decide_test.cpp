// SPDX-License-Identifier: Apache-2.0
// What reports compare decisions by, on what was measured on an H200, and the watchdog of programs under quotas.
#include "sw/gpu/report/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sw/gpu/jobs/watchdog.h"
#include "sw/io/packed_file.h"
#include "sw/partition/warped_slicer.h"
#include "tests/support.h"

namespace sluice::gpu {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
const std::filesystem::path kMeasured = std::filesystem::path(SLUICE_SOURCE_DIR) / "results/h200";

SmResources resources(const json& j) { return {j["threads"], j["registers"], j["shared_memory_bytes"], j["cta_slots"]}; }

struct Silicon {
  SmResources capacity;
  std::map<std::string, KernelDescriptor> kernels;
  std::map<std::string, CtaCount> most;
};

Silicon read_silicon() {
  Silicon silicon;
  std::istringstream in(read_packed(kMeasured / "curves.jsonl"));
  for (std::string line; std::getline(in, line);) {
    const json j = json::parse(line);
    silicon.capacity = resources(j["capacity"]);
    silicon.kernels[j["app"]] = kernel_of(j["app"], resources(j["demand"]));
    silicon.most[j["app"]] = CtaCount(static_cast<std::uint32_t>(j["blocks_per_second"][0].size()));
  }
  return silicon;
}

/// The published pairs and triples, each with the curves that its decision was made on.
TEST(Decisions, DecidesAsThePublishedPairsAndTriplesDid) {
  const Silicon silicon = read_silicon();
  std::map<std::string, unsigned> checked;
  for (const char* file : {"pairs.jsonl", "triples.jsonl"}) {
    std::istringstream in(read_packed(kMeasured / file));
    json refined;
    for (std::string line; std::getline(in, line);) {
      const json j = json::parse(line);
      const std::string policy = j.value("policy", "");
      if (j.contains("refined")) refined = j["refined"];
      if (!j.contains("ctas") || (policy != "even" && policy != "warped_slicer")) continue;
      SiliconMix mix;
      mix.machine.num_sms = 132;
      mix.machine.sm.capacity = silicon.capacity;
      for (const std::string name : j["kernels"]) {
        mix.kernels.push_back(silicon.kernels.at(name));
        mix.most.push_back(silicon.most.at(name));
      }
      const Partition decided =
          decide(policy, mix, policy == "even" ? std::vector<Profile>() : refined.get<std::vector<Profile>>());
      EXPECT_EQ(json(counts(decided)), j["ctas"]) << j["key"];
      EXPECT_EQ(layout_name(decided.mode), j["mode"].get<std::string>()) << j["key"];
      ++checked[policy];
    }
  }
  EXPECT_GT(checked["even"], 200U);
  EXPECT_GT(checked["warped_slicer"], 200U);
}

SiliconMix two() {
  SiliconMix mix;
  mix.machine.num_sms = 132;
  mix.machine.sm.capacity = {2048, 65536, 233472, 32};
  // 4 warps of 1,024 registers; 6 of 1,280.
  mix.kernels = {kernel_of("A", {128, 4096, 1152, 1}), kernel_of("B", {192, 7680, 1152, 1})};
  return mix;
}

TEST(Decisions, DecidesAgainForWhatTheSubCoresHold) {
  const SiliconMix mix = two();
  Profile a, b;
  for (unsigned n = 1; n <= 16; ++n) a.push_back(std::min(n, 10U));
  for (unsigned n = 1; n <= 8; ++n) b.push_back(std::min(n, 3U));
  const std::vector<SmResources> demand = {mix.kernels[0].demand(), mix.kernels[1].demand()};
  const auto placeable = [&](const Partition& partition) {
    std::vector<CtaCount> ctas;
    for (const Share& s : partition.shares) ctas.push_back(s.ctas);
    return fits_sub_cores(demand, ctas, mix.machine.sm.capacity);
  };
  EXPECT_FALSE(placeable(warped_slicer_partition(std::vector{a, b}, demand, mix.machine))) << "the case is of no use";
  EXPECT_TRUE(placeable(decide("warped_slicer", mix, {a, b})));
}

/// A job under the watchdog, and its clock.
struct Job {
  Watchdog dog{milliseconds(100), 8};
  Watchdog::Time now{};
  QuotaTable quota{1, 1, 0};
  std::uint64_t done = 0;

  /// Time passes, and the host looks. @return it raised the quotas
  bool after(milliseconds passed, std::uint64_t resident) {
    now += passed;
    const auto raised = dog.look(now, done, resident, quota);
    if (raised) quota = *raised;
    return raised.has_value();
  }
};

TEST(Watchdog, RaisesStepByStepToAllThatFitsAndThenOpensOtherSms) {
  Job job;
  std::vector<QuotaTable> steps;
  for (int look = 0; look < 200; ++look)
    if (job.after(milliseconds(10), job.quota[0] + job.quota[1] + job.quota[2])) steps.push_back(job.quota);
  EXPECT_EQ(steps, (std::vector<QuotaTable>{{2, 2, 0}, {4, 4, 0}, {8, 8, 0}, {8, 8, 1}, {8, 8, 2}, {8, 8, 4}, {8, 8, 8}}));
  EXPECT_EQ(job.dog.raises(), 7U);
}

TEST(Watchdog, WaitsForTheWholeBoundBetweenSteps) {
  Job job;
  EXPECT_FALSE(job.after(milliseconds(0), 2));
  EXPECT_FALSE(job.after(milliseconds(99), 2));
  EXPECT_TRUE(job.after(milliseconds(1), 2));
  EXPECT_FALSE(job.after(milliseconds(99), 4));
  EXPECT_FALSE(job.after(milliseconds(99), 4));
  EXPECT_TRUE(job.after(milliseconds(1), 4));
}

TEST(Watchdog, LeavesAJobAloneThatEndsBlocks) {
  Job job;
  for (int look = 0; look < 100; ++look) {
    ++job.done;
    EXPECT_FALSE(job.after(milliseconds(99), 2));
  }
  EXPECT_EQ(job.dog.raises(), 0U);
}

TEST(Watchdog, LeavesAJobAloneThatIsNotAllThereOrEvicted) {
  Job job;
  for (int look = 0; look < 10; ++look) EXPECT_FALSE(job.after(milliseconds(99), 1));
  job.quota = {0, 0, 0};
  for (int look = 0; look < 10; ++look) EXPECT_FALSE(job.after(milliseconds(99), 0));
}

}  // namespace
}  // namespace sluice::gpu
