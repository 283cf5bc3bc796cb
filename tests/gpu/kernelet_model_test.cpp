// SPDX-License-Identifier: Apache-2.0
// Kernelet's model against the H200's measurements, and measurements that are none.
#include "sw/gpu/report/kernelet_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {
namespace {

const std::filesystem::path kMeasured = SLUICE_SOURCE_DIR "/results/h200";

const KerneletModel& model() {
  static const KerneletModel m = kernelet_model(kMeasured, kMeasured / "kernels_ncu.csv");
  return m;
}

const KerneletErrors& version(const std::string& name) {
  return *std::ranges::find(model().versions, name, &KerneletErrors::version);
}

TEST(KerneletModel, IsComparedWithEveryMeasurement) {
  ASSERT_EQ(model().versions.size(), 3U);
  for (const KerneletErrors& v : model().versions) {
    EXPECT_EQ(v.solo.points, 201U) << v.version;
    EXPECT_EQ(v.all.ipc.points, 2711U) << v.version;
    EXPECT_EQ(v.all.pairs, 45U) << v.version;
    EXPECT_EQ(v.check_half.pairs, 22U) << v.version;
    EXPECT_EQ(v.other_half.pairs, 23U) << v.version;
    EXPECT_EQ(v.check_half.ipc.points + v.other_half.ipc.points, 2711U) << v.version;
  }
}

TEST(KerneletModel, CalibratedMeetsItsTargets) {
  const KerneletErrors& v = version("calibrated");
  EXPECT_LE(v.solo.mean, 2);
  EXPECT_GE(v.solo.within_20, 99);
  for (const PairError* pairs : {&v.all, &v.check_half}) {
    EXPECT_LE(pairs->ipc.mean, 6);
    EXPECT_GE(pairs->ipc.within_20, 95);
    EXPECT_LE(pairs->profit, 0.08);
    EXPECT_GE(pairs->choice / pairs->best, 0.965);
    EXPECT_LE(pairs->choice, pairs->best);
  }
}

/// What the paper leaves out shows: each step of the calibration has to lower the errors.
TEST(KerneletModel, EachStepFromThePrintedModelHelps) {
  const KerneletErrors &printed = version("printed"), &unweighted = version("unweighted"), &calibrated = version("calibrated");
  EXPECT_NEAR(printed.solo.mean, 15.6, 0.1);
  EXPECT_NEAR(printed.all.ipc.mean, 18.2, 0.2);
  EXPECT_LT(unweighted.solo.mean, printed.solo.mean / 5);
  EXPECT_LT(unweighted.all.ipc.mean, printed.all.ipc.mean / 2);
  EXPECT_EQ(calibrated.solo.mean, unweighted.solo.mean);
  EXPECT_LT(calibrated.all.ipc.mean, unweighted.all.ipc.mean - 2);
  EXPECT_GT(calibrated.all.choice, unweighted.all.choice);
}

TEST(KerneletModel, ThreeStatesAndMergedWaitsAreClose) {
  EXPECT_EQ(model().three_states.points, 201U);
  EXPECT_GT(model().three_states_apart, 0);
  EXPECT_LT(model().three_states_apart, 0.2);
}

/// A copy of the measurements to spoil.
class Spoiled : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(testing::TempDir()) / ("kernelet_" + test);
    std::filesystem::create_directories(folder_);
    for (const char* file : {"machine.json", "curves.jsonl", "kernels_ncu.csv", "pairs.jsonl"}) restore(file);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void restore(const char* file) { write_file_atomically(folder_ / file, text(file)); }
  static std::string text(const char* file) {
    std::string all = read_packed(kMeasured / file);
    if (std::string(file) != "pairs.jsonl") return all;
    const std::size_t at =
        all.find("{\"kernels\":[\"BLK\",\"BFS\"],\"key\":\"BLK_BFS/search");  // one search, as the whole file is long
    return all.substr(at, all.find('\n', at) + 1 - at);
  }
  /// Expects one line that says all of `words`, with `from` in the file replaced.
  void refuses(const char* file, const std::string& from, const std::string& to, std::initializer_list<const char*> words) {
    std::string spoiled = text(file);
    const std::size_t at = spoiled.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_file_atomically(folder_ / file, spoiled.replace(at, from.size(), to));
    refuses(words);
    restore(file);
  }
  void refuses(std::initializer_list<const char*> words) {
    try {
      (void)kernelet_model(folder_, folder_ / "kernels_ncu.csv");
      ADD_FAILURE() << "taken as good: " << *words.begin();
    } catch (const InputError& e) {
      const std::string what = e.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      for (const char* word : words) EXPECT_NE(what.find(word), std::string::npos) << word << " is not in: " << what;
    }
  }

