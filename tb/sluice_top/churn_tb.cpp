// SPDX-License-Identifier: Apache-2.0
// Short kernels beside long ones in DYNAMIC, without and with CHURN (docs/reference/blocks/partition_sequencer.md, Churn), on the
// twin of the unit, which other benches hold equal to the RTL.
#include <gtest/gtest.h>

#include "systemc/unit/rtl/unit_world.h"
#include "systemc/unit/twin/sluice_top.h"
#include "tb/common/random.h"

namespace sluice {
namespace {

class Churn : public testing::Test {
 protected:
  /// @param life log2 of the least life in cycles; 0: the option is off
  void build(std::uint32_t sms, std::uint32_t kernels, std::uint32_t life) {
    regs::Parameters parameters{sms, kernels, 4, 2, 0};
    parameters.churn = life;
    auto twin = std::make_unique<SluiceTopTwin>(parameters);
    twin_ = twin.get();
    world_ = std::make_unique<UnitWorld>(std::move(twin), tb::seed());
    world_->let_ctas_last(1000, 500);
    world_->driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    world_->driver().configure_sequencer({20000, 5120, 0, 0, 1.2});
    world_->let_sms_act(sms, [](std::uint64_t now, std::vector<SmActivity>& all) {
      for (SmActivity& sm : all) {
        sm.issue_valid = 3;
        for (std::size_t s = 0; s < 2; ++s) sm.issue_kernel[s] = static_cast<std::uint8_t>((now + s) % 3);
      }
    });
    world_->watch([this](const SluiceTopOut& out) {
      windows_ += out.profile_window && !in_window_ ? 1 : 0;
      in_window_ = out.profile_window;
      for (unsigned k = 0; k < held_.size(); ++k) held_[k] += twin_->dispatcher().resident[k];
      ++cycles_;
    });
    world_->driver().set_mode(Mode::Dynamic);
  }
  void launch(unsigned slot, std::uint32_t grid, bool repeat) {
    world_->driver().launch(slot, {{32, 512, 256, 1}, grid, repeat});
  }
  void launch_one_after_the_other(unsigned slot, unsigned count, std::uint32_t grid) {
    for (unsigned i = 0; i < count; ++i) {
      launch(slot, grid, false);
      while (twin_->dispatcher().state[slot] != regs::SlotState::kFree) world_->run(1);
    }
  }
  void begin() {
    windows_ = cycles_ = 0;
    held_ = {};
  }
  [[nodiscard]] double average(unsigned slot) const { return static_cast<double>(held_[slot]) / static_cast<double>(cycles_); }
  [[nodiscard]] std::uint32_t decisions() { return world_->driver().last_decision().count; }

  std::unique_ptr<UnitWorld> world_;
  SluiceTopTwin* twin_ = nullptr;
  std::uint64_t windows_ = 0, cycles_ = 0;
  std::array<std::uint64_t, kMaxKernelSlots> held_{};
  bool in_window_ = false;
};

// Two SMs of four CTA slots; 60 kernels of 24 CTAs, some 5,000 cycles each, beside a long one.
TEST_F(Churn, WithoutItShortKernelsKeepALongOneInTheProfileLayout) {
  build(2, 2, 0);
  launch(0, 1000000, true);
  begin();
  launch_one_after_the_other(1, 60, 24);
  std::printf("without CHURN: %u decisions, %.2f of 8 CTAs, %llu cycles\n", decisions(), average(0),
              static_cast<unsigned long long>(cycles_));
  EXPECT_EQ(decisions(), 0U);
  EXPECT_LT(average(0), 3.0);
}

TEST_F(Churn, ShortKernelsShareEvenlyWithALongOne) {
  build(2, 2, 15);
  launch(0, 1000000, true);
  begin();
  launch_one_after_the_other(1, 60, 24);
  std::printf("CHURN = 15: %u decisions, %.2f and %.2f of 8 CTAs, %llu cycles\n", decisions(), average(0), average(1),
              static_cast<unsigned long long>(cycles_));
  EXPECT_EQ(windows_, 0U) << "a profile of kernels that do not live as long";
  EXPECT_GT(average(0), 3.7);
  EXPECT_GT(average(1), 2.5);
}

// Two long kernels are profiled once. Each end of a short one is followed by a decision by their curves.
TEST_F(Churn, LongKernelsAreProfiledOnce) {
  build(4, 3, 15);
  launch(0, 1000000, true);
  launch(1, 1000000, true);
  while (decisions() == 0) world_->run(100);
  const std::uint64_t first = windows_;
  begin();
  launch_one_after_the_other(2, 20, 24);
  world_->run(5000);
  std::printf("two long kernels: %llu windows, then %llu in 20 short ones; %u decisions; %.2f and %.2f of 16 CTAs\n",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(windows_), decisions(), average(0),
              average(1));
  EXPECT_EQ(windows_, 0U);
  EXPECT_GE(decisions(), 2U);
  EXPECT_EQ(world_->driver().sequencer_state(), regs::SequencerState::kMonitor);
}

// A third long kernel is profiled on its own SMs; the others go on elsewhere.
TEST_F(Churn, ANewcomerIsProfiledOnItsOwnSms) {
  build(4, 3, 15);
  launch(0, 1000000, true);
  launch(1, 1000000, true);
  while (decisions() == 0) world_->run(100);
  const std::uint32_t before = decisions();
  launch(2, 1000000, true);
  while (world_->driver().sequencer_state() != regs::SequencerState::kProfile) world_->run(10);
  begin();
  while (in_window_ || cycles_ == 0) world_->run(1);
  std::printf("a newcomer is profiled: the others hold %.2f and %.2f CTAs meanwhile\n", average(0), average(1));
  EXPECT_GT(average(0), 2.0);
  EXPECT_GT(average(1), 2.0);
  while (decisions() == before) world_->run(100);
  EXPECT_EQ(world_->driver().sequencer_state(), regs::SequencerState::kMonitor);
}

}  // namespace
}  // namespace sluice
