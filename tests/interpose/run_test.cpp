// SPDX-License-Identifier: Apache-2.0
// `sluice run` in front of a driver for tests.
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/sluice_program.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

class Run : public Sluice {
 protected:
  Outcome client(const std::string& before = "", const std::string& options = "--quota 2", int compile_wait_ms = 10000) {
    return shell(before + " SLUICE_COMPILE_WAIT_MS=" + std::to_string(compile_wait_ms) + " SLUICE_CACHE_DIR='" +
                 (folder_ / "cache").string() + "' SLUICE_REPORT='" + (folder_ / "report").string() + "' FAKE_CUDA_BOOKS='" +
                 (folder_ / "books").string() + "' SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' " SLUICE_BINARY " run " + options +
                 " -- " + program_);
  }
  std::string program_ = SLUICE_FAKE_CLIENT;
  /// A program that says its quota itself, and ends after 20 seconds at most.
  Outcome waits(const std::string& call, const std::string& before = "") {
    const std::string quota = "'" + (folder_ / "quota").string() + "'";
    std::ofstream(folder_ / "quota") << "all\n";
    return shell(before + " FAKE_CUDA_TASK_US=200 SLUICE_SHORT_US=0 SLUICE_COMPILE_WAIT_MS=10000 SLUICE_CACHE_DIR='" +
                 (folder_ / "cache").string() + "' SLUICE_REPORT='" + (folder_ / "report").string() + "' FAKE_CUDA_BOOKS='" +
                 (folder_ / "books").string() +
                 "' SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_CUDA "' timeout 20 " SLUICE_BINARY " run --quota-file " + quota +
                 " -- " SLUICE_FAKE_WAITS " " + quota + " " + call);
  }
  /// A slow program's first launch is to find the first quota.
  void await_launch() {
    for (int k = 0; k < 2000 && text("books").find("launch refused") == std::string::npos; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  /// A stand-in for the toolkit's assembler, and the setting that names it. @param first  what it does before it assembles
  std::string ptxas(const std::string& first, const std::string& release) {
    const fs::path standin = folder_ / "ptxas";
    std::ofstream(standin) << "#!/bin/sh\n[ \"$1\" != --version ] || { echo 'tools, release " << release << ", V'; exit 0; }\n"
                           << first << "\ncp \"$3\" \"$5\"\nprintf '\\0' >> \"$5\"\n"
                           << "echo \"ptxas $1 $2 ${LD_PRELOAD:-alone}\" >> \"$FAKE_CUDA_BOOKS\"\n";
    fs::permissions(standin, fs::perms::owner_all);
    return "SLUICE_PTXAS='" + standin.string() + "' ";
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
  EXPECT_NE(books.find("launch refused\n"), std::string::npos) << books;
  EXPECT_NE(books.find("blocks 128 wrong 0\n"), std::string::npos) << "of a library\n" << books;
  EXPECT_EQ(books.find("not rewound"), std::string::npos) << books;
  EXPECT_EQ(count(books, "closely\n"), 3) << "not in graphs, whose nodes have the order that the program gave them\n" << books;
  EXPECT_NE(o.err.find("sluice: 10 launches under quota"), std::string::npos) << o.err;
  const nlohmann::json report = nlohmann::json::parse(text("report"));
  EXPECT_EQ(report["kernels"]["quota"]["launches"], 10) << report;
  EXPECT_EQ(report["kernels"]["native"]["launches"], 4) << report;
  EXPECT_GT(report["kernels"]["quota"]["gpu_ms"], 0.0) << report;
  EXPECT_NE(report["reasons"]["k"].get<std::string>().find("less than two rounds"), std::string::npos) << report;
  EXPECT_EQ(report["quota_violations"], 0) << report;
}

TEST_F(Run, OrdersPassAStreamThatHoldsTheirChannel) {
  std::ofstream(folder_ / "quota") << "0\n";
  std::thread changes([&] {
    await_launch();
    for (const char* quota : {"2\n", "0\n", "1\n"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      std::ofstream(folder_ / "quota") << quota;
    }
  });
  // The program's stream 5 and the first that the interposer makes, 1000, are of one channel.
  const Outcome o = client("CUDA_DEVICE_MAX_CONNECTIONS=5 FAKE_CUDA_TASK_US=2000 timeout 20 env",
                           "--quota-file '" + (folder_ / "quota").string() + "'");
  changes.join();
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_NE(text("books").find("arg 7 arg 9 quota 0 wanted 0 blocks 1000 wrong 0 slept "), std::string::npos) << text("books");
  EXPECT_EQ(nlohmann::json::parse(text("report"))["quota_violations"], 0);
}

TEST_F(Run, ACopyThatTheHostWaitsForLetsOrdersPass) {
  std::ofstream(folder_ / "quota") << "0\n";
  std::thread changes([&] {
    for (int k = 0; k < 12; ++k) {  // its launch begins asleep in any case
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::ofstream(folder_ / "quota") << (k % 2 == 0 ? "2\n" : "0\n");
    }
    std::ofstream(folder_ / "quota") << "all\n";
  });
  const Outcome o =
      client("FAKE_CUDA_COPIES=1 FAKE_CUDA_TASK_US=2000 timeout 20 env", "--quota-file '" + (folder_ / "quota").string() + "'");
  changes.join();
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_NE(text("books").find("blocks 900 wrong 0"), std::string::npos) << text("books");
}

TEST_F(Run, CallsThatWaitForTheWholeGpuLetOrdersPass) {
  std::ofstream(folder_ / "quota") << "0\n";
  std::atomic<bool> over = false;
  std::thread changes([&] {
    for (int k = 0; !over; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(k % 2 == 0 ? 150 : 50));
      std::ofstream(folder_ / "quota") << (k % 2 == 0 ? "2\n" : "0\n");
    }
  });
  const Outcome o =
      client("FAKE_CUDA_LOADS=1 FAKE_CUDA_TASK_US=1000 timeout 30 env", "--quota-file '" + (folder_ / "quota").string() + "'");
  over = true;
  changes.join();
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "blocks 801 wrong 0"), 1) << "the first launch of a kernel\n" << text("books");
  EXPECT_EQ(count(text("books"), "blocks 800 wrong 0"), 8) << text("books");
}

/// Of each call that waits for the GPU, as measured (results/h200/service, driver_waits): it is made while a launch sleeps.
TEST_F(Run, NoCallOfTheDriverKeepsOrdersFromWhatSleeps) {
  for (const char* call : {"cuModuleLoadData", "cuModuleGetFunction", "cuKernelGetFunction", "cuKernelGetParamInfo",
                           "cuLibraryGetModule", "cuLibraryUnload", "cuMemFree", "cuMemFreeHost", "cuCtxSetLimit",
                           "cuMemcpyDtoHAsync", "cuStreamCreate", "cuStreamCreateWithPriority"}) {
    fs::remove(folder_ / "books");
    const Outcome o = waits(call);
    EXPECT_EQ(o.exit, 0) << call << o.out << o.err;
    EXPECT_EQ(count(text("books"), "blocks 800 wrong 0"), 2) << call << text("books");
    EXPECT_EQ(count(text("books"), " slept "), 1) << call << text("books");
  }
}

TEST_F(Run, OrdersPassAGraphThatSleepsInTheirChannel) {
  const Outcome o = waits("graph");
  EXPECT_EQ(o.exit, 0) << o.out << o.err << text("books");
  EXPECT_EQ(count(text("books"), "quota 0 wanted 0 blocks 800 wrong 0 slept 1"), 2) << text("books");
}

/// The program copies to the host for as long as it likes; what the lanes' thread reads stands behind that.
TEST_F(Run, LaunchesAndOrdersDoNotWaitForALongCopy) {
  const Outcome o = waits("long_copy");
  EXPECT_EQ(o.exit, 0) << o.out << o.err << text("books");
  EXPECT_EQ(count(text("books"), "launch k__sluice"), 4) << text("books");
  EXPECT_EQ(count(text("books"), "blocks 800 wrong 0"), 6) << text("books");
}

TEST_F(Run, AKernelMayWaitForAnothersFirstLaunch) {
  const Outcome first = waits("first_launch", "FAKE_CUDA_COMPILE_MS=100");
  EXPECT_EQ(first.exit, 0) << first.out << first.err;
  EXPECT_EQ(count(text("books"), "launch waits_for_frees__sluice"), 2) << text("books");
  EXPECT_EQ(count(text("books"), "launch frees 800x1"), 1) << "its code is not there the first time\n" << text("books");
  EXPECT_EQ(count(text("books"), "launch frees__sluice"), 1) << "it is loaded before the other runs again\n" << text("books");
  const nlohmann::json report = nlohmann::json::parse(text("report"));
  EXPECT_NE(report["reasons"]["frees"].get<std::string>().find("could not be loaded"), std::string::npos) << report;
  fs::remove(folder_ / "books");
  EXPECT_EQ(waits("first_launch").exit, 0) << "with code in the cache";
  EXPECT_EQ(count(text("books"), "launch frees__sluice"), 2) << "it was loaded ahead\n" << text("books");
}

/// Handles of the driver come again, and what the interposer has of its own lies where the last lay.
TEST_F(Run, AKernelOfAModuleThatIsGoneNeverRuns) {
  program_ = SLUICE_FAKE_LIFETIMES " reload";
  for (const char* cache : {"cold", "warm"}) {
    fs::remove(folder_ / "books");
    const Outcome o = client("timeout 60 env");
    EXPECT_EQ(o.exit, 0) << cache << o.out << o.err;
    std::istringstream books(text("books"));
    int launches = 0;
    for (std::string line; std::getline(books, line);) {
      if (!line.starts_with("launch ")) continue;
      ++launches;
      const auto word = [&](const std::string& behind) { return std::atoi(line.c_str() + line.find(behind) + behind.size()); };
      EXPECT_TRUE(line.starts_with("launch k__sluice ")) << cache << ": " << line;
      EXPECT_EQ(word(" arg "), word(" mark ")) << cache << ": " << line;
    }
    EXPECT_EQ(launches, 40) << cache << text("books");
    EXPECT_EQ(count(text("books"), "unload\n"), 60) << cache << ": ours go with them\n" << text("books");
  }
}

TEST_F(Run, AContextThatIsResetTakesWhatItHadWithIt) {
  program_ = SLUICE_FAKE_LIFETIMES " reset";
  std::ofstream(folder_ / "quota") << "2\n";
  for (const std::string& options : {std::string("--quota 2"), "--quota-file '" + (folder_ / "quota").string() + "'"}) {
    fs::remove(folder_ / "books");
    const Outcome o = client("SLUICE_SHORT_US=0 timeout 60 env", options);
    EXPECT_EQ(o.exit, 0) << options << o.out << o.err;
    EXPECT_EQ(count(text("books"), "launch k__sluice"), 16) << options << text("books");
    EXPECT_EQ(count(text("books"), "crash"), 0) << options << text("books");
    EXPECT_EQ(count(text("books"), "reset\n"), 4) << options << text("books");
  }
}

TEST_F(Run, ALaunchIsOfItsStreamsContext) {
  program_ = SLUICE_FAKE_LIFETIMES " contexts";
  const Outcome o = client("SLUICE_SHORT_US=0 timeout 60 env");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "launch k__sluice 4x8 arg 1 arg 9 mark 1"), 1) << text("books");
  EXPECT_EQ(count(text("books"), "launch k__sluice 4x8 arg 2 arg 9 mark 2"), 2) << text("books");
}

