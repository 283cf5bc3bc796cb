// SPDX-License-Identifier: Apache-2.0
#include "study/kernelet_prediction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/apps/apps.h"
#include "sw/gpu/report/output.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_table.h"

namespace sluice::gpu {
namespace {

using nlohmann::json;

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

/// What a CTA takes decides which ratios fit an SM: those that the GPU was measured at.
TEST(KerneletPrediction, KernelsTakeWhatTheyTookOnTheGpu) {
  const std::filesystem::path results = kRoot / "results/h200";
  const auto known = measured_kernels(results);
  const SmResources sm{2048, 65536, 233472, 32};
  std::size_t pairs = 0;
  for (const auto& [file, paper] :
       {std::pair("five/five_rates.jsonl", "table2"), std::pair("kernelet/kernelet_pairs.jsonl", "kernelet")})
    for (const json& line : lines(results / file)) {
      if (!line.contains("runs")) continue;
      const auto demand = [&](const std::string& name) {
        return known.at(std::ranges::find(paper_kernels(paper), name, &PaperKernel::name)->app).demand();
      };
      std::vector<std::array<std::uint32_t, 2>> fit, measured;
      for (const auto& ctas : slice_ratios(demand(line["first"]), demand(line["second"]), sm))
        fit.push_back({ctas[0].value(), ctas[1].value()});
      for (const json& run : line["runs"]) measured.push_back(run["ctas"]);
      EXPECT_EQ(fit, measured) << line["key"];
      ++pairs;
    }
  EXPECT_EQ(pairs, 45U + 28U);
}

/// A shell completes a folder's name with a slash. The figure reads files beside the folder.
TEST(KerneletPrediction, AFolderMayEndInASlash) {
  const std::filesystem::path folder = kRoot / "results/h200/kernelet";
  const json machine = json::parse(read_file(folder / "machine.json"));
  const figures::Figure figure = kernelet_prediction(folder / "", machine);
  EXPECT_FALSE(figure.blocks.empty());
  EXPECT_EQ(figure.data, kernelet_prediction(folder, machine).data);
}

TEST(KerneletPrediction, IsEmptyWithoutMeasurements) {
  EXPECT_TRUE(kernelet_prediction(testing::TempDir(), {{"sm", json::object()}}).blocks.empty());
  EXPECT_TRUE(kernelet_prediction(kRoot / "results/h200/kernelet", json::object()).blocks.empty());
}

}  // namespace
}  // namespace sluice::gpu
