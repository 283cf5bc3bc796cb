// SPDX-License-Identifier: Apache-2.0
// Pipelines of sub-cores, and the barriers of control bits.
#include <gtest/gtest.h>

#include "systemc/sm/control_barriers.h"
#include "systemc/sm/copy_groups.h"
#include "systemc/sm/sub_core_pipes.h"

namespace sluice {
namespace {

SmConfig two_schedulers() {
  SmConfig sm;
  sm.schedulers = 2;
  sm.sub_core.modelled = true;
  for (PipeConfig& p : sm.sub_core.pipes) p = {2, 4};
  sm.sub_core.pipes[static_cast<std::size_t>(Pipe::None)] = {1, 1};
  return sm;
}

Instruction alu(Pipe pipe) {
  Instruction i;
  i.op = OpClass::Alu;
  i.pipe = pipe;
  return i;
}

/// Instructions that a scheduler, which always has one more, begins in `cycles`.
unsigned begun(SubCorePipes& pipes, std::uint32_t scheduler, Pipe pipe, std::uint64_t cycles) {
  unsigned count = 0;
  for (std::uint64_t now = 0; now < cycles; ++now) {
    pipes.want(scheduler, 0, alu(pipe));
    if ((pipes.open(scheduler, now, false) & 1) == 0) continue;
    (void)pipes.begin(scheduler, alu(pipe), now);
    ++count;
  }
  return count;
}

TEST(SubCorePipes, TheTwoHalvesOfTheFmaPipelineTakeAnInstructionACycle) {
  SubCorePipes pipes(two_schedulers());
  EXPECT_EQ(begun(pipes, 0, Pipe::Fma, 100), 100U);
}

TEST(SubCorePipes, WholeNumberMultiplyAddsHaveTheHeavyHalfAlone) {
  SubCorePipes pipes(two_schedulers());
  EXPECT_EQ(begun(pipes, 0, Pipe::Imad, 100), 50U);
}

TEST(SubCorePipes, SchedulersShareNothing) {
  SubCorePipes pipes(two_schedulers());
  EXPECT_EQ(begun(pipes, 0, Pipe::Int, 100) + begun(pipes, 1, Pipe::Int, 100), 100U);
}

TEST(SubCorePipes, ABusyPipelineSaysWhenItIsFree) {
  SubCorePipes pipes(two_schedulers());
  pipes.want(0, 3, alu(Pipe::Int));
  EXPECT_EQ(pipes.begin(0, alu(Pipe::Int), 10), 14U);
  EXPECT_EQ(pipes.open(0, 11, false) & 8, 0U);
  EXPECT_EQ(pipes.next_free(0, 8, 10), 12U);
}

TEST(SubCorePipes, AMatrixInstructionHoldsItsPipelineForItsShape) {
  SubCorePipes pipes(two_schedulers());
  Instruction wide;
  wide.op = OpClass::Tensor;
  wide.interval = 128;
  pipes.want(0, 0, wide);
  EXPECT_EQ(pipes.begin(0, wide, 10), 10U + 128 - 2 + 4);
  EXPECT_EQ(pipes.next_free(0, 1, 10), 138U);
  wide.interval = 1;  // the machine's interval is the least
  pipes.want(1, 0, wide);
  EXPECT_EQ(pipes.begin(1, wide, 10), 14U);
}

TEST(Barriers, AreFreeWhenAllWhoTookThemAreThrough) {
  Barriers barriers;
  EXPECT_EQ(barriers.ready(63), 0U);
  barriers.take(1);
  barriers.take(1);
  barriers.released(1, 40);
  EXPECT_EQ(barriers.ready(1U << 1), kNever);
  EXPECT_EQ(barriers.ready(1U << 0), 0U);
  barriers.released(1, 30);
  EXPECT_EQ(barriers.ready(1U << 1), 40U);
  barriers.until(2, 55);
  EXPECT_EQ(barriers.ready(0b110), 55U);
}

TEST(CopyGroups, WaitsForAllButTheYoungest) {
  CopyGroups copies;
  const std::uint8_t first = copies.begin();
  copies.commit();
  const std::uint8_t second = copies.begin();
  copies.commit();
  EXPECT_FALSE(copies.done(1));
  copies.ended(first);
  EXPECT_TRUE(copies.done(1));
  EXPECT_FALSE(copies.done(0));
  copies.ended(second);
  EXPECT_TRUE(copies.done(0));
}

}  // namespace
}  // namespace sluice
