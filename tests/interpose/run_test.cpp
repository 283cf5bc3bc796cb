// SPDX-License-Identifier: Apache-2.0
// `sluice run` in front of a driver for tests.
#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "tests/interpose/run.h"
#ifdef SLUICE_FAKE_CUDA

namespace sluice::test {
namespace {

TEST_F(Run, TransformsGridsAndRunsEveryBlockOnce) {
  const Outcome o = right();
  const std::string books = text("books");
  has(books, "launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 1000 wrong 0\n");
  has(books, "launch k__sluice 4x8 arg 17 arg 19 quota 2 wanted 8 blocks 385 wrong 0\n",
      "arguments by buffer; the queue rewound");
  has(books, "launch refused\n");
  has(books, "blocks 128 wrong 0\n", "of a library");
  booked("not rewound", 0);
  booked("closely\n", 3, "not in graphs, whose nodes have the order that the program gave them");
  has(o.err, "sluice: 10 launches under quota");
  const nlohmann::json said = report();
  EXPECT_EQ(said["kernels"]["quota"]["launches"], 10) << said;
  EXPECT_EQ(said["kernels"]["native"]["launches"], 4) << said;
  EXPECT_GT(said["kernels"]["quota"]["gpu_ms"], 0.0) << said;
  has(said["reasons"]["k"], "less than two rounds");
  EXPECT_EQ(said["quota_violations"], 0) << said;
}

TEST_F(Run, OrdersPassAStreamThatHoldsTheirChannel) {
  const std::string file = quota_file("0");
  std::thread thread = changes({"2", "0", "1"}, std::chrono::milliseconds(300));
  // The program's stream 5 and the first that the interposer makes, 1000, are of one channel.
  right("CUDA_DEVICE_MAX_CONNECTIONS=5 FAKE_CUDA_TASK_US=2000 timeout 20 env", file);
  thread.join();
  has(text("books"), "arg 7 arg 9 quota 0 wanted 0 blocks 1000 wrong 0 slept ");
  EXPECT_EQ(report()["quota_violations"], 0);
}

TEST_F(Run, ACopyThatTheHostWaitsForLetsOrdersPass) {
  const std::string file = quota_file("0");
  // Its launch begins asleep in any case.
  std::thread thread =
      changes({"2", "0", "2", "0", "2", "0", "2", "0", "2", "0", "2", "0", "all"}, std::chrono::milliseconds(100), false);
  right("FAKE_CUDA_COPIES=1 FAKE_CUDA_TASK_US=2000 timeout 20 env", file);
  thread.join();
  has(text("books"), "blocks 900 wrong 0");
}

TEST_F(Run, CallsThatWaitForTheWholeGpuLetOrdersPass) {
  const std::string file = quota_file("0");
  std::atomic<bool> over = false;
  std::thread thread([&] {
    for (int k = 0; !over; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(k % 2 == 0 ? 150 : 50));
      quota_file(k % 2 == 0 ? "2" : "0");
    }
  });
  right("FAKE_CUDA_LOADS=1 FAKE_CUDA_TASK_US=1000 timeout 30 env", file);
  over = true;
  thread.join();
  booked("blocks 801 wrong 0", 1, "the first launch of a kernel");
  booked("blocks 800 wrong 0", 8);
}

/// Of each call that waits for the GPU, as measured (results/h200/service, driver_waits): it is made while a launch sleeps.
TEST_F(Run, NoCallOfTheDriverKeepsOrdersFromWhatSleeps) {
  for (const char* call :
       {"cuModuleLoadData", "cuModuleGetFunction", "cuKernelGetFunction", "cuKernelGetParamInfo", "cuLibraryGetModule",
        "cuLibraryUnload", "cuCtxResetPersistingL2Cache", "cuMemFree", "cuMemFreeHost", "cuCtxSetLimit", "cuMemcpyDtoHAsync",
        "cuStreamCreate", "cuStreamCreateWithPriority", "cuMemsetD8Async", "cuGraphExecDestroy", "'cuGraphExecDestroy behind'"}) {
    fs::remove(folder_ / "books");
    waits(call);
    has(text("books"), "blocks 800 wrong 0\n", call);
    booked(" slept ", 1, call);
  }
  fs::remove(folder_ / "books");
  waits("CU_STREAM_PER_THREAD");
  has(text("books"), " blocks 800 wrong 0 slept ",
      "the first sleeps; of the threads those sleep, too, whose streams begin in time");
  EXPECT_EQ(count(text("books"), " blocks 2 wrong 0"), 40) << text("books");
}

/// It may be behind an event that is behind a launch that sleeps.
TEST_F(Run, AStreamThatWaitsForAnothersEventMayFillItsQueue) {
  waits("'cuStreamWaitEvent, then memory'");
  booked(" slept ", 1);
  fs::remove(folder_ / "books");
  waits("cuStreamWaitEvent");
  booked(" slept ", 1);
  std::istringstream in(text("books"));
  int next = 1000;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(" arg 1") == std::string::npos ? line.find(" arg 2") : line.find(" arg 1");
    if (at == std::string::npos) continue;
    EXPECT_EQ(std::stoi(line.substr(at + 5)), next) << "in their order";
    next += 2;
  }
  EXPECT_EQ(next, 2100);
}