TEST_F(Run, AFaultIsToldAndNothingWaitsForIt) {
  program_ = SLUICE_FAKE_LIFETIMES " fault";
  std::ofstream(folder_ / "quota") << "2\n";
  const Outcome o = client("SLUICE_SHORT_US=0 timeout 30 env", "--quota-file '" + (folder_ / "quota").string() + "'");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "launch k__sluice 4x8 arg 3 arg 9 mark 3"), 1) << text("books");
}

TEST_F(Run, ChildGraphsAreUnderQuotaAndWhatTheDeviceMayTouchIsNot) {
  program_ = SLUICE_FAKE_LIFETIMES " graphs";
  const Outcome o = client("timeout 60 env");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "launch k__sluice 4x8 arg 21 "), 1) << text("books");
  EXPECT_EQ(count(text("books"), "launch k__sluice 4x8 arg 31 "), 1) << text("books");
  EXPECT_EQ(count(text("books"), "launch k 500x1 arg 41 "), 1) << text("books");
  EXPECT_EQ(count(text("books"), "launch k 500x1 arg 51 "), 1) << text("books");
  EXPECT_EQ(count(text("books"), "crash"), 0) << text("books");
  EXPECT_NE(o.err.find("that the device may launch"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("that the device may change"), std::string::npos) << o.err;
}

