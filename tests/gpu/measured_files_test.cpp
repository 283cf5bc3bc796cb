// SPDX-License-Identifier: Apache-2.0
// What is wrong with a file of measurements is said in a line that names it.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "sw/gpu/apps/apps.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"
#include "tests/support.h"

namespace sluice::gpu {
namespace {

namespace fs = std::filesystem;

const fs::path kMeasured = fs::path(SLUICE_SOURCE_DIR) / "results/h200";

struct Spoiled {
  const char *file, *from, *to;
  std::vector<const char*> words;
};

using MeasuredFiles = test::Scratch;

TEST_F(MeasuredFiles, WhatIsWrongIsNamed) {
  const std::function<void()> curves = [&] { (void)read_curves(folder_); }, pairs = [&] { (void)read_search(folder_, 132); },
                              page = [&] { (void)read_markov(folder_ / "kernels_ncu.csv"); };
  for (const Spoiled& s : std::vector<Spoiled>{
           {"curves.jsonl", "\"blocks_per_second\":[[", "\"blocks_per_second\":[[1.0],[", {"curves.jsonl", "equal length"}},
           {"pairs.jsonl",
            "\"sweep\":[{\"blocks_per_second\":[",
            "\"sweep\":[{\"blocks_per_second\":[null,",
            {"BLK_BFS", "each of 2"}},
           {"pairs.jsonl", "\"ctas\":[1,1]", "\"ctas\":[1]", {"pairs.jsonl", "BLK_BFS", "ctas", "each of 2"}},
           {"pairs.jsonl", "\"ctas\":[1,1]", "\"other\":[1,1]", {"pairs.jsonl", "BLK_BFS", "ctas"}},
           {"kernels_ncu.csv", "\"688,914,432\"", "\"many\"", {"kernels_ncu.csv", "smsp__inst_executed.sum", "many"}},
           {"kernels_ncu.csv", "\"688,914,432\"", "\"0\"", {"kernels_ncu.csv", "BLK", "above 0"}},
           {"kernels_ncu.csv", "\"smsp__inst_executed.sum\"", "\"other\"", {"smsp__inst_executed.sum is missing"}},
       }) {
    std::string text = read_packed(kMeasured / s.file);
    if (std::string(s.file) == "pairs.jsonl") {  // one search, as the whole file is long
      const std::size_t search = text.find("{\"kernels\":[\"BLK\",\"BFS\"],\"key\":\"BLK_BFS/search");
      text = text.substr(search, text.find('\n', search) + 1 - search);
    }
    write(s.file, test::edited(text, s.from, s.to));
    const std::string what = test::refusal(s.file[0] == 'c' ? curves : s.file[0] == 'p' ? pairs : page);
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    for (const char* word : s.words) EXPECT_NE(what.find(word), std::string::npos) << word << " is not in: " << what;
  }
}

// What the Nsight Compute page of the applications says about the memory system.

const fs::path kPage = kMeasured / "kernels_ncu.csv";

/// By hand from the page: BLK's 131,072 blocks move 2,668,272,128 bytes of a DRAM of 6,016 bits at 3.201 GHz, two transfers a
/// cycle.
TEST(NcuPage, CeilingsAreTrafficOverBandwidth) {
  const auto blocks = read_ceilings(kPage);
  EXPECT_EQ(blocks.size(), 16U);
  EXPECT_NEAR(blocks.at("BLK"), 6016 / 8.0 * 2 * 3.201e9 * 131072 / 2668272128.0, 1);
  for (const auto& [app, rate] : blocks) EXPECT_GT(rate, 0) << app;
}

/// HOT's blocks: 92,493,011 sectors through 96 slices of a line in three cycles at 1.98 GHz, and 1,800,969,728 bytes of DRAM,
/// which is what limits.
TEST(NcuPage, TheLesserOfCrossbarAndDramCounts) {
  const double crossbar = 96 / 3.0 * 1.98e9 * 112640 / (92493011 / 4.0), dram = 6016 / 8.0 * 2 * 3.201e9 * 112640 / 1800969728.0;
  EXPECT_LT(dram, crossbar);
  EXPECT_NEAR(read_ceilings(kPage).at("HOT"), dram, 1);
}

TEST(NcuPage, KnowsTheKernelsOfAllPapers) {
  EXPECT_EQ(app_of_kernel("sad(const unsigned char *, const unsigned char *, unsigned short *)"), "SAD");
  EXPECT_EQ(app_of_kernel("void matrix_multiply<64, 16>(const float *, const float *, float *, int)"), "MM");
  EXPECT_EQ(app_of_kernel("fingerprint"), "");
  const MarkovPage page = read_markov(kMeasured / "kernelet/ncu.csv");
  for (const PaperKernel& k : paper_kernels("kernelet")) EXPECT_TRUE(page.apps.contains(k.app)) << k.app;
}

TEST_F(MeasuredFiles, APageThatCannotBeReadIsRefused) {
  const auto refused = [&](const std::string& page) {
    return test::refusal([&] { (void)read_ceilings(write("page.csv", page)); });
  };
  const std::string text = read_file(kPage);
  EXPECT_NE(refused("nothing").find("no header row"), std::string::npos);
  EXPECT_NE(refused(test::edited(text, "dram__bytes_write.sum", "dram__other")).find("column dram__bytes_write.sum is missing"),
            std::string::npos);
  EXPECT_NE(refused(test::edited(text, "\"1,610,706,432\"", "\"many\""))
                .find("column dram__bytes_read.sum: \"many\": must be a number"),
            std::string::npos);
  EXPECT_NE(refused(text.substr(0, text.size() - 200)), "accepted");
}

}  // namespace
}  // namespace sluice::gpu
