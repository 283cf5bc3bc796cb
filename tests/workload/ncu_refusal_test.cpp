// SPDX-License-Identifier: Apache-2.0
// What `import ncu` says of a damaged profile, and that what it writes can be read.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sw/io/atomic_file.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;
const std::filesystem::path kWorkload = kRoot / "configs/workloads/table2.toml";
const std::filesystem::path kProfile = kRoot / "data/h200_torch_ops_ncu.csv";

class NcuRefusal : public test::Scratch {
 protected:
  const std::string scratch_ = folder_ / "a.csv";
  /// The message for a copy of the profile in which the first `from` became `to`.
  std::string message(const std::string& from, const std::string& to) {
    return test::refusal([&] { (void)import_ncu(write("a.csv", test::edited(read_file(kProfile), from, to))); });
  }
};

TEST_F(NcuRefusal, AProfileInScaledUnitsIsRefused) {
  const std::string got = message("\"byte\",\"byte\"", "\"Mbyte\",\"byte\"");
  EXPECT_EQ(got, scratch_ + ":2: dram__bytes_read.sum is in \"Mbyte\": must be \"byte\" (export with ncu --print-units base)");
}

TEST_F(NcuRefusal, AUnitWithALineBreakLeavesTheMessageOnOneLine) {
  const std::string got = message("\"byte\",\"byte\"", "\"by\nte\",\"byte\"");
  EXPECT_NE(got.find(":2: dram__bytes_read.sum is in \"by"), std::string::npos) << got;
  EXPECT_EQ(got.find('\n'), std::string::npos) << got;
}

TEST_F(NcuRefusal, AProfileWithAFigureThatCannotBeIsRefused) {
  EXPECT_EQ(message("\"132\",\"512\"", "\"132\",\"n/a\""),
            scratch_ + ":3: launch__grid_size = \"n/a\": must be a number, 0..1e+18");
  EXPECT_EQ(message("\"5,305,460\"", "\"0\""), scratch_ + ":3: sm__cycles_elapsed.max = \"0\": must be 1..1000000000000");
  EXPECT_TRUE(message("\"2,428,305,408\"", "\"9e17\"")
                  .starts_with(scratch_ + ":3: smsp__inst_executed.sum = \"9e17\": must be at least 1, and at most"));
}

TEST_F(NcuRefusal, WhatImportWritesCanBeRead) {
  const std::string text = read_file(kProfile);
  std::mt19937 random(11);
  unsigned imported = 0;
  for (int i = 0; i < 600; ++i) {
    std::string damaged = text;
    // Digits against digits and anything in names: damage that leaves the page whole.
    const std::size_t at = random() % damaged.size();
    if (damaged[at] == '"' || damaged[at] == ',' || damaged[at] == '\n') continue;
    damaged[at] = i % 2 == 0 ? static_cast<char>('0' + random() % 10) : static_cast<char>(random());
    Workload made;
    try {
      made = import_ncu(write("a.csv", damaged));
    } catch (const InputError&) {
      continue;
    }
    ++imported;
    const std::string written = format_workload(made, "");
    ASSERT_EQ(format_workload(read_workload(write("a.toml", written)), ""), written) << "seed 11, case " << i;
  }
  EXPECT_GT(imported, 150U);
}

TEST_F(NcuRefusal, AnyTextSurvivesTheRoundTripOfAName) {
  Workload made = read_workload(kWorkload);
  made.name = "a \"quoted\" \\ back\nslash\x7f \xc3\xa9";
  made.kernels[0].full_name = made.name;
  const Workload again = read_workload(write("a.toml", format_workload(made, "two\nlines")));
  EXPECT_EQ(again.name, made.name);
  EXPECT_EQ(again.kernels[0].full_name, made.name);
}

}  // namespace
}  // namespace sluice
