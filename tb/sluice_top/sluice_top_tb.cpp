// SPDX-License-Identifier: Apache-2.0
// Bench of sluice_top: the Verilated RTL and its twin under the same random host and SMs, compared at every port in every
// cycle, and held against the golden dispatch model and the golden decision. Quick by default; SLUICE_FULL=1 runs 10^7 cycles.
// SLUICE_SEED=n repeats a campaign.
#include <Vsluice_top_16.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/waveform.h"
#include "tb/sluice_top/lockstep.h"

namespace sluice {
namespace {

constexpr regs::Parameters kParameters{16, 4, 32, 2, 64};

std::unique_ptr<ISluiceTop> make_rtl() {
  return std::make_unique<RtlSluiceTop<Vsluice_top_16, 2>>(tb::waveform("sluice_top"), 1000);
}

TEST(SluiceTop, RtlAgreesWithTwinAndGoldenInEveryCycle) {
  const auto rtl = make_rtl();
  tb::lockstep(*rtl, kParameters, tb::campaign(300000, 10000000), tb::campaign(0, 1) == 1);
}

/// A unit with two kernels running: 16 SMs of 8 slots.
class SluiceTopErrors : public testing::Test {
 protected:
  SluiceTopErrors() : world_(make_rtl(), 1) {
    SluiceDriver& driver = world_.driver();
    driver.configure_machine({48 * kWarpSize, 32768, 49152, 8});
    driver.configure_sequencer({2000, 2048, 0, 0, 1.2});
    world_.let_ctas_last(500);
    driver.launch(0, {{64, 1024, 0, 1}, 1000000, true});
    driver.launch(1, {{128, 2048, 1024, 1}, 1000000, true});
    world_.run(3000);
    EXPECT_EQ(driver.errors().bits, 0U);
  }
  /// The error is there, with its origin, stays until it is cleared, and harms nothing: CTAs start and end as before.
  void expect_sticky(const char* name, const regs::Field& bit, unsigned kernel, unsigned sm = 0) {
    world_.run(4);  // the dispatcher answers two cycles after a command
    for (int look = 0; look < 2; ++look) {
      const ErrorReport report = world_.driver().errors();
      EXPECT_EQ(report.bits, bit.put(1)) << name;
      EXPECT_EQ(report.first, name);
      EXPECT_EQ(report.kernel, kernel) << name;
      EXPECT_EQ(report.sm, sm) << name;
      world_.run(200);
    }
    world_.driver().clear_errors();
    EXPECT_EQ(world_.driver().errors().bits, 0U) << name;
    const std::uint64_t before = world_.dispatched();
    world_.run(2000);
    EXPECT_GT(world_.dispatched(), before + 100) << name << ": dispatch stopped";
    EXPECT_EQ(world_.driver().errors().bits, 0U) << name;
    // Everything that was taken comes back: no row of the resource table was damaged.
    for (const unsigned slot : {0U, 1U}) world_.driver().stop(slot);
    world_.run(3000);
    for (const unsigned slot : {0U, 1U}) {
      EXPECT_EQ(world_.driver().slot_report(slot).resident, 0U) << name;
      EXPECT_EQ(world_.driver().slot_report(slot).state, regs::SlotState::kFree) << name;
    }
    EXPECT_EQ(world_.running(), 0U) << name;
    world_.driver().launch(2, {{48 * kWarpSize, 32768, 49152, 1}, 16, false});  // as large as an SM, on each
    const std::uint64_t whole = world_.dispatched();
    world_.run(100);
    EXPECT_EQ(world_.dispatched(), whole + 16) << name << ": an SM lost something";
    EXPECT_EQ(world_.driver().errors().bits, 0U) << name;
  }
  void write(std::uint32_t address, std::uint32_t value) { EXPECT_TRUE(world_.bus().write32(address, value)); }

