// SPDX-License-Identifier: Apache-2.0
// `sluice run` in front of a driver for tests.
#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

class Run : public Sluice {
 protected:
  Outcome client(const std::string& before = "", const std::string& options = "--quota 2") {
    return shell(before + " SLUICE_REPORT='" + (folder_ / "report").string() + "' FAKE_CUDA_BOOKS='" +
                 (folder_ / "books").string() + "' SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " SLUICE_BINARY " run " + options +
                 " -- " SLUICE_FAKE_CLIENT);
  }
  std::string text(const char* name) {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(Run, TransformsLargeGridsAndRunsEveryBlockOnce) {
  const Outcome o = client();
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  const std::string books = text("books");
  EXPECT_NE(books.find("launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 1000 wrong 0\n"), std::string::npos) << books;
  EXPECT_NE(books.find("launch k__sluice 4x8 arg 17 arg 19 quota 2 wanted 8 blocks 385 wrong 0\n"), std::string::npos)
      << "arguments by buffer; the queue rewound\n"
      << books;
  EXPECT_NE(books.find("launch k 13x1 arg 7 arg 9\n"), std::string::npos) << books;
  EXPECT_NE(books.find("launch k 1000x1 arg 7 arg 9\n"), std::string::npos) << "captured\n" << books;
  EXPECT_NE(books.find("blocks 128 wrong 0\n"), std::string::npos) << "of a library\n" << books;
  EXPECT_NE(o.err.find("3 launches under quota, 2 native"), std::string::npos) << o.err;
  EXPECT_NE(text("report").find("\"launches\": 3"), std::string::npos) << text("report");
}

TEST_F(Run, WithoutMemoryForTheJobRunsNatively) {
  const Outcome o = client("FAKE_CUDA_NO_MEMORY=1");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_NE(o.err.find("no memory for the job's state"), std::string::npos) << o.err;
}

TEST_F(Run, PassesTheExitCodeAndTellsBadInput) {
  EXPECT_EQ(shell(SLUICE_BINARY " run --quota 2 -- sh -c 'exit 37'").exit, 37);
  EXPECT_EQ(shell(SLUICE_BINARY " run -- true").exit, 2);
  EXPECT_EQ(shell(SLUICE_BINARY " run --sms 5-3 -- true").exit, 2);
}

TEST_F(Run, NoSymbolOfTheStubIsMissing) {
  EXPECT_EQ(shell("nm -D --defined-only " SLUICE_STUB " | awk '$2 == \"T\" && $3 ~ /^cu/ {print $3}' | sort > " +
                  (folder_ / "a").string() + " && nm -D --defined-only " SLUICE_INTERPOSE " | awk '{print $3}' | sort > " +
                  (folder_ / "b").string() + " && cmp " + (folder_ / "a").string() + " " + (folder_ / "b").string())
                .exit,
            0);
}

}  // namespace
}  // namespace sluice::test
#endif