TEST_F(Run, BehindBlocksThatWaitTheQueueHoldsWhatTheDriversDoes) {
  waits("thousand_behind");
  booked("launch waits_for_frees", 2);
}

TEST_F(Run, OrdersPassAGraphThatSleepsInTheirChannel) {
  waits("graph");
  booked(" blocks 800 wrong 0 slept ", 2);
}

/// The program copies to the host for as long as it likes; what the lanes' thread reads stands behind that.
TEST_F(Run, LaunchesAndOrdersDoNotWaitForALongCopy) {
  waits("long_copy", "FAKE_CUDA_COMPILE_MS=200");
  booked("launch frees__sluice", 2, "its code was begun beside the other's, and is awaited");
  booked("launch k__sluice", 4);
  booked("blocks 800 wrong 0", 6);
}

TEST_F(Run, AKernelMayWaitForAnothersFirstLaunch) {
  waits("first_launch", "FAKE_CUDA_COMPILE_MS=100");
  booked("launch waits_for_frees__sluice", 2);
  booked("launch frees 800x1", 1, "its code is not there the first time");
  booked("launch frees__sluice", 1, "it is loaded before the other runs again");
  has(report()["reasons"]["frees"], "could not be loaded");
  fs::remove(folder_ / "books");
  waits("first_launch");
  booked("launch frees__sluice", 2, "with code in the cache it was loaded ahead");
  fs::remove(folder_ / "books");
  fs::remove_all(folder_ / "cache");
  waits("first_launch_beside", "FAKE_CUDA_COMPILE_MS=100");
  booked("launch waits_for_frees 2x1", 1, "it is native, as all its blocks fit");
  booked("carve-out of waits_for_frees 28", 1, "beside its blocks ours find scratchpad");
  booked("launch frees 800x1", 1, "its code is not loaded beside that");
  booked("launch frees__sluice", 2, "it is loaded when that has ended");
}

/// Handles of the driver come again, and what the interposer has of its own lies where the last lay.
TEST_F(Run, AKernelOfAModuleThatIsGoneNeverRuns) {
  program_ = SLUICE_FAKE_LIFETIMES " reload";
  for (const char* cache : {"cold", "warm"}) {
    fs::remove(folder_ / "books");
    right("timeout 60 env SLUICE_SHORT_US=0");
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
    booked("unload\n", 60, "ours go with them");
  }
}

