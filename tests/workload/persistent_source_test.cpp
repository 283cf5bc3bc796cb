// SPDX-License-Identifier: Apache-2.0
// Persistent CTAs without a GPU: warps are walked one after the other, up to the barriers.
#include <gtest/gtest.h>

#include <map>

#include "sw/workload/persistent_source.h"
#include "sw/workload/synthetic_source.h"

namespace sluice {
namespace {

constexpr std::uint32_t kTasks = 7, kWarps = 3, kLength = 5;
constexpr std::uint64_t kDelay = 10;

class Persistent : public ::testing::Test {
 protected:
  struct Warp {
    WarpCursor cursor;
    std::map<OpClass, unsigned> ops{};
    unsigned fetched = 0;
  };
  struct Cta {
    std::uint32_t handle = 0;
    std::vector<Warp> warps{};
  };

  static KernelDescriptor kernel() {
    KernelDescriptor kernel;
    kernel.name = "k";
    kernel.grid_ctas = kTasks;
    kernel.block_threads = kWarps * kWarpSize;
    kernel.behaviour.warp_instructions = kLength;
    return kernel;
  }
  PersistentSource make(Polling polling) {
    return {std::make_unique<SyntheticSource>(kernel(), 0, 8, 1), kernel(), 0, {polling, slice, kDelay, [this] { return now; }}};
  }
  static Cta begin(PersistentSource& source) {
    Cta cta{source.begin_cta(0)};
    for (std::uint32_t w = 0; w < kWarps; ++w) cta.warps.push_back({{0, w, 0, cta.handle}});
    return cta;
  }
  /// Every warp up to its next barrier; asks twice each time. @return false: all have exited
  bool to_barrier(PersistentSource& source, Cta& cta) {
    bool left = false;
    for (Warp& warp : cta.warps) {
      for (;;) {
        WarpCursor again = warp.cursor;
        const Instruction instruction = source.next(warp.cursor);
        EXPECT_EQ(source.next(again), instruction) << "a function of the cursor";
        EXPECT_EQ(again.position, warp.cursor.position);
        if (instruction.op == OpClass::Exit) break;
        now += tick;
        ++warp.fetched;
        ++warp.ops[instruction.op];
        if (instruction.op != OpClass::Barrier) continue;
        left = true;
        break;
      }
    }
    return left;
  }
  void to_end(PersistentSource& source, Cta& cta) {
    while (to_barrier(source, cta)) {
    }
    source.end_cta(cta.handle);
  }

