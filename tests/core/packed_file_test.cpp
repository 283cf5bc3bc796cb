// SPDX-License-Identifier: Apache-2.0
#include "sw/io/packed_file.h"

#include <gtest/gtest.h>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"

namespace sluice {
namespace {

class PackedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    make_folder(folder_);
    packed_ = read_file(SLUICE_SOURCE_DIR "/results/h200/hopper/launch_warm.jsonl.xz");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "sluice_packed_file", file_ = folder_ / "a.jsonl";
  std::string packed_;
};

TEST_F(PackedFile, ATextThatIsNotThereIsReadFromItsXz) {
  EXPECT_FALSE(has_packed(file_));
  EXPECT_THROW((void)read_packed(file_), InputError);
  write_file_atomically(folder_ / "a.jsonl.xz", packed_);
  EXPECT_TRUE(has_packed(file_));
  EXPECT_TRUE(read_packed(file_).starts_with("{\"")) << read_packed(file_);
  EXPECT_EQ(read_packed(file_), read_packed(folder_ / "a.jsonl.xz"));
}

TEST_F(PackedFile, WhatWasJustMeasuredComesFirst) {
  write_file_atomically(folder_ / "a.jsonl.xz", packed_);
  write_file_atomically(file_, "new\n");
  EXPECT_EQ(read_packed(file_), "new\n");
}

TEST_F(PackedFile, DamageIsNamed) {
  for (const std::string& damaged : {packed_.substr(0, packed_.size() / 2), "no" + packed_, std::string()}) {
    write_file_atomically(folder_ / "a.jsonl.xz", damaged);
    try {
      (void)read_packed(file_);
      ADD_FAILURE() << damaged.size() << " bytes were taken as good";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("a.jsonl.xz: "), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace sluice