/// It is not allowed, and common.
TEST_F(Run, AHandlerOfASignalMayCallExit) {
  program_ = SLUICE_FAKE_LIFETIMES " exits";
  for (int k = 0; k < 20; ++k) {
    const Outcome o = client("timeout 10 env");
    EXPECT_EQ(o.exit, 3) << k << o.out << o.err;
    if (o.exit != 3) break;
  }
}

TEST_F(Run, AGridThatCudaRefusesIsRefused) {
  program_ = SLUICE_FAKE_LIFETIMES " grids";
  const Outcome o = client("SLUICE_SHORT_US=0 timeout 60 env");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "blocks 65535 wrong 0"), 1) << text("books");
  EXPECT_EQ(count(text("books"), "launch refused"), 2) << text("books");
}

TEST_F(Run, LinkedCodeHasItsPtxInItsParts) {
  const Outcome o = client("FAKE_CUDA_LINKED=1");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  const std::string books = text("books");
  EXPECT_NE(books.find("launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 700 wrong 0\n"), std::string::npos) << books;
  const nlohmann::json report = nlohmann::json::parse(text("report"));
  EXPECT_NE(report["reasons"]["waits"].get<std::string>().find("no PTX"), std::string::npos)
      << "two parts with kernels: one may use what the other has\n"
      << report;
}

