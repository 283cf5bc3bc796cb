// SPDX-License-Identifier: Apache-2.0
// Two programs on the example GPU, one that waits for memory and one that computes, in the modes of the unit: what they leave in
// memory is held against C++. The assertions of rtl/sluice_sva.sv watch the unit's ports meanwhile.
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/common/waveform.h"
#include "tb/example_gpu/example_gpu_world.h"

namespace sluice {
namespace {

const tb::ExampleProgram kGather{"gather", 0, 1, 0, 128, 0x1000}, kMix{"mix", 128, 2, 64, 128, 0x4000};
constexpr std::uint64_t kLongest = 200000;  ///< cycles; the pair takes a fraction
constexpr std::uint32_t kForgotten = 0xdeadbeef;

class ExamplePair : public testing::Test {
 protected:
  ExamplePair() : gpu_(tb::waveform("example_gpu")), random_(tb::seed()) {
    for (std::uint32_t i = 0; i < tb::kTableWords; ++i) {
      table_.push_back(random_.word());
      gpu_.write_memory(i, table_.back());
    }
    gpu_.load(0, kGather);
    gpu_.load(1, kMix);
  }

  void start(Mode mode) {
    gpu_.driver().configure_sequencer({256, 1024, 0, 0, 1.6, 32, 65536});
    gpu_.driver().set_mode(mode);
    gpu_.launch(0, kGather, true);
    gpu_.launch(1, kMix, true);
    gpu_.driver().go();
    began_ = gpu_.now();
  }

  void flush(unsigned slot) { ASSERT_TRUE(gpu_.bus().write32(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlFlush.put(1))); }

  /// What a run has left says nothing of the next one, which leaves the same.
  void forget(const tb::ExampleProgram& program) {
    for (std::uint32_t g = 0; g < program.threads(); ++g) gpu_.write_memory(program.result_at / 4 + g, kForgotten);
  }

  void expect_results(const tb::ExampleProgram& program, const std::vector<std::uint32_t>& results) {
    for (std::uint32_t g = 0; g < program.threads(); ++g)
      ASSERT_EQ(gpu_.read_memory(program.result_at / 4 + g), results[g]) << program.name << ", thread " << g;
  }

  /// Both end; what they computed is right.
  void finish() {
    ASSERT_TRUE(gpu_.finish(0, kLongest) && gpu_.finish(1, kLongest)) << "a kernel does not end";
    std::printf("%llu cycles for both\n", static_cast<unsigned long long>(gpu_.now() - began_));
    expect_results(kGather, tb::gather_results(table_, kGather.threads()));
    expect_results(kMix, tb::mix_results(kMix.threads(), kMix.warps * 8));
    EXPECT_FALSE(gpu_.illegal());
    gpu_.driver().require_no_error();
  }

