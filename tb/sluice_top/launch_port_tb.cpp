// SPDX-License-Identifier: Apache-2.0
// The launch port of a small unit, beside its registers: 5 SMs, 3 kernel slots, 4 CTA slots, a queue of 2.
#include <Vsluice_top_small.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"

namespace sluice {
namespace {

class LaunchPort : public testing::Test {
 protected:
  LaunchPort() : world_(std::make_unique<RtlSluiceTop<Vsluice_top_small, 2>>("", 1000, 5), 1) {
    world_.let_ctas_last(50);
    world_.driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    world_.watch([this](const SluiceTopOut& out) {
      if (out.dispatch_valid) started_.push_back(out);
      if (out.launched_valid) told_.push_back(out);
      done_ |= out.kernel_done;
      flushes_ += out.flush_valid ? 1 : 0;
    });
  }
  void give_slots(std::uint32_t slots) { EXPECT_TRUE(world_.bus().write32(regs::kPortSlots, slots)); }

  UnitWorld world_;
  std::vector<SluiceTopOut> started_, told_;
  unsigned done_ = 0, flushes_ = 0;
};

TEST_F(LaunchPort, FirstCtaIsThereFourCyclesAfterTheHandshake) {
  give_slots(7);
  world_.run(20);
  const std::uint64_t handshake = world_.launch({4, 1024, 512, 3});
  world_.run(10);
  ASSERT_TRUE(world_.first_dispatch());
  EXPECT_EQ(*world_.first_dispatch() - handshake, 4U);
  // From the registers it is three behind the launch pulse, which comes with the write's response.
  world_.forget_first_dispatch();
  give_slots(0);
  world_.run(300);
  world_.driver().launch(1, {{128, 1024, 512, 1}, 3, false});
  world_.run(10);
  ASSERT_TRUE(world_.first_dispatch());
  EXPECT_EQ(*world_.first_dispatch() - world_.last_write(), 3U);
}

TEST_F(LaunchPort, WalksTheGridFromTheStartingBlock) {
  give_slots(4);
  world_.launch({1, 0, 0, 9, 3, 1, 2, 1, 7, 0x5a, 6});  // 3 x 2 CTAs a plane; from (1, 1, 7) on
  world_.run(300);
  ASSERT_EQ(started_.size(), 9U);
  const std::vector<GridPlace> places{{1, 1, 7}, {2, 1, 7}, {0, 0, 8}, {1, 0, 8}, {2, 0, 8},
                                      {0, 1, 8}, {1, 1, 8}, {2, 1, 8}, {0, 0, 9}};
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(started_[i].dispatch_cta, i);
    EXPECT_EQ(started_[i].dispatch_kernel, 2);
    EXPECT_EQ(started_[i].dispatch_place, (GridPlace{places[i].x, places[i].y, places[i].z, 0x5a, 6})) << i;
  }
  EXPECT_EQ(world_.bus().read32(regs::slot(2, regs::kSlotTags)), 0x6005aU);
  EXPECT_EQ(done_, 4U);
}

TEST_F(LaunchPort, LaunchesWaitInTheirOrderForASlot) {
  for (std::uint8_t context = 1; context <= 2; ++context) world_.launch({1, 0, 0, 5, 100, 0, 1, 0, 0, context, 0});
  world_.run(100);
  EXPECT_TRUE(started_.empty());  // no slot is the port's
  give_slots(2);
  world_.launch({1, 0, 0, 5, 100, 0, 1, 0, 0, 3, 0});
  world_.run(600);
  ASSERT_EQ(told_.size(), 3U);
  ASSERT_EQ(started_.size(), 15U);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(started_[i].dispatch_place.context, 1 + i / 5);
}

// LEFT_OVER. A kernel of the port fills the unit; one of higher priority, then the host's of the highest, issue their grids
// without a gap.
TEST_F(LaunchPort, ThePriorityOfALaunchDecidesWhoGoesFirst) {
  const auto in_a_row = [this](unsigned kernel) {
    const auto is = [kernel](const SluiceTopOut& out) { return out.dispatch_kernel == kernel; };
    const auto first = std::find_if(started_.begin(), started_.end(), is);
    return std::find_if_not(first, started_.end(), is) - first;
  };
  give_slots(6);
  world_.launch({1, 0, 0, 5000, 5000, 0, 1, 0, 0, 0, 1});
  world_.run(300);
  world_.launch({1, 0, 0, 12, 12, 0, 1, 0, 0, 0, 6});
  world_.run(300);
  EXPECT_EQ(in_a_row(2), 12);
  EXPECT_EQ(world_.bus().read32(regs::slot(1, regs::kSlotPriority)), 1U);
  EXPECT_EQ(world_.bus().read32(regs::slot(2, regs::kSlotPriority)), 6U);
  EXPECT_TRUE(world_.bus().write32(regs::slot(0, regs::kSlotPriority), 7));
  world_.driver().launch(0, {{32, 0, 0, 1}, 12, false});
  world_.run(300);
  EXPECT_EQ(in_a_row(0), 12);
  EXPECT_EQ(started_.back().dispatch_kernel, 1);
}

TEST_F(LaunchPort, ALaunchThatCannotFitIsRefusedAndTheNextGoesOn) {
  give_slots(1);
  world_.launch({49, 0, 0, 5});
  world_.launch({1, 0, 0, 5});
  world_.run(300);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_TRUE(told_[0].launched_refused);
  EXPECT_FALSE(told_[1].launched_refused);
  EXPECT_EQ(started_.size(), 5U);
  EXPECT_EQ(world_.driver().errors().bits, regs::kErrorCannotFit.put(1));
}

// A launch comes in each cycle around that in which a flush of context 5 acts, with a slot free and with none. One of context 5
// is flushed in its slot, or handed back, until then, and made if it comes later; in that cycle it gets no slot. One of another
// context is made.
TEST_F(LaunchPort, AFlushReachesWhatThePortTookUntilItActs) {
  world_.let_ctas_last(100, 100);
  give_slots(1);
  for (const bool free : {true, false}) {
    unsigned in_that_cycle = 0;
    for (unsigned delay = 0; delay < 12; ++delay) {
      for (const std::uint8_t context : std::array<std::uint8_t, 2>{5, 6}) {
        if (!free) world_.launch({1, 0, 0, 1, 100, 0, 1, 0, 0, 7, 0});
        world_.run(20);
        told_.clear();
        flushes_ = 0;
        const std::uint64_t comes = world_.now() + delay;
        world_.launch_at(comes, {1, 0, 0, 1, 100, 0, 1, 0, 0, context, 0});
        EXPECT_TRUE(world_.bus().write32(regs::kControl, regs::kControlFlushContext.put(1) | regs::kControlContext.put(5)));
        const std::uint64_t acts = world_.last_write() - 1;
        world_.run(500);
        const bool meant = context == 5 && comes <= acts, in_its_slot = free && comes < acts;
        in_that_cycle += comes == acts ? 1 : 0;
        ASSERT_EQ(told_.size(), 1U);
        EXPECT_EQ(told_[0].launched_flushed, meant && !in_its_slot) << "context " << unsigned{context} << ", cycle " << delay;
        EXPECT_EQ(flushes_, meant && in_its_slot ? 1U : 0U) << "context " << unsigned{context} << ", cycle " << delay;
      }
    }
    EXPECT_EQ(in_that_cycle, 2U);
  }
}

TEST_F(LaunchPort, TheHostCannotLaunchASlotOfThePort) {
  give_slots(1);
  EXPECT_TRUE(world_.bus().write32(regs::slot(0, regs::kSlotWarps), 3));
  EXPECT_EQ(world_.driver().errors().first, "SLOT_BUSY");
  world_.driver().clear_errors();
  EXPECT_TRUE(world_.bus().write32(regs::slot(0, regs::kSlotCtrl), regs::kSlotCtrlLaunch.put(1)));
  EXPECT_EQ(world_.driver().errors().first, "SLOT_BUSY");
  EXPECT_EQ(world_.bus().read32(regs::slot(0, regs::kSlotWarps)), 0U);
  world_.run(100);
  EXPECT_TRUE(started_.empty());
}

}  // namespace
}  // namespace sluice