TEST_F(Run, AContextThatIsResetTakesWhatItHadWithIt) {
  for (const char* way : {" reset", " release", " reset_unseen"}) {
    program_ = SLUICE_FAKE_LIFETIMES + std::string(way);
    for (const std::string& options : {std::string("--quota 2"), quota_file("2")}) {
      fs::remove(folder_ / "books");
      right("SLUICE_SHORT_US=0 timeout 60 env", options);
      booked("launch k__sluice", 16, options + way);
      booked("crash", 0, options + way);
      booked("reset\n", 4, options + way);
      const bool unseen = std::string_view(way) == " reset_unseen";
      EXPECT_EQ(report()["quota_violations"], unseen ? nlohmann::json() : nlohmann::json(0)) << way << ": none, or not known";
    }
  }
}

TEST_F(Run, ALaunchIsOfItsStreamsContext) {
  program_ = SLUICE_FAKE_LIFETIMES " contexts";
  right("SLUICE_SHORT_US=0 timeout 60 env");
  booked("launch k__sluice 4x8 arg 1 arg 9 mark 1", 1);
  booked("launch k__sluice 4x8 arg 2 arg 9 mark 2", 2);
}

TEST_F(Run, AFaultIsToldAndNothingWaitsForIt) {
  program_ = SLUICE_FAKE_LIFETIMES " fault";
  right("SLUICE_SHORT_US=0 timeout 30 env", quota_file("2"));
  booked("launch k__sluice 4x8 arg 3 arg 9 mark 3", 1);
}

TEST_F(Run, ChildGraphsAreUnderQuotaAndWhatTheDeviceMayTouchIsNot) {
  program_ = SLUICE_FAKE_LIFETIMES " graphs";
  const Outcome o = right("timeout 60 env");
  for (const char* launch : {"k__sluice 4x8 arg 21 ", "k__sluice 4x8 arg 31 ", "k 500x1 arg 41 ", "k 500x1 arg 51 "})
    booked(std::string("launch ") + launch, 1);
  booked("crash", 0);
  has(o.err, "that the device may launch");
  has(o.err, "that the device may change");
}

/// Each branch may sleep in one of the process's 16 channels, and none is left for the order that wakes it.
TEST_F(Run, AGraphOfManyBranchesIsNativeWhereQuotasChange) {
  program_ = SLUICE_FAKE_LIFETIMES " branches";
  right("timeout 60 env");
  booked("launch k__sluice ", 20);
  fs::remove(folder_ / "books");
  has(right("timeout 60 env", quota_file("2")).err, "more branches");
  booked("launch k__sluice 4x8 arg 1 ", 10);
  booked("launch k 500x1 arg 2 ", 10);
}

/// It is not allowed, and common.
TEST_F(Run, AHandlerOfASignalMayCallExit) {
  program_ = SLUICE_FAKE_LIFETIMES " exits";
  for (int k = 0; k < 20 && !HasFailure(); ++k) {
    const Outcome o = client("timeout 10 env");  // malloc may have been stopped in its middle: then what follows us may stand
    EXPECT_TRUE(o.exit == 3 || (o.exit == 124 && o.err.find(" launches under quota") != std::string::npos))
        << k << o.exit << o.out << o.err;
  }
}

TEST_F(Run, AGridThatCudaRefusesIsRefused) {
  program_ = SLUICE_FAKE_LIFETIMES " grids";
  right("SLUICE_SHORT_US=0 timeout 60 env");
  booked("blocks 65535 wrong 0", 1);
  booked("launch refused", 2);
}

/// An entry point that the build does not know runs as it is, and the table says so.
TEST_F(Run, WhatANewerDriverLaunchesWithIsNativeAndTold) {
  program_ = "env SLUICE_REAL_LIBCUDA='" SLUICE_FAKE_NEWER "' " SLUICE_FAKE_LIFETIMES " newer";
  const Outcome o = right("SLUICE_SHORT_US=0 timeout 60 env");
  has(o.err,
      "sluice: this driver may launch in ways that this build does not know, and that stay native: cuFutureAsync, "
      "cuLaunchFuture\n");
  has(o.err,
      "        3 native       0.00 ms cuLaunchFuture: launched by a function of the driver that this build does not know\n");
  booked("launch k__sluice", 1);
  booked("launch k 3x1", 17);
  EXPECT_EQ(report()["kernels"]["native"]["launches"], 18) << "and one that is no launch";
  program_ = SLUICE_FAKE_LIFETIMES " grids";
  EXPECT_EQ(right("SLUICE_SHORT_US=0 timeout 60 env").err.find("in ways"), std::string::npos);
}

