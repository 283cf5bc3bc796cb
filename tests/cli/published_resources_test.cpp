// SPDX-License-Identifier: Apache-2.0
// Recorded code with the resources of Warped-Slicer's table II, as a user runs it.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/sluice_program.h"

namespace sluice::test {
namespace {

const std::string kPublished = std::string(SLUICE_SOURCE_DIR) + "/configs/workloads/table2_published.toml";

/// Pair -> Even's CTAs, as table III prints them.
std::map<std::string, std::string> even_of_the_paper() {
  std::map<std::string, std::string> pairs;
  std::ifstream table(std::string(SLUICE_SOURCE_DIR) + "/results/warped_slicer/table3_paper.csv");
  for (std::string line; std::getline(table, line);)
    if (line.find('_') < line.find(',')) pairs[line.substr(0, line.find(','))] = line.substr(line.rfind(',') + 1);
  pairs.erase("");
  return pairs;
}

TEST_F(Sluice, EvenHasTheCtasOfTableThreeWithPublishedResources) {
  const std::map<std::string, std::string> paper = even_of_the_paper();
  ASSERT_EQ(paper.size(), 30U);
  const Outcome o = sluice(partition(fermi, kPublished, "--policy even --json"));
  ASSERT_EQ(o.exit, 0) << o.err;
  for (const auto& pair : nlohmann::json::parse(o.out)) {
    const std::string name = fmt::format("{}_{}", pair["kernels"][0].get<std::string>(), pair["kernels"][1].get<std::string>());
    EXPECT_EQ(fmt::format("{} {}", pair["ctas"][0].get<int>(), pair["ctas"][1].get<int>()), paper.at(name)) << name;
  }
}

TEST_F(Sluice, APairOfRecordedKernelsIsProfiledAndPartitioned) {
  const Outcome o = sluice("eval --machine " + fermi + " --workload " + kPublished +
                           " --pairs DXT_MVP --policies left_over,warped_slicer --window 60000 --partitioner twin --json --out " +
                           (folder_ / "out").string());
  ASSERT_EQ(o.exit, 0) << o.err;
  const auto runs = nlohmann::json::parse(o.out)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1]["partition"]["mode"], "intra_sm");
  EXPECT_GE(runs[1]["partition"]["ctas"][0], 6) << "DXT's curve rises to its last CTA, MVP's does not";
  EXPECT_GT(runs[1]["ipc"], runs[0]["ipc"]);
}

}  // namespace
}  // namespace sluice::test
