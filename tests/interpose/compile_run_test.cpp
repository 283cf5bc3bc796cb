// SPDX-License-Identifier: Apache-2.0
// `sluice run`: what is compiled, by whom, when, and kept for whom.
#include <chrono>
#include <thread>

#include "sw/interpose/cache.h"
#include "tests/interpose/run.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

TEST_F(Run, AModuleIsCompiledOnceForAllProcessesAndADamagedEntryAnew) {
  right();
  const auto entry = [&]() -> fs::path {
    for (const auto& e : fs::directory_iterator(folder_ / "cache"))
      if (e.path().filename().string().starts_with("code-")) return e.path();
    return {};
  };
  ASSERT_FALSE(entry().empty());
  booked("assemble\n", 1);
  booked("limit 32\n", 1, "the program's own takes 30 registers");
  fs::remove(folder_ / "books");
  right();
  booked("assemble\n", 0);
  has(text("books"), "blocks 1000 wrong 0");
  fs::remove(folder_ / "books");
  {
    std::fstream damaged(entry(), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(100);
    damaged.put('?');
  }
  right();
  booked("assemble\n", 1);
}

TEST_F(Run, TheAssemblersWrapperKeepsThePtxAndChangesNothing) {
  const fs::path real = folder_ / "real";
  std::ofstream(real) << "#!/bin/sh\ncp " SLUICE_INTERPOSE " '" << (folder_ / "out.cubin").string()
                      << "'\necho \"$@\"\nexit $CODE\n";
  fs::permissions(real, fs::perms::owner_all);
  std::ofstream(folder_ / "in.ptx") << ".version 8.0\n";
  const std::string call = "SLUICE_CACHE_DIR='" + (folder_ / "cache").string() + "' SLUICE_REAL_PTXAS='" + real.string() +
                           "' $PTXAS -v --gpu-name=sm_90a '" + (folder_ / "in.ptx").string() + "' -o '" +
                           (folder_ / "out.cubin").string() + "'";
  const std::string wrapped = "PTXAS='" + (fs::path(SLUICE_INTERPOSE).parent_path() / "ptxas").string() + "' ";
  const Outcome ours = shell("export CODE=0 " + wrapped + "; " + call),
                theirs = shell("export CODE=0 PTXAS='" + real.string() + "'; " + call);
  EXPECT_EQ(ours.exit, 0) << ours.err;
  EXPECT_EQ(ours.out, theirs.out);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "cache"), fs::directory_iterator()), 1);
  EXPECT_EQ(shell("export CODE=3 " + wrapped + "; " + call).exit, 3) << "its exit code";
}

TEST_F(Run, ANamedPtxasIsAskedFirstAndTheDriverWhereItFails) {
  const std::string with = ptxas("[ $CODE = 0 ] || exit $CODE", "13.0"),
                    launched = "launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 1000 wrong 0\n";
  right("export CODE=0; " + with);
  booked("ptxas -arch sm_90 alone\n", 1);
  booked("assemble\n", 0);
  booked("limit 32\n", 0);
  has(text("books"), launched);
  fs::remove_all(folder_ / "cache");
  fs::remove(folder_ / "books");
  right("export CODE=1; " + with);
  booked("assemble\n", 1);
  booked("limit 32\n", 1);
  has(text("books"), launched);
}

/// Whatever shape its launches have, and also where it is compiled before the first.
TEST_F(Run, CodeMayTakeTheRegistersOfTheProgramsOwnKernel) {
  const std::string kernel = "export FAKE_CUDA_REGISTERS=50; ";  // of which the device allots 56
  right(kernel);
  booked("limit 59\n", 1);
  const std::string looks = "grep -o 'maxnreg [0-9]*' \"$3\" >> \"$FAKE_CUDA_BOOKS\" || true";
  right(kernel + ptxas(looks, "13.0"));
  booked("maxnreg 59\n", 1);
  right(ptxas(looks, "13.0"));
  booked("maxnreg 32\n", 1, "so many leave an SM all its threads");
}

TEST_F(Run, APtxasThatIsNewerThanTheDriverIsNotAsked) {
  right(ptxas("true", "14.1"));
  booked("ptxas -arch", 0);
  booked("assemble\n", 1);
}

TEST_F(Run, TheFirstPtxasInThePathIsFound) {
  static_cast<void>(ptxas("true", "13.0"));
  right("unset SLUICE_PTXAS; PATH='" + folder_.string() + "':$PATH");
  booked("ptxas -arch sm_90 alone\n", 1);
}

TEST_F(Run, WhatPtxasMakesAfterTheProgramsEndIsThereForTheNext) {
  program_ = SLUICE_FAKE_STEADY " 1 2 1000 1";
  const fs::path go = folder_ / "go", begun = folder_ / "begun";
  const std::string with =
      ptxas("touch '" + begun.string() + "'; for n in $(seq 200); do [ ! -e '" + go.string() + "' ] || break; sleep 0.05; done",
            "13.0");
  const Outcome first =
      right("exec 9>&1; STEADY_GOES_ON='" + begun.string() + "' " + with, "--quota 2", 1);  // whoever has 9 open keeps us here
  has(first.err, "it is being compiled");
  booked("ptxas -arch", 0, "the program's end waited for it");
  std::ofstream(go) << "go";
  const std::string of_k = "-" + interpose::digest(std::string_view("k")).substr(0, 16) + "-";  // others are made beside it
  const auto there = [&] {
    return std::ranges::any_of(fs::directory_iterator(folder_ / "cache"), [&](const auto& file) {
      return file.path().string().find(of_k) != std::string::npos && !file.path().string().ends_with(".new");
    });
  };
  for (int k = 0; k < 1000 && !there(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  fs::remove(go);
  right(with, "--quota 2", 5000);  // shorter than the assembler takes
  has(text("books"), "launch k__sluice 4x8 arg 7 arg 9 quota 2", "it is not in the cache");
}

TEST_F(Run, LaunchesThatNobodyWaitsForDoNotAllRunAheadOfTheirCode) {
  program_ = SLUICE_FAKE_STEADY " 1 200 300 200";
  right("FAKE_CUDA_COMPILE_MS=200 FAKE_CUDA_TASK_US=10000 SLUICE_SHORT_US=0", "--quota 32", 1);
  const nlohmann::json said = report()["kernels"];
  EXPECT_GE(said["native"]["launches"], 4) << said;
  EXPECT_GE(said["quota"]["launches"], 1) << said;
}

TEST_F(Run, AProcessThatEndsWhileItsKernelsAreCompiledOutlivesTheCompiler) {
  const Outcome o = right("FAKE_CUDA_COMPILE_MS=300", "--quota 2", 1);
  EXPECT_EQ(o.err.find("the compiler is gone"), std::string::npos) << o.err;
  has(o.err, "it is being compiled", "it ran before there was code");
}

}  // namespace
}  // namespace sluice::test
#endif