TEST_F(Run, NodesOfGraphsAreTransformedAndEachExecutableHasItsOwnState) {
  const Outcome o = client();
  EXPECT_EQ(o.exit, 0) << "a node's parameters are what the program made them\n" << o.out << o.err;
  const std::string books = text("books");
  EXPECT_EQ(count(books, "launch k__sluice 4x8 arg 27 arg 29 quota 2 wanted 8 blocks 500 wrong 0\n"), 3) << "captured\n" << books;
  EXPECT_EQ(count(books, "launch k 2x1 arg 27 arg 29\n"), 3) << "captured, small\n" << books;
  EXPECT_EQ(count(books, "launch k__sluice 4x8 arg 37 arg 29 quota 2 wanted 8 blocks 301 wrong 0\n"), 3)
      << "two executables of a graph and one of its copy, at the same time\n"
      << books;
  EXPECT_EQ(count(books, "launch k__sluice 4x8 arg 47 arg 29 quota 2 wanted 8 blocks 302 wrong 0\n"), 1)
      << "changed in the executable\n"
      << books;
  EXPECT_EQ(books.find("crash"), std::string::npos) << books;
}

TEST_F(Run, AQuotaThatChangesReachesWhatRunsAndEvictedBlocksRunLater) {
  std::ofstream(folder_ / "quota") << "0\n";
  std::thread changes([&] {
    await_launch();
    for (const char* quota : {"1\n", "0\n", "3\n"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      std::ofstream(folder_ / "quota") << quota;
    }
  });
  const Outcome o = client("FAKE_CUDA_TASK_US=2000", "--quota-file '" + (folder_ / "quota").string() + "'");
  changes.join();
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  const std::string books = text("books");
  EXPECT_NE(books.find("arg 7 arg 9 quota 0 wanted 0 blocks 1000 wrong 0 slept "), std::string::npos) << books;
  EXPECT_NE(books.find("later grid of k__sluice\n"), std::string::npos) << books;
  EXPECT_NE(books.find("arg 27 arg 29 quota 3 wanted 12 blocks 500 wrong 0\n"), std::string::npos) << "in a graph\n" << books;
  const nlohmann::json report = nlohmann::json::parse(text("report"));
  EXPECT_EQ(count(books, " wrong 0"), count(books, " wrong ")) << books;
  EXPECT_GE(report["sleepers"], 2) << "at the start, and at the eviction; of two launches where one ends meanwhile\n" << report;
  EXPECT_GE(report["later_grids"], 2) << report;
}

TEST_F(Run, AModuleIsCompiledOnceForAllProcessesAndADamagedEntryAnew) {
  EXPECT_EQ(client().exit, 0);
  const auto entry = [&]() -> fs::path {
    for (const auto& e : fs::directory_iterator(folder_ / "cache"))
      if (e.path().filename().string().starts_with("code-")) return e.path();
    return {};
  };
  ASSERT_FALSE(entry().empty());
  EXPECT_EQ(count(text("books"), "assemble\n"), 1) << text("books");
  EXPECT_EQ(count(text("books"), "limit 32\n"), 1) << "the program's own takes 30 registers\n" << text("books");
  fs::remove(folder_ / "books");
  EXPECT_EQ(client().exit, 0);
  EXPECT_EQ(count(text("books"), "assemble\n"), 0) << text("books");
  EXPECT_NE(text("books").find("blocks 1000 wrong 0"), std::string::npos) << text("books");
  fs::remove(folder_ / "books");
  {
    std::fstream damaged(entry(), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(100);
    damaged.put('?');
  }
  EXPECT_EQ(client().exit, 0);
  EXPECT_EQ(count(text("books"), "assemble\n"), 1) << text("books");
}

TEST_F(Run, AWatchdogRaisesTheQuotaOfBlocksThatWait) {
  const Outcome o = client("FAKE_CUDA_WAITS=20 FAKE_CUDA_TASK_US=100", "--quota 1");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_NE(o.err.find("waits: no block has ended for 100 ms"), std::string::npos) << o.err;
  EXPECT_NE(text("books").find("waits__sluice 4x8 arg 7 arg 9 quota 1 wanted 4 blocks 1000 wrong 0"), std::string::npos)
      << text("books");
  EXPECT_GE(nlohmann::json::parse(text("report"))["watchdog_raises"], 1);
}

TEST_F(Run, HoldsLaunchesThatCannotBeTransformedOneAtATime) {
  const std::string slow = "FAKE_CUDA_OPAQUE=1 FAKE_CUDA_TASK_US=20000";
  const Outcome together = client(slow, "--quota 2");
  EXPECT_EQ(together.exit, 0) << together.err;
  EXPECT_NE(text("books").find("launch opaque 1000x1 arg 7 arg 9 beside another\n"), std::string::npos) << text("books");
  fs::remove(folder_ / "books");
  const Outcome held = client(slow, "--quota 2 --opaque hold");
  EXPECT_EQ(held.exit, 0) << held.err;
  EXPECT_EQ(count(text("books"), "launch opaque 1000x1 arg 7 arg 9\n"), 4) << text("books");
  EXPECT_NE(held.err.find("4 native"), std::string::npos) << held.err;
  EXPECT_NE(held.err.find("opaque: inline assembly ends a thread"), std::string::npos) << held.err;
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
  const std::string with = ptxas("[ $CODE = 0 ] || exit $CODE", "13.0");
  const Outcome o = client("export CODE=0; " + with);
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "ptxas -arch sm_90 alone\n"), 1) << text("books");
  EXPECT_EQ(count(text("books"), "assemble\n"), 0) << text("books");
  EXPECT_EQ(count(text("books"), "limit 32\n"), 0) << text("books");
  EXPECT_NE(text("books").find("launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 1000 wrong 0\n"), std::string::npos);
  fs::remove_all(folder_ / "cache");
  fs::remove(folder_ / "books");
  EXPECT_EQ(client("export CODE=1; " + with).exit, 0);
  EXPECT_EQ(count(text("books"), "assemble\n"), 1) << text("books");
  EXPECT_EQ(count(text("books"), "limit 32\n"), 1) << text("books");
  EXPECT_NE(text("books").find("launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 1000 wrong 0\n"), std::string::npos);
}

