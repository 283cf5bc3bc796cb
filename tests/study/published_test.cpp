// SPDX-License-Identifier: Apache-2.0
#include "study/run_cache.h"

#include "tests/support.h"

namespace sluice {
namespace {

/// A folder that looks like a checkout.
class Published : public test::Scratch {
 protected:
  Published() {
    std::filesystem::create_directories(folder_ / ".git");
    std::filesystem::create_directories(folder_ / "out/results");
  }
};

TEST_F(Published, AProgramWithChangesWritesNothingUnderResults) {
  for (const char* folder : {"results", "results/figures", "results/new/deeper"})
    EXPECT_THROW(refuse_unpublishable(folder_ / folder, "0123456789ab+changes"), InputError) << folder;
  EXPECT_EQ(
      test::refusal([&] { refuse_unpublishable(folder_ / "results/x", "0123456789ab+changes"); }),
      folder_.string() +
          "/results/x: this program was built at 0123456789ab+changes: commit, build again, and then write published results");
}

TEST_F(Published, ACommitWritesThereAndChangesWriteElsewhere) {
  refuse_unpublishable(folder_ / "results/figures", "0123456789ab");
  refuse_unpublishable(folder_ / "out/results", "0123456789ab+changes");
  refuse_unpublishable(folder_ / "results_of_mine", "0123456789ab+changes");
}

}  // namespace
}  // namespace sluice