  std::filesystem::path folder_;
};

TEST_F(Spoiled, AFileThatIsNotThereIsNamed) {
  for (const char* file : {"machine.json", "curves.jsonl", "kernels_ncu.csv", "pairs.jsonl"}) {
    std::filesystem::remove(folder_ / file);
    refuses({file, "is missing"});
    restore(file);
  }
  EXPECT_EQ(kernelet_model(folder_, folder_ / "kernels_ncu.csv").versions[0].all.pairs, 1U);
}

TEST_F(Spoiled, AFileWithoutMeasurementsIsNamed) {
  write_file_atomically(folder_ / "curves.jsonl", "");
  refuses({"curves.jsonl", "holds no measurement"});
  restore("curves.jsonl");
  write_file_atomically(folder_ / "pairs.jsonl", "");
  refuses({"pairs.jsonl", "holds no search"});
}

TEST_F(Spoiled, WhatIsNoNumberIsRefused) {
  refuses("machine.json", "\"sms\": 132", "\"sms\": \"many\"", {"machine.json", "sms"});
  refuses("machine.json", "\"core_mhz\": 1980.0", "\"core_mhz\": 0", {"machine.json", "above 0"});
  refuses("curves.jsonl", "\"blocks_per_second\":[[", "\"blocks_per_second\":[[\"fast\",", {"another type"});
  refuses("curves.jsonl", "\"blocks_per_second\":[[2", "\"blocks_per_second\":[[-2", {"curves.jsonl", "BLK", "above 0"});
  refuses("curves.jsonl", "\"blocks_per_second\":[[", "\"blocks_per_second\":[[1.0],[", {"curves.jsonl", "equal length"});
  refuses("pairs.jsonl", "\"sweep\":[{\"blocks_per_second\":[", "\"sweep\":[{\"blocks_per_second\":[null,",
          {"BLK_BFS", "each of 2"});
  refuses("pairs.jsonl", "\"sweep\":[{\"blocks_per_second\":[", "\"sweep\":[{\"blocks_per_second\":[-1,",
          {"pairs.jsonl", "BLK_BFS"});
  refuses("kernels_ncu.csv", "\"688,914,432\"", "\"many\"", {"kernels_ncu.csv", "smsp__inst_executed.sum", "many"});
  refuses("kernels_ncu.csv", "\"688,914,432\"", "\"0\"", {"kernels_ncu.csv", "BLK", "above 0"});
}

TEST_F(Spoiled, AMissingCountIsNamed) {
  refuses("kernels_ncu.csv", "\"smsp__inst_executed.sum\"", "\"other\"",
          {"kernels_ncu.csv", "smsp__inst_executed.sum is missing"});
  refuses("kernels_ncu.csv", "matrix_vector(", "unknown(", {"kernels_ncu.csv", "no launch of MVP"});
  refuses("pairs.jsonl", "\"ctas\":[1,1]", "\"ctas\":[1]", {"pairs.jsonl", "BLK_BFS", "ctas", "each of 2"});
  refuses("pairs.jsonl", "\"ctas\":[1,1]", "\"other\":[1,1]", {"pairs.jsonl", "BLK_BFS", "ctas"});
  for (const char* field : {"native_blocks_per_second", "\"threads\""})
    refuses("curves.jsonl", field, field[0] == '"' ? "\"other\"" : "other", {"lacks a field"});
  refuses("pairs.jsonl", "solo_blocks_per_second", "other", {"lacks a field"});
  refuses("pairs.jsonl", "\"ctas\":[1,1]", "\"ctas\":[1,40]", {"pairs.jsonl", "40 CTAs of BFS"});
  refuses("pairs.jsonl", "\"BFS\"]", "\"ABC\"]", {"pairs.jsonl", "ABC is not in"});
}

}  // namespace
}  // namespace sluice::gpu
