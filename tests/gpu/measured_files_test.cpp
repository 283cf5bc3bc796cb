// SPDX-License-Identifier: Apache-2.0
// What is wrong with a file of measurements is said in a line that names it.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "sw/core/errors.h"
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
    const std::size_t at = text.find(s.from);
    ASSERT_NE(at, std::string::npos) << s.from;
    write_file_atomically(folder_ / s.file, text.replace(at, std::string(s.from).size(), s.to));
    try {
      (s.file[0] == 'c' ? curves : s.file[0] == 'p' ? pairs : page)();
      ADD_FAILURE() << "taken as good: " << s.file << " with " << s.to;
    } catch (const InputError& e) {
      const std::string what = e.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      for (const char* word : s.words) EXPECT_NE(what.find(word), std::string::npos) << word << " is not in: " << what;
    }
  }
}

}  // namespace
}  // namespace sluice::gpu
