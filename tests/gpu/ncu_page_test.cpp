// SPDX-License-Identifier: Apache-2.0
// What the Nsight Compute page of the applications says about the memory system.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sw/core/errors.h"
#include "sw/gpu/apps/apps.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {
namespace {

const std::filesystem::path kPage = SLUICE_SOURCE_DIR "/results/h200/kernels_ncu.csv";

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

std::string refused(const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "page.csv";
  write_file_atomically(file, text);
  try {
    (void)read_ceilings(file);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NcuPage, KnowsTheKernelsOfAllPapers) {
  EXPECT_EQ(app_of_kernel("sad(const unsigned char *, const unsigned char *, unsigned short *)"), "SAD");
  EXPECT_EQ(app_of_kernel("void matrix_multiply<64, 16>(const float *, const float *, float *, int)"), "MM");
  EXPECT_EQ(app_of_kernel("fingerprint"), "");
  const MarkovPage page = read_markov(std::filesystem::path(SLUICE_SOURCE_DIR) / "results/h200/kernelet/ncu.csv");
  for (const PaperKernel& k : paper_kernels("kernelet")) EXPECT_TRUE(page.apps.contains(k.app)) << k.app;
}

TEST(NcuPage, RefusesWhatItCannotRead) {
  const std::string text = read_file(kPage);
  EXPECT_NE(refused("nothing").find("no header row"), std::string::npos);
  EXPECT_NE(refused(replaced(text, "dram__bytes_write.sum", "dram__other")).find("column dram__bytes_write.sum is missing"),
            std::string::npos);
  EXPECT_NE(
      refused(replaced(text, "\"1,610,706,432\"", "\"many\"")).find("column dram__bytes_read.sum: \"many\": must be a number"),
      std::string::npos);
  EXPECT_NE(refused(text.substr(0, text.size() - 200)), "");
}

}  // namespace
}  // namespace sluice::gpu
