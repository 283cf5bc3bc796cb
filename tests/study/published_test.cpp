// SPDX-License-Identifier: Apache-2.0
#include "study/published.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "sw/core/errors.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like a checkout, gone at the end.
struct Checkout {
  fs::path path = fs::temp_directory_path() / ("sluice_published_" + std::to_string(::getpid()));
  Checkout() {
    fs::create_directories(path / ".git");
    fs::create_directories(path / "out/results");
  }
  ~Checkout() { fs::remove_all(path); }
};

TEST(Published, AProgramWithChangesWritesNothingUnderResults) {
  const Checkout tree;
  for (const char* folder : {"results", "results/figures", "results/new/deeper"})
    EXPECT_THROW(refuse_unpublishable(tree.path / folder, "0123456789ab+changes"), InputError) << folder;
  try {
    refuse_unpublishable("results/x", "0123456789ab+changes");
  } catch (const InputError& e) {
    EXPECT_STREQ(
        e.what(),
        "results/x: this program was built at 0123456789ab+changes: commit, build again, and then write published results");
  }
}

TEST(Published, ACommitWritesThereAndChangesWriteElsewhere) {
  const Checkout tree;
  refuse_unpublishable(tree.path / "results/figures", "0123456789ab");
  refuse_unpublishable(tree.path / "out/results", "0123456789ab+changes");
  refuse_unpublishable(tree.path / "results_of_mine", "0123456789ab+changes");
}

}  // namespace
}  // namespace sluice