  std::uint64_t now = 1000, slice = 0, tick = 0;
};

TEST_F(Persistent, EveryTaskOnceAcrossEvictions) {
  PersistentSource source = make(Polling::Basic);
  EXPECT_EQ(source.begin_launch(2), 2U);
  Cta a = begin(source), b = begin(source);
  to_barrier(source, a);
  to_barrier(source, b);
  to_barrier(source, a);
  EXPECT_EQ(source.begun(), 3U);
  EXPECT_EQ(source.ended(), 0U) << "one warp at the barrier is not yet the end of the task";
  source.evict();
  now += kDelay;
  to_end(source, a);
  to_end(source, b);
  EXPECT_EQ(source.begun(), 3U) << "none is claimed once the flag is seen";
  EXPECT_EQ(source.ended(), 3U) << "tasks that are begun are finished";
  EXPECT_EQ(source.begin_launch(8), kTasks - 3);
  Cta again = begin(source);
  to_end(source, again);
  EXPECT_TRUE(source.all_begun());
  EXPECT_EQ(source.ended(), kTasks);
}

TEST_F(Persistent, TheFlagIsOldByHalfARead) {
  PersistentSource source = make(Polling::Basic);
  (void)source.begin_launch(1);
  Cta cta = begin(source);
  source.evict();
  now += kDelay - 1;
  to_barrier(source, cta);
  EXPECT_EQ(source.begun(), 1U) << "what was read left host memory before the flag was set";
  now += 1;
  to_end(source, cta);
  EXPECT_EQ(source.begun(), 1U);
}

TEST_F(Persistent, OnlyTheProxyReadsHostMemory) {
  PersistentSource source = make(Polling::Proxy);
  EXPECT_EQ(source.begin_launch(3), 3U);
  const std::uint32_t proxy = source.begin_cta(0);
  WarpCursor polls{0, 0, 0, proxy}, idle{0, 1, 0, proxy};
  EXPECT_EQ(source.next(idle).op, OpClass::Exit);
  std::vector<LineAccess> lines;
  EXPECT_EQ(source.next(polls).op, OpClass::Load);
  source.lines(polls, 0, lines);
  EXPECT_GE(lines.front().address, kHostMemory);

  Cta worker = begin(source);
  EXPECT_EQ(source.next(worker.warps[0].cursor).op, OpClass::Load);
  lines.clear();
  source.lines(worker.warps[0].cursor, 0, lines);
  EXPECT_LT(lines.front().address, kHostMemory);

  source.evict();
  now += kDelay;
  to_barrier(source, worker);
  EXPECT_EQ(source.begun(), 1U) << "the proxy has not copied the flag yet";
  OpClass last = OpClass::Load;
  for (Instruction i = source.next(polls); i.op != OpClass::Exit; i = source.next(polls)) last = i.op;
  EXPECT_EQ(last, OpClass::Store);
  to_end(source, worker);
  EXPECT_EQ(source.begun(), 1U);
}

TEST_F(Persistent, TheProxyLeavesWithTheLastTask) {
  PersistentSource source = make(Polling::Proxy);
  (void)source.begin_launch(2);
  WarpCursor polls{0, 0, 0, source.begin_cta(0)};
  for (int i = 0; i < 20; ++i) EXPECT_NE(source.next(polls).op, OpClass::Exit);
  Cta worker = begin(source);
  to_end(source, worker);
  OpClass op = OpClass::Alu;
  for (int i = 0; i < 8 && op != OpClass::Exit; ++i) op = source.next(polls).op;
  EXPECT_EQ(op, OpClass::Exit);
}

/// The GPU runtime's loop has about 13 instructions of each warp and 35 of one thread.
TEST_F(Persistent, TheRuntimeTakes13InstructionsOfAWarpAnd35OfAThread) {
  PersistentSource source = make(Polling::Basic);
  (void)source.begin_launch(1);
  Cta cta = begin(source);
  to_end(source, cta);
  const unsigned rounds = kTasks + 1;  // the last finds none
  EXPECT_EQ(cta.warps[1].fetched - kTasks * kLength, 13 * rounds);
  EXPECT_EQ(cta.warps[0].fetched - cta.warps[1].fetched, 35 * rounds);
  EXPECT_EQ(cta.warps[0].ops[OpClass::Atomic], rounds);
  EXPECT_EQ(cta.warps[1].ops[OpClass::Barrier], rounds);
}

TEST_F(Persistent, AdaptiveReadsTheFlagTenTimesASlice) {
  tick = 1;
  // k = 1 through the first round, which takes the leader 48 + 5 instructions and the others' 13 + 5 each in this walk.
  constexpr std::uint64_t kRound = 48 + kLength + 2 * 13;
  for (const unsigned k : {1U, 3U}) {
    slice = 10 * k * kRound + 5 * kRound;
    PersistentSource source = make(Polling::Adaptive);
    EXPECT_EQ(source.check_interval(), 1U) << "no round is over yet";
    (void)source.begin_launch(2);
    (void)source.begin_cta(0);
    Cta cta = begin(source);
    to_end(source, cta);
    EXPECT_NEAR(source.check_interval(), k, 1);
    unsigned checks = 0;
    for (unsigned round = 0; round <= kTasks; ++round) checks += round == 0 || round % source.check_interval() == 0 ? 1 : 0;
    EXPECT_EQ(cta.warps[1].ops[OpClass::Load], checks);
  }
}

}  // namespace
}  // namespace sluice
