// SPDX-License-Identifier: Apache-2.0
// Compilers of CUDA text, and the assembler: nvcc and ptxas by a script in their place, NVRTC where it is installed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sw/gpu/source/nvcc.h"
#include "sw/gpu/source/ptxas.h"
#include "sw/gpu/source/stand_ins.h"
#include "tests/support.h"
#ifdef SLUICE_CUDA
#include "sw/gpu/cuda/compiler.h"
#endif

namespace sluice::gpu {
namespace {

namespace fs = std::filesystem;
using test::refusal;

/// A program that writes its words to its output, or fails with what it is told to say.
std::string script(const std::string& name, const std::string& body) {
  const fs::path path = fs::path(testing::TempDir()) / name;
  std::ofstream(path) << "#!/bin/sh\n" << body;
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

TEST(Nvcc, GetsArchitectureFoldersAndNames) {
  const std::string nvcc =
      script("words", "while [ \"$1\" != -o ]; do w=\"$w $1\"; shift; done\nout=$2; shift 2; echo \"$w $*\" >$out\n");
  EXPECT_EQ(ptx_by_nvcc(nvcc, "a.cu", 90, {{"x y", "z"}, {"N=3", "M"}}),
            " -ptx -x cu -arch=compute_90 -Ix y -Iz -DN=3 -DM a.cu\n");
}

TEST(Nvcc, FailureIsOneLineWithTheFirstError) {
  const std::string nvcc =
      script("fails", "echo warning; echo 'a.cu(3): error: no'; echo 'a.cu(4): error: neither' >&2; exit 2\n");
  EXPECT_EQ(refusal([&] { (void)ptx_by_nvcc(nvcc, "a.cu", 90, {}); }),
            "a.cu does not compile with " + nvcc + ": a.cu(3): error: no");
  EXPECT_EQ(refusal([] { (void)ptx_by_nvcc("/nowhere/nvcc", "a.cu", 90, {}); }),
            "--nvcc /nowhere/nvcc: there is no such program");
}

/// In front of PATH, while it lives.
class FirstInPath {
 public:
  explicit FirstInPath(const fs::path& folder) : before_(std::getenv("PATH")) {
    ::setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
  }
  ~FirstInPath() { ::setenv("PATH", before_.c_str(), 1); }
  FirstInPath(const FirstInPath&) = delete;
  FirstInPath& operator=(const FirstInPath&) = delete;

 private:
  std::string before_;
};

TEST(Ptxas, GetsTextAndArchitectureAndItsFailureIsNoCode) {
  const FirstInPath path(testing::TempDir());
  const auto says = [](const std::vector<char>& code) { return std::string(code.begin(), code.end()); };
  (void)script("ptxas", "[ \"$3\" = -o ] && (echo \"$1\"; cat \"$2\") >\"$4\"\n");
  EXPECT_EQ(says(cubin_by_ptxas("some text\n", 90)), "-arch=sm_90\nsome text\n");
  (void)script("ptxas", "echo code >\"$4\"; echo too new; exit 1\n");
  EXPECT_EQ(says(cubin_by_ptxas("some text\n", 90)), "");
  fs::remove(fs::path(testing::TempDir()) / "ptxas");
}

#ifdef SLUICE_CUDA
const Compiler& compiler() {
  static const Compiler c(90, {});
  return c;
}

TEST(Nvrtc, EveryStandInIsTakenTwiceAndTogether) {
  std::string text;
  for (int i = 0; i < 2; ++i)
    for (const StandIn& s : stand_ins()) text += std::string("#include <") + s.name + ">\n";
  text += R"(extern "C" __global__ void k(float* x, uint64_t n, size_t m) {
    assert(n < INT_MAX && m < ULLONG_MAX && x != NULL);
    if (n == 1) printf("%f\n", M_PI * FLT_MAX);
    x[n] = sqrtf(x[m]);
  })";
  EXPECT_NE(compiler().compile(text, "all.cu", "k").ptx.find("__assertfail"), std::string::npos);
}

TEST(Nvrtc, GetsFoldersAndNames) {
  const fs::path folder = fs::path(testing::TempDir()) / "nvrtc includes";
  fs::create_directories(folder);
  std::ofstream(folder / "mine.h") << "#define FROM_HEADER 2\n";
  const std::string text = "#include \"mine.h\"\nextern \"C\" __global__ void k(int* x) { *x = FROM_HEADER * 1000 + N; }\n";
  EXPECT_NE(compiler().compile(text, "a.cu", "k", {{folder.string()}, {"N=345"}}).ptx.find("2345"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)compiler().compile(text, "a.cu", "k"); }).find("mine.h"), std::string::npos);
}

TEST(Nvrtc, FindsKernelsByOtherNamesAndSaysWhichThereAre) {
  const std::string text =
      "namespace n { __global__ void run(int* x) { *x = 1; } }\n__global__ void run2(int* x) { *x = 2; }\n"
      "template <class T> __global__ void tile(T* x) { *x = 3; }\n";
  const auto symbol = [&](const char* name) { return compiler().compile(text, "a.cu", name).symbol; };
  EXPECT_EQ(symbol("n::run"), "_ZN1n3runEPi");
  EXPECT_EQ(symbol("run"), "_ZN1n3runEPi");
  EXPECT_EQ(symbol("_Z4run2Pi"), "_Z4run2Pi");
  EXPECT_EQ(symbol("run2(int*)"), "_Z4run2Pi");
  EXPECT_EQ(symbol("tile<float>"), "_Z4tileIfEvPT_");
  EXPECT_EQ(refusal([&] { (void)symbol("sub"); }), "a.cu: no kernel sub: must be one of run2(int*); n::run(int*)");
  EXPECT_NE(refusal([] { (void)compiler().compile("__global__ void k() { x; }", "a.cu", "k"); }).find("does not compile"),
            std::string::npos);
}
#endif

}  // namespace
}  // namespace sluice::gpu
