// SPDX-License-Identifier: Apache-2.0
// The ledger of CTAs, on events that are written here: what it must accept, and each thing that it must refuse. Two SMs of two
// CTA slots; a kernel of three CTAs, of which two fit on an SM.
#include <gtest/gtest.h>

#include "tb/sluice_top/cta_ledger.h"

namespace sluice::tb {
namespace {

class Ledger : public testing::Test {
 protected:
  Ledger() : ledger_(kParameters) {
    config_.capacity_warps = 48;
    config_.capacity_registers = 32768;
    config_.capacity_shared = 49152;
    config_.capacity_slots = 2;
    config_.demand_warps[1] = 8;
    config_.demand_registers[1] = 16384;
    config_.grid[1] = 3;
    config_.launch[1] = true;
    pass();
    config_.launch[1] = false;
    state_[1] = regs::SlotState::kRunning;
    pass();
  }

  void pass() {
    const std::string wrong = ledger_.observe(out_, in_, config_, state_);
    if (wrong_.empty()) wrong_ = wrong;
    out_.dispatch_valid = in_.done_valid = out_.flush_valid = false;
    out_.kernel_done = 0;
  }
  void start(int sm, int slot, std::uint32_t cta) {
    out_.dispatch_valid = true;
    out_.dispatch_kernel = 1;
    out_.dispatch_sm = static_cast<std::uint8_t>(sm);
    out_.dispatch_slot = static_cast<std::uint8_t>(slot);
    out_.dispatch_cta = cta;
    pass();
  }
  void end(int sm, int slot, int tag = 0) {
    in_.done_valid = true;
    in_.done_kernel = 1;
    in_.done_sm = static_cast<std::uint8_t>(sm);
    in_.done_slot = static_cast<std::uint8_t>(slot);
    in_.done_tag = static_cast<std::uint8_t>(tag);
    pass();
  }
  void kernel_ends() {
    out_.kernel_done = 2;
    state_[1] = regs::SlotState::kFree;
    pass();
  }
  void run_all() {
    start(0, 0, 0);
    start(0, 1, 1);
    end(0, 0);
    start(0, 0, 2);
    end(0, 1);
    end(0, 0);
  }

  static constexpr regs::Parameters kParameters{2, 2, 4, 2, 0, 0, 0, 0, 1};
  CtaLedger ledger_;
  SluiceTopOut out_;
  SluiceTopIn in_;
  SluiceConfig config_;
  PerKernel<regs::SlotState> state_{};
  std::string wrong_;
};

TEST_F(Ledger, AcceptsAKernelThatRunsToItsEnd) {
  run_all();
  kernel_ends();
  EXPECT_EQ(wrong_, "");
  EXPECT_EQ(ledger_.counts().completed, 1U);
  EXPECT_EQ(ledger_.counts().ended, 3U);
  EXPECT_FALSE(ledger_.kernels()[1]);
}
TEST_F(Ledger, RefusesACtaThatIsSkipped) {
  start(0, 0, 0);
  start(0, 1, 2);
  EXPECT_EQ(wrong_, "kernel slot 1: CTA 2 of 3 starts, expected 1");
}
TEST_F(Ledger, RefusesACtaThatStartsTwice) {
  start(0, 0, 0);
  start(1, 0, 0);
  EXPECT_EQ(wrong_, "kernel slot 1: CTA 0 of 3 starts, expected 1");
}
TEST_F(Ledger, RefusesACtaBehindTheLast) {
  run_all();
  start(1, 0, 3);
  EXPECT_EQ(wrong_, "kernel slot 1: CTA 3 of 3 starts, expected 3");
}
TEST_F(Ledger, RefusesASlotThatIsTaken) {
  start(0, 0, 0);
  start(0, 0, 1);
  EXPECT_EQ(wrong_, "SM 0: CTA slot 0 is given twice, or is none of 2");
}
TEST_F(Ledger, RefusesASlotBeyondTheCapacity) {
  start(0, 2, 0);
  EXPECT_EQ(wrong_, "SM 0: CTA slot 2 is given twice, or is none of 2");
}
TEST_F(Ledger, RefusesMoreThanAnSmHolds) {
  config_.capacity_registers = 16385;
  start(0, 0, 0);
  start(0, 1, 1);
  EXPECT_EQ(wrong_, "SM 0 holds 16 warps, 32768 registers, 0 bytes: beyond 48, 16385, 49152");
}
TEST_F(Ledger, RefusesAnEndBeforeTheLastCta) {
  start(0, 0, 0);
  end(0, 0);
  kernel_ends();
  EXPECT_EQ(wrong_, "kernel slot 1 ends after 1 of 3 CTAs");
}
TEST_F(Ledger, RefusesAnEndWhileACtaRuns) {
  config_.stop[1] = true;
  start(0, 0, 0);
  kernel_ends();
  EXPECT_EQ(wrong_, "kernel slot 1 ends, but 1 of its CTAs run");
}
TEST_F(Ledger, RefusesALaunchThatIsLost) {
  config_.demand_warps[0] = 1;
  config_.grid[0] = 1;
  config_.launch[0] = true;
  pass();
  config_.launch[0] = false;
  pass();
  EXPECT_EQ(wrong_, "kernel slot 0: a launch that fits is lost");
}
TEST_F(Ledger, ACtaThatWasGivenUpIsNotEndedByItsLateReport) {
  start(0, 0, 0);
  config_.flush[1] = true;
  pass();
  config_.flush[1] = false;
  out_.flush_valid = true;
  out_.flush_kernel = 1;
  pass();
  kernel_ends();
  end(0, 0);
  EXPECT_EQ(wrong_, "");
  EXPECT_EQ(ledger_.counts().flushed, 1U);
  EXPECT_EQ(ledger_.counts().given_up, 1U);
  EXPECT_EQ(ledger_.counts().ended, 0U);
}

}  // namespace
}  // namespace sluice::tb