  tb::ExampleGpu gpu_;
  tb::Random random_;
  std::vector<std::uint32_t> table_;
  std::uint64_t began_ = 0;
};

class ExampleModes : public ExamplePair, public testing::WithParamInterface<Mode> {};

TEST_P(ExampleModes, BothProgramsLeaveTheRightResults) {
  start(GetParam());
  finish();
}

INSTANTIATE_TEST_SUITE_P(
    ExampleGpu, ExampleModes, testing::Values(Mode::LeftOver, Mode::Even, Mode::Dynamic), [](const auto& mode) {
      return std::string(mode.param == Mode::LeftOver ? "LeftOver" : mode.param == Mode::Even ? "Even" : "Dynamic");
    });

TEST_F(ExamplePair, DynamicGivesTheProgramThatComputesMoreWarpsThanEven) {
  start(Mode::Dynamic);
  for (int i = 0; i < 1000 && gpu_.driver().last_decision().count == 0; ++i) gpu_.run(64);
  const DecisionReport decided = gpu_.driver().last_decision();
  ASSERT_EQ(decided.count, 1U) << "no decision";
  EXPECT_FALSE(decided.spatial || decided.no_fit || decided.no_profile);
  std::printf("decision after %llu cycles: %u and %u CTAs\n", static_cast<unsigned long long>(gpu_.now() - began_),
              decided.ctas[0], decided.ctas[1]);
  EXPECT_GT(decided.ctas[1] * kMix.warps, tb::kExampleWarps / 2);
  EXPECT_LE(decided.ctas[0] + decided.ctas[1] * kMix.warps, tb::kExampleWarps);
  finish();
}

TEST_F(ExamplePair, AnEvictedProgramLeavesAndComesBack) {
  start(Mode::LeftOver);
  gpu_.run(2000);
  const SlotReport before = gpu_.driver().slot_report(0);
  EXPECT_EQ(before.resident, tb::kExampleSms * tb::kExampleWarps) << "the older kernel has every warp";
  EXPECT_EQ(gpu_.driver().slot_report(1).dispatched, 0U);
  gpu_.driver().evict(0, 65535);
  for (int i = 0; i < 1000 && !gpu_.driver().evicted(0); ++i) gpu_.run(16);
  const SlotReport gone = gpu_.driver().slot_report(0);
  EXPECT_EQ(gone.resident, 0U);
  EXPECT_LT(gone.dispatched, kGather.ctas);
  gpu_.run(1000);
  EXPECT_EQ(gpu_.driver().slot_report(0).dispatched, gone.dispatched) << "dispatched while evicted";
  EXPECT_EQ(gpu_.driver().slot_report(1).resident, tb::kExampleSms * tb::kExampleWarps / kMix.warps)
      << "the other has every warp";
  gpu_.driver().resume(0);
  finish();
}

// The flushed program's CTAs never report. The other program and a third take what they held.
TEST_F(ExamplePair, AFlushedProgramsPlacesGoToTheOtherAndToAThird) {
  start(Mode::LeftOver);
  gpu_.run(2000);
  const SlotReport before = gpu_.driver().slot_report(0);
  EXPECT_EQ(before.resident, tb::kExampleSms * tb::kExampleWarps) << "the older kernel has every warp";
  flush(0);
  ASSERT_TRUE(gpu_.finish(0, 256)) << "the flushed kernel does not end";
  gpu_.run(200);
  EXPECT_EQ(gpu_.driver().slot_report(1).resident, tb::kExampleSms * tb::kExampleWarps / kMix.warps)
      << "the other has every warp";
  forget(kGather);
  gpu_.launch(0, kGather, false);
  finish();
}

// Loads are under way then, and CTAs are about to start: what comes in their place takes neither answers nor state.
TEST_F(ExamplePair, AFlushAtAnyMomentLeavesTheNextRunRight) {
  const tb::ExampleProgram* const programs[] = {&kGather, &kMix};
  start(Mode::LeftOver);
  for (int round = 0; round < 20; ++round) {
    gpu_.run(random_.in(1, 3000));
    const bool both = random_.chance(0.7);
    const unsigned first = both ? 0 : random_.word() % 2;
    flush(first);
    if (both) {  // the second takes the places of the first just now
      gpu_.run(random_.in(1, 60));
      flush(1);
    }
    for (unsigned slot = first; slot < (both ? 2U : first + 1); ++slot) {
      ASSERT_TRUE(gpu_.finish(slot, 256)) << "the flushed kernel does not end, round " << round;
      forget(*programs[slot]);
      gpu_.launch(slot, *programs[slot], false);
    }
    finish();
    if (HasFatalFailure()) return;
    for (const tb::ExampleProgram* program : programs) forget(*program);
    for (unsigned s = 0; s < 2; ++s) gpu_.launch(s, *programs[s], false);
  }
  finish();
}

// A CTA that runs on would store what the next run stores anyway, and its report would be dropped: only a look at the memory
// before the next run tells. One of the other program that is killed and reported would leave results of an earlier run.
TEST_F(ExamplePair, NothingOfAFlushedProgramRunsOn) {
  const tb::ExampleProgram* const programs[] = {&kGather, &kMix};
  start(Mode::Even);
  for (int round = 0; round < 8; ++round) {
    gpu_.run(random_.in(400, 2500));
    const unsigned slot = random_.word() % 2, other = 1 - slot;
    const SlotReport report = gpu_.driver().slot_report(slot);
    EXPECT_GT(report.resident, 0U) << "nothing to flush in round " << round;
    flush(slot);
    ASSERT_TRUE(gpu_.finish(slot, 256)) << "the flushed kernel does not end, round " << round;
    gpu_.run(64);  // stores on their way arrive
    forget(*programs[slot]);
    ASSERT_TRUE(gpu_.finish(other, kLongest));
    for (std::uint32_t g = 0; g < programs[slot]->threads(); ++g)
      ASSERT_EQ(gpu_.read_memory(programs[slot]->result_at / 4 + g), kForgotten)
          << "a CTA that was given up stored, round " << round;
    expect_results(*programs[other],
                   other == 0 ? tb::gather_results(table_, kGather.threads()) : tb::mix_results(kMix.threads(), kMix.warps * 8));
    if (HasFatalFailure()) return;
    for (const tb::ExampleProgram* program : programs) forget(*program);
    for (unsigned s = 0; s < 2; ++s) gpu_.launch(s, *programs[s], false);
  }
  finish();
}

// A front end launches the first program through the port, the host the second by the registers.
TEST_F(ExamplePair, ProgramsFromBothSidesRun) {
  EXPECT_TRUE(gpu_.bus().write32(regs::kPortSlots, 1));
  began_ = gpu_.launch_at_the_port(kGather);
  gpu_.run(1);  // told two cycles after the handshake
  EXPECT_EQ(gpu_.pins().launched_valid_o, 1);
  EXPECT_EQ(gpu_.pins().launched_kernel_o, 0);
  gpu_.launch(1, kMix, false);
  finish();
}

TEST_F(ExamplePair, AnSmThatStartsLargeCtasHoldsTheDispatchPort) {
  tb::ExampleProgram large = kMix;  // four warps start in four cycles, in which the port names the SM again
  large.warps = 4;
  large.scratch = 128;
  large.ctas = 64;
  gpu_.load(1, large);
  gpu_.driver().set_mode(Mode::Fcfs);
  gpu_.launch(1, large, false);
  ASSERT_TRUE(gpu_.finish(1, kLongest));
  expect_results(large, tb::mix_results(large.threads(), large.warps * 8));
  gpu_.driver().require_no_error();
}

TEST_F(ExamplePair, AnIllegalInstructionEndsItsLanesAndIsReported) {
  for (const std::uint32_t word :
       {0x00000000U, 0x02b54533U, 0x00051503U, 0xc8002573U, 0x0000100fU, 0x00152023U}) {  // the last: SW to byte 1
    gpu_.write_program(200, 0x00100513);                                                  // li a0, 1
    gpu_.write_program(201, word);
    gpu_.write_program(202, 0x0000006f);  // for ever
    gpu_.pins().rst_ni = 0;
    gpu_.run(1);
    gpu_.pins().rst_ni = 1;
    gpu_.run(8);
    ASSERT_FALSE(gpu_.illegal());
    tb::ExampleProgram program{"gather", 0, 1, 0, 3, 0};
    gpu_.load(0, program);
    gpu_.pins().entry_i = 200;
    gpu_.driver().configure_machine({tb::kExampleWarps * kWarpSize, 2048, 1024, tb::kExampleWarps});
    gpu_.launch(0, program, false);
    EXPECT_TRUE(gpu_.finish(0, 1000)) << std::hex << word;
    EXPECT_TRUE(gpu_.illegal()) << std::hex << word;
  }
}

}  // namespace
}  // namespace sluice