TEST_F(Run, LinkedCodeHasItsPtxInItsParts) {
  right("FAKE_CUDA_LINKED=1");
  has(text("books"), "launch k__sluice 4x8 arg 7 arg 9 quota 2 wanted 8 blocks 700 wrong 0\n");
  has(report()["reasons"]["waits"], "no PTX", "two parts with kernels: one may use what the other has");
}

TEST_F(Run, NodesOfGraphsAreTransformedAndEachExecutableHasItsOwnState) {
  right();  // a node's parameters are what the program made them
  booked("launch k__sluice 4x8 arg 27 arg 29 quota 2 wanted 8 blocks 500 wrong 0\n", 3, "captured");
  booked("launch k 2x1 arg 27 arg 29\n", 3, "captured, small");
  booked("launch k__sluice 4x8 arg 37 arg 29 quota 2 wanted 8 blocks 301 wrong 0\n", 3,
         "two executables of a graph and one of its copy, at the same time");
  booked("launch k__sluice 4x8 arg 47 arg 29 quota 2 wanted 8 blocks 302 wrong 0\n", 1, "changed in the executable");
  booked("crash", 0);
}

TEST_F(Run, AQuotaThatChangesReachesWhatRunsAndEvictedBlocksRunLater) {
  const std::string file = quota_file("0");
  std::thread thread = changes({"1", "0", "3"}, std::chrono::milliseconds(300));
  right("FAKE_CUDA_TASK_US=2000", file);
  thread.join();
  const std::string books = text("books");
  has(books, "arg 7 arg 9 quota 0 wanted 0 blocks 1000 wrong 0 slept ");
  has(books, "later grid of k__sluice\n");
  has(books, "arg 27 arg 29 quota 3 wanted 12 blocks 500 wrong 0\n", "in a graph");
  EXPECT_EQ(count(books, " wrong 0"), count(books, " wrong ")) << books;
  const nlohmann::json said = report();
  EXPECT_GE(said["sleepers"], 2) << "at the start, and at the eviction; of two launches where one ends meanwhile\n" << said;
  EXPECT_GE(said["later_grids"], 2) << said;
}

/// On a busy machine a grid may come so late that another was launched meanwhile.
TEST_F(Run, AnEvictionIsEndedByOneLaterGrid) {
  constexpr int kEvictions = 20;
  std::vector<const char*> quotas;
  for (int k = 0; k < kEvictions; ++k) quotas.insert(quotas.end(), {"0", "all"});
  std::thread thread = changes(quotas, std::chrono::milliseconds(25));
  right("FAKE_CUDA_TASK_US=30000", quota_file("all"));
  thread.join();
  const std::string books = text("books");
  EXPECT_GE(count(books, "later grid of k__sluice\n"), kEvictions / 2) << books;
  // Up to half as many beside busy cores, where CTAs come late; two and more an eviction without the room of the sleeper.
  EXPECT_LT(count(books, "later grid without room\n"), kEvictions) << books;
  EXPECT_EQ(count(books, " wrong 0"), count(books, " wrong ")) << books;
}

TEST_F(Run, ALaunchWhoseCtasFoundNoRoomGetsMore) {
  right("FAKE_CUDA_TASK_US=2000 FAKE_CUDA_FIND_ROOM=1", "--sms 0-1");
  const std::string books = text("books");
  has(books, "later grid of k__sluice\n", "one CTA works, and none sleeps");
  EXPECT_EQ(count(books, "slept"), 0) << books;
  EXPECT_EQ(count(books, " wrong 0"), count(books, " wrong ")) << books;
}