/// 20 CTAs of 64 threads fit with 51 registers a thread, and 21 do not with the 50 that the kernel has.
TEST_F(Run, CodeMayTakeTheRegistersThatItsCtasLeave) {
  const std::string kernel = "export FAKE_CUDA_REGISTERS=50 FAKE_CUDA_CTAS=20; ";
  EXPECT_EQ(client(kernel).exit, 0);
  EXPECT_EQ(count(text("books"), "limit 51\n"), 1) << text("books");
  const std::string looks = "grep -o 'maxnreg [0-9]*' \"$3\" >> \"$FAKE_CUDA_BOOKS\" || true";
  EXPECT_EQ(client(kernel + ptxas(looks, "13.0")).exit, 0);
  EXPECT_EQ(count(text("books"), "maxnreg 51\n"), 1) << text("books");
  EXPECT_EQ(client(ptxas(looks, "13.0")).exit, 0) << "registers do not limit its CTAs";
  EXPECT_EQ(count(text("books"), "maxnreg"), 1) << text("books");
}

TEST_F(Run, APtxasThatIsNewerThanTheDriverIsNotAsked) {
  EXPECT_EQ(client(ptxas("true", "14.1")).exit, 0);
  EXPECT_EQ(count(text("books"), "ptxas -arch"), 0) << text("books");
  EXPECT_EQ(count(text("books"), "assemble\n"), 1) << text("books");
}