  UnitWorld world_;
};

TEST_F(SluiceTopErrors, DoneOfACtaThatWasNeverDispatchedIsBadDone) {
  world_.claim_end(3, 31);  // beyond the 8 slots
  world_.run(2);
  expect_sticky("BAD_DONE", regs::kErrorBadDone, 0, 3);
}
TEST_F(SluiceTopErrors, DoneOnNoSmIsBadDone) {
  world_.claim_end(200, 0);
  world_.run(2);
  expect_sticky("BAD_DONE", regs::kErrorBadDone, 0, 200);
}
TEST_F(SluiceTopErrors, DescriptorThatCannotFitIsRefused) {
  write(regs::slot(2, regs::kSlotWarps), 49);
  write(regs::slot(2, regs::kSlotGrid), 1);
  write(regs::slot(2, regs::kSlotCtrl), regs::kSlotCtrlLaunch.put(1));
  expect_sticky("CANNOT_FIT", regs::kErrorCannotFit, 2);
}
TEST_F(SluiceTopErrors, LaunchOfABusySlotIsRefused) {
  write(regs::slot(1, regs::kSlotCtrl), regs::kSlotCtrlLaunch.put(1));
  expect_sticky("SLOT_BUSY", regs::kErrorSlotBusy, 1);
}
TEST_F(SluiceTopErrors, DescriptorOfABusySlotIsNotChanged) {
  write(regs::slot(1, regs::kSlotWarps), 5);
  EXPECT_EQ(world_.bus().read32(regs::slot(1, regs::kSlotWarps)), 4U);
  expect_sticky("SLOT_BUSY", regs::kErrorSlotBusy, 1);
}
TEST_F(SluiceTopErrors, ModeThatDoesNotExistIsRefused) {
  write(regs::kMode, 6);
  EXPECT_EQ(world_.bus().read32(regs::kMode), 0U);
  expect_sticky("BAD_MODE", regs::kErrorBadMode, 0);
}
TEST_F(SluiceTopErrors, CapacityUnderRunningKernelsIsRefused) {
  write(regs::kCapWarps, 32);
  EXPECT_EQ(world_.bus().read32(regs::kCapWarps), 48U);
  expect_sticky("BAD_CONFIG", regs::kErrorBadConfig, 0);
}
TEST_F(SluiceTopErrors, WindowBelowItsRangeIsRefused) {
  write(regs::kWindow, 1023);
  EXPECT_EQ(world_.bus().read32(regs::kWindow), 2048U);
  expect_sticky("BAD_CONFIG", regs::kErrorBadConfig, 0);
}
TEST_F(SluiceTopErrors, EvictOfAFreeSlotIsRefused) {
  write(regs::slot(3, regs::kSlotCtrl), regs::kSlotCtrlEvict.put(1) | regs::kSlotCtrlEvictCount.put(1));
  expect_sticky("BAD_KERNEL", regs::kErrorBadKernel, 3);
}
TEST_F(SluiceTopErrors, StopOfAFreeSlotIsRefused) {
  write(regs::slot(2, regs::kSlotCtrl), regs::kSlotCtrlStop.put(1));
  expect_sticky("BAD_KERNEL", regs::kErrorBadKernel, 2);
}
TEST_F(SluiceTopErrors, ModeChangeInADecisionTakesEffectAndIsReported) {
  world_.driver().set_mode(Mode::Dynamic);
  world_.run(1000);
  ASSERT_EQ(world_.driver().sequencer_state(), regs::SequencerState::kWarmUp);
  write(regs::kMode, static_cast<std::uint32_t>(Mode::LeftOver));
  EXPECT_EQ(world_.driver().sequencer_state(), regs::SequencerState::kIdle);
  EXPECT_EQ(world_.driver().last_decision().count, 0U);
  expect_sticky("MODE_IN_DECISION", regs::kErrorModeInDecision, 0);
}
TEST_F(SluiceTopErrors, DecisionKeepsTheThresholdsItBeganWith) {
  const auto window = world_.bus().read32(regs::kWindow), limit = world_.bus().read32(regs::kLossLimit);
  world_.driver().set_mode(Mode::Dynamic);
  world_.run(1000);
  ASSERT_EQ(world_.driver().sequencer_state(), regs::SequencerState::kWarmUp);
  for (const std::uint32_t address : {regs::kEpsilon, regs::kWindow, regs::kLossLimit}) write(address, 4096);
  EXPECT_EQ(world_.bus().read32(regs::kEpsilon), 0U);
  EXPECT_EQ(world_.bus().read32(regs::kWindow), window);
  EXPECT_EQ(world_.bus().read32(regs::kLossLimit), limit);
  expect_sticky("BAD_CONFIG", regs::kErrorBadConfig, 0);
}
TEST_F(SluiceTopErrors, ResetAtAnyCycleLeavesACleanUnit) {
  std::mt19937_64 random(tb::seed());
  for (int i = 0; i < 8; ++i) {
    world_.driver().set_mode(i % 2 == 0 ? Mode::Dynamic : Mode::Fcfs);
    world_.run(std::uniform_int_distribution<std::uint64_t>(0, 6000)(random));
    world_.reset();
    SluiceDriver& driver = world_.driver();
    EXPECT_EQ(driver.errors().bits, 0U);
    EXPECT_EQ(driver.sequencer_state(), regs::SequencerState::kIdle);
    for (unsigned slot = 0; slot < 4; ++slot) EXPECT_EQ(driver.slot_report(slot).state, regs::SlotState::kFree);
    driver.configure_machine({48 * kWarpSize, 32768, 49152, 8});
    driver.configure_sequencer({2000, 2048, 0, 0, 1.2});
    driver.launch(2, {{48 * kWarpSize, 32768, 49152, 1}, 16, false});
    const std::uint64_t before = world_.dispatched();
    world_.run(100);
    EXPECT_EQ(world_.dispatched(), before + 16) << "an SM is not empty after reset";
    world_.run(1000);
    driver.launch(0, {{64, 1024, 0, 1}, 1000000, true});
    driver.launch(1, {{128, 2048, 1024, 1}, 1000000, true});
  }
}

}  // namespace
}  // namespace sluice