TEST_F(Run, BringsAsManyCtasAsThereAreBlocksAndTwiceForAPartOfTheSms) {
  right("SLUICE_SHORT_US=0", "--quota 8");
  booked("launch k__sluice 4x8 arg 7 arg 9 quota 8 wanted 32 blocks 1000 wrong 0\n", 1);
  booked("launch k__sluice 4x1 arg 27 arg 29 quota 8 wanted 32 blocks 2 wrong 0\n", 3);
  right("", "--sms 0-1");
  has(text("books"), "launch k__sluice 4x16 arg 7 arg 9");
}

/// The SMs of an instance may have any of the GPU's numbers: CTAs of a range would wait for SMs that never come.
TEST_F(Run, AMigInstanceHasNoRangesOfSms) {
  const std::string mig = "FAKE_CUDA_NAME='Fake GPU MIG 1g.10gb'";
  has(right(mig, "--sms 0-1").err, "sluice: --sms 0-1: a MIG instance has no ranges of SMs: runs natively\n");
  EXPECT_EQ(report()["kernels"]["quota"]["launches"], 0);
  fs::remove(folder_ / "books");
  const std::string file = quota_file("2 0-1");
  has(right(mig, file).err, "a MIG instance has no ranges of SMs: the quota stays\n");
  has(text("books"), "quota 32 wanted 32", "the whole instance");
  right(mig, "--quota 2");
  has(text("books"), "quota 2 wanted 8");
}

TEST_F(Run, AWatchdogRaisesTheQuotaOfBlocksThatWait) {
  const Outcome o = right("FAKE_CUDA_WAITS=20 FAKE_CUDA_TASK_US=100", "--quota 1");
  has(o.err, "waits: no block has ended for 100 ms");
  has(text("books"), "waits__sluice 4x8 arg 7 arg 9 quota 1 wanted 4 blocks 1000 wrong 0");
  EXPECT_GE(report()["watchdog_raises"], 1);
}

TEST_F(Run, HoldsLaunchesThatCannotBeTransformedWhileThereIsNoShare) {
  program_ = SLUICE_FAKE_STEADY " 1 20 1000 20";
  for (const bool holds : {false, true}) {
    const std::string file = quota_file("0");
    std::ptrdiff_t early = 0;
    std::thread thread([&] {
      const std::string there = holds ? "load 1 kernels\n" : "launch opaque";
      for (int k = 0; k < 2000 && text("books").find(there) == std::string::npos; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      early = count(text("books"), "launch opaque");
      quota_file("2");
    });
    right("STEADY_OPAQUE=0", file + (holds ? " --opaque hold" : ""));
    thread.join();
    EXPECT_TRUE(holds ? early == 0 : early > 0) << early << text("books");
    booked("launch opaque 1000x1 arg 7 arg 9\n", 20);
    fs::remove(folder_ / "books");
  }
}

TEST_F(Run, AllocationsBeyondTheLimitFailAsOutOfMemory) {
  program_ = SLUICE_FAKE_LIFETIMES " memory";
  right("", "--quota 2 --memory 3M");
  EXPECT_NE(client().exit, 0) << "without a limit there is memory";
}

/// 20 CTAs of 64 threads fit with 51 registers a thread, and 21 do not with the 50 that the kernel has.
TEST_F(Run, ALaunchAsleepWakesBehindWhichShorterOnesFillTheQueue) {  // they have become short, and are native
  program_ = SLUICE_FAKE_STEADY " 1 2500 40 2500";
  const std::string quota = quota_file("1");
  std::thread change = changes({"1", "0", "1", "0", "all"}, std::chrono::milliseconds(300), false);
  right("FAKE_CUDA_TASK_US=200 SLUICE_SHORT_US=100000 timeout 30 env", quota);
  change.join();
}

TEST_F(Run, WhereMemoryCannotBeRegisteredItIsAllocated) {
  right("FAKE_CUDA_NO_REGISTER=1");
  has(text("books"), "launch k__sluice 4x8 arg 7 arg 9 quota 2");
}

TEST_F(Run, WithoutMemoryForTheJobRunsNatively) { has(right("FAKE_CUDA_NO_MEMORY=1").err, "no memory for the job's state"); }

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