TEST_F(Run, TheFirstPtxasInThePathIsFound) {
  static_cast<void>(ptxas("true", "13.0"));
  const Outcome o = client("unset SLUICE_PTXAS; PATH='" + folder_.string() + "':$PATH");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(count(text("books"), "ptxas -arch sm_90 alone\n"), 1) << text("books");
}

TEST_F(Run, WhatPtxasMakesAfterTheProgramsEndIsThereForTheNext) {
  program_ = SLUICE_FAKE_STEADY " 1 2 1000 1";
  const fs::path go = folder_ / "go";
  const std::string with = ptxas("for n in $(seq 200); do [ ! -e '" + go.string() + "' ] || break; sleep 0.05; done", "13.0"),
                    launched = "launch k__sluice 4x8 arg 7 arg 9 quota 2";
  const Outcome first = client("exec 9>&1; " + with, "--quota 2", 1);  // whoever has 9 open keeps us here
  EXPECT_EQ(first.exit, 0) << first.out << first.err;
  EXPECT_NE(first.err.find("it is being compiled"), std::string::npos) << first.err;
  EXPECT_EQ(count(text("books"), "ptxas -arch"), 0) << "the program's end waited for it\n" << text("books");
  std::ofstream(go) << "go";
  const auto there = [&] {
    return std::ranges::any_of(fs::directory_iterator(folder_ / "cache"), [](const auto& file) {
      return file.path().filename().string().starts_with("code-") && !file.path().string().ends_with(".new");
    });
  };
  for (int k = 0; k < 1000 && !there(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  fs::remove(go);
  EXPECT_EQ(client(with, "--quota 2", 1).exit, 0);
  EXPECT_NE(text("books").find(launched), std::string::npos) << "it is not in the cache\n" << text("books");
}

TEST_F(Run, AProcessThatEndsWhileItsKernelsAreCompiledOutlivesTheCompiler) {
  const Outcome o = client("FAKE_CUDA_COMPILE_MS=300", "--quota 2", 1);
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_EQ(o.err.find("the compiler is gone"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("it is being compiled"), std::string::npos) << "it ran before there was code\n" << o.err;
}

TEST_F(Run, WhereMemoryCannotBeRegisteredItIsAllocated) {
  EXPECT_EQ(client("FAKE_CUDA_NO_REGISTER=1").exit, 0);
  EXPECT_NE(text("books").find("launch k__sluice 4x8 arg 7 arg 9 quota 2"), std::string::npos) << text("books");
}

TEST_F(Run, WithoutMemoryForTheJobRunsNatively) {
  const Outcome o = client("FAKE_CUDA_NO_MEMORY=1");
  EXPECT_EQ(o.exit, 0) << o.out << o.err;
  EXPECT_NE(o.err.find("no memory for the job's state"), std::string::npos) << o.err;
}

TEST_F(Run, PassesTheExitCodeAndTellsBadInput) {
  EXPECT_EQ(shell(SLUICE_BINARY " run --quota 2 -- sh -c 'exit 37'").exit, 37);
  EXPECT_EQ(shell(SLUICE_BINARY " run --socket /nowhere -- true").exit, 0) << "natively";
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
