// SPDX-License-Identifier: Apache-2.0
#include "sw/io/packed_file.h"

#include <gtest/gtest.h>

#include "sw/io/atomic_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

class PackedFile : public test::Scratch {
 protected:
  const std::filesystem::path file_ = folder_ / "a.jsonl";
  const std::string packed_ = read_file(SLUICE_SOURCE_DIR "/results/h200/hopper/launch_warm.jsonl.xz");
};

TEST_F(PackedFile, ATextThatIsNotThereIsReadFromItsXz) {
  EXPECT_FALSE(has_packed(file_));
  EXPECT_THROW((void)read_packed(file_), InputError);
  write("a.jsonl.xz", packed_);
  EXPECT_TRUE(has_packed(file_));
  EXPECT_TRUE(read_packed(file_).starts_with("{\"")) << read_packed(file_);
  EXPECT_EQ(read_packed(file_), read_packed(folder_ / "a.jsonl.xz"));
}

TEST_F(PackedFile, WhatWasJustMeasuredComesFirst) {
  write("a.jsonl.xz", packed_);
  write("a.jsonl", "new\n");
  EXPECT_EQ(read_packed(file_), "new\n");
}

TEST_F(PackedFile, DamageIsNamed) {
  for (const std::string& damaged : {packed_.substr(0, packed_.size() / 2), "no" + packed_, std::string()}) {
    write("a.jsonl.xz", damaged);
    const std::string said = test::refusal([&] { (void)read_packed(file_); });
    EXPECT_NE(said.find("a.jsonl.xz: "), std::string::npos) << damaged.size() << " bytes: " << said;
  }
}

}  // namespace
}  // namespace sluice
