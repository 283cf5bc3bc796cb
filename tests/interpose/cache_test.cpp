// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "sw/interpose/fixed_shares.h"

namespace sluice::interpose {
namespace {

namespace fs = std::filesystem;

class CacheTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::uintmax_t bytes() const {
    std::uintmax_t all = 0;
    for (const auto& e : fs::directory_iterator(folder_)) all += e.file_size();
    return all;
  }
  fs::path folder_ = fs::temp_directory_path() / ("sluice_cache_" + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(CacheTest, GivesBackWhatWasStoredAndNothingElse) {
  const Cache cache(folder_);
  const std::string content("a\0b", 3);
  cache.store("one", content);
  EXPECT_EQ(cache.load("one"), content);
  EXPECT_EQ(cache.load("two"), std::nullopt);
  cache.store("one", "other");
  EXPECT_EQ(cache.load("one"), "other");
  fs::create_directory(folder_ / "folder");
  EXPECT_EQ(cache.load("folder"), std::nullopt);
}

TEST_F(CacheTest, AnyDamageCountsAsMissingAndTheFileGoes) {
  const Cache cache(folder_);
  const std::string content = "what was assembled";
  cache.store("one", content);
  std::ifstream in(folder_ / "one", std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  for (std::size_t at = 0; at <= good.size(); ++at) {
    std::string bad = good.substr(0, at);  // cut off
    if (at < good.size() && at % 2 == 0) {
      bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1);
    }
    std::ofstream(folder_ / "one", std::ios::binary) << bad;
    if (bad == good) continue;
    EXPECT_EQ(cache.load("one"), std::nullopt) << at;
    EXPECT_FALSE(fs::exists(folder_ / "one")) << at;
  }
}

TEST_F(CacheTest, StaysWithinItsBoundAndTheLongestUnusedGoFirst) {
  const Cache cache(folder_, 1000);
  const std::string content(200, 'x');
  const auto ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 4; ++i) {
    cache.store(std::to_string(i), content);
    fs::last_write_time(folder_ / std::to_string(i), ago + std::chrono::minutes(i));
  }
  EXPECT_TRUE(cache.load("0"));  // now 1 is the longest unused
  cache.store("4", content);
  EXPECT_LE(bytes(), 1000U);
  EXPECT_TRUE(fs::exists(folder_ / "0"));
  EXPECT_FALSE(fs::exists(folder_ / "1"));
  EXPECT_TRUE(fs::exists(folder_ / "4"));
}

TEST_F(CacheTest, WritersAtTheSameTimeLeaveOneWholeFile) {
  const Cache cache(folder_);
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c)
    writers.emplace_back([&, c] {
      for (int i = 0; i < 50; ++i) {
        cache.store("one", std::string(5000, c));
        if (const auto found = cache.load("one")) {
          EXPECT_EQ(*found, std::string(5000, found->front()));
        }
      }
    });
  for (std::thread& w : writers) w.join();
  ASSERT_TRUE(cache.load("one"));
}

TEST(Digest, DiffersWhereTheTextDoes) {
  EXPECT_EQ(digest("abc"), digest("abc"));
  EXPECT_NE(digest("abc"), digest("abd"));
  EXPECT_NE(digest(std::string("abc")), digest(std::string("abc\0", 4)));
  EXPECT_NE(digest(std::string(16, 'a') + std::string(16, 'b')), digest(std::string(16, 'b') + std::string(16, 'a')));
  EXPECT_EQ(digest("abc").size(), 32U);
}

TEST(ShareOfText, TakesCountsRangesAndAllAndNothingElse) {
  EXPECT_EQ(share_of("3\n"), (Share{CtaCount(3), kEverySm}));
  EXPECT_EQ(share_of("0"), (Share{CtaCount(0), kEverySm}));
  EXPECT_EQ(share_of("4 8-71 \n"), (Share{CtaCount(4), {SmId(8), 64}}));
  EXPECT_EQ(share_of("all\n"), kWholeMachine);
  for (const char* bad : {"", "x", "3x", "-1", "33", "3 4", "3 5-4", "3 0-256", "3 1-2 4"})
    EXPECT_EQ(share_of(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace sluice::interpose
