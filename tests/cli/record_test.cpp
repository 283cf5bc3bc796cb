// SPDX-License-Identifier: Apache-2.0
// What `sluice gpu record` refuses before it looks for a GPU: one line, exit code 2.
#include "tests/cli/sluice_program.h"

namespace sluice::test {
namespace {

class Record : public Sluice {
 protected:
  std::string out() { return " --out " + (folder_ / "out").string(); }
  const std::string ptx = "tests/gpu/data/sum.ptx";
};

TEST_F(Record, RefusesBadOptionsInOneLine) {
  refuses("gpu record" + out(), "--kernel, --app or a program behind -- must be given");
  refuses("gpu record --app MM --ctas 0" + out(), "--ctas 0: must be a whole number from 1, or all");
  refuses("gpu record --app MM --ctas some" + out(), "--ctas some: must be");
  refuses("gpu record --app MM --limit 0" + out(), "--limit 0: must be a number of bytes from 1, or of K, M or G");
  refuses("gpu record --app MM --limit 3Q" + out(), "--limit 3Q: must be");
  refuses("gpu record --app XX" + out(), "XX");
  refuses("gpu record --app MM", "--out is required");
}

TEST_F(Record, NamesTheKernelsOfAFileThatHasNotTheOneAskedFor) {
  refuses("gpu record --kernel " + ptx + ":max" + out(), ptx + ": no kernel max: must be one of sum");
  refuses("gpu record --kernel nowhere.cu:sum" + out(), "nowhere.cu: no such file");
}

TEST_F(Record, RefusesAFolderThatCannotBeWritten) {
  std::ofstream(folder_ / "file") << "x";
  refuses("gpu record --app MM --out " + (folder_ / "file/out").string(), "file/out: cannot create the folder");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

/// Without CUDA the build says so; with CUDA and without a GPU, the driver is missing.
TEST_F(Record, SaysThatItNeedsAGpu) {
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  const Outcome o = sluice("gpu record --kernel " + ptx + ":sum" + out());
  EXPECT_NE(o.exit, 0);
  EXPECT_EQ(std::ranges::count(o.err, '\n'), 1) << o.err;
  EXPECT_TRUE(o.err.find("no CUDA back end") != std::string::npos || o.err.find("no NVIDIA driver") != std::string::npos)
      << o.err;
}

}  // namespace
}  // namespace sluice::test
