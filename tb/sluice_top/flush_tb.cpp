// SPDX-License-Identifier: Apache-2.0
// Kernels and contexts that are killed, in a small unit: 5 SMs, 3 kernel slots, 4 CTA slots. Seen from the host and the SMs
// alone; the assertions at the ports look on.
#include <Vsluice_top_checked.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"

namespace sluice {
namespace {

constexpr std::uint32_t kPlaces = 5 * 4;

class Flush : public testing::Test {
 protected:
  Flush() : world_(std::make_unique<RtlSluiceTop<Vsluice_top_checked, 2>>("", 1000, 5), 1) {
    world_.driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    world_.watch([this](const SluiceTopOut& out) {
      if (out.dispatch_valid) started_.push_back(out);
      if (out.flush_valid) told_.push_back(out);
      if (out.launched_valid) launched_.push_back(out);
    });
  }
  void never_report() { world_.let_ctas_last(2'000'000'000, 1'000'000'000); }
  void flush(unsigned slot) { EXPECT_TRUE(world_.bus().write32(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlFlush.put(1))); }
  void flush_context(std::uint32_t context) {
    EXPECT_TRUE(world_.bus().write32(regs::kControl, regs::kControlFlushContext.put(1) | regs::kControlContext.put(context)));
  }
  [[nodiscard]] regs::SlotState state(unsigned slot) { return world_.driver().slot_report(slot).state; }

  UnitWorld world_;
  std::vector<SluiceTopOut> started_, told_, launched_;
};

TEST_F(Flush, GivesBackEveryPlaceOfCtasThatNeverReport) {
  never_report();
  for (unsigned life = 0; life < 40; ++life) {  // the tag goes round twice
    started_.clear();
    world_.driver().launch(0, {{256, 8192, 1024, 1}, 1000, false});
    world_.run(100);
    ASSERT_EQ(started_.size(), kPlaces) << life;
    for (const SluiceTopOut& cta : started_) ASSERT_EQ(cta.dispatch_tag, life % 16);
    flush(0);
    world_.run(kPlaces + 5 + 8);
    ASSERT_EQ(state(0), regs::SlotState::kFree) << life;
    ASSERT_EQ(world_.driver().take_finished(), 1U);
    ASSERT_EQ(told_.size(), life + 1);
    EXPECT_EQ(told_.back().flush_tag, life % 16);
  }
  EXPECT_EQ(world_.driver().errors().bits, 0U);
}

TEST_F(Flush, LeavesTheOtherKernelAndDropsLateReports) {
  world_.let_ctas_last(400, 400);
  world_.driver().set_mode(Mode::Fcfs);
  for (const unsigned slot : {0U, 1U}) world_.driver().launch(slot, {{128, 1024, 0, 1}, 1000000, true, true});
  world_.driver().go();
  world_.run(150);
  ASSERT_GT(world_.driver().slot_report(0).resident, 4U);
  ASSERT_GT(world_.driver().slot_report(1).resident, 4U);
  flush(0);
  world_.run(60);
  EXPECT_EQ(state(0), regs::SlotState::kFree);
  EXPECT_EQ(world_.driver().slot_report(1).resident, kPlaces);  // it has taken the places
  world_.run(200);                                              // the reports of the CTAs that were given up come now
  EXPECT_EQ(world_.driver().slot_report(1).resident, kPlaces);
  EXPECT_EQ(state(1), regs::SlotState::kRunning);
  world_.driver().stop(1);
  world_.run(1000);
  EXPECT_EQ(state(1), regs::SlotState::kFree);
  EXPECT_EQ(world_.running(), 0U);
  EXPECT_EQ(world_.driver().errors().bits, 0U);
}

// Two kernel slots: two launches run, and two wait.
TEST_F(Flush, OfAContextIsOfItsKernelsAndLaunchesOnly) {
  never_report();
  EXPECT_TRUE(world_.bus().write32(regs::kPortSlots, 3));
  for (const std::uint8_t context : std::array<std::uint8_t, 4>{5, 6, 5, 7})
    world_.launch({4, 0, 0, 6, 100, 0, 1, 0, 0, context, 0});
  world_.run(100);
  ASSERT_EQ(started_.size(), 12U);
  EXPECT_EQ(world_.bus().read32(regs::kQueue), 2U);
  flush_context(8);  // nobody's
  world_.run(60);
  EXPECT_TRUE(told_.empty());
  started_.clear();
  flush_context(5);
  world_.run(100);
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_EQ(world_.driver().slot_report(1).resident, 6U);
  ASSERT_EQ(launched_.size(), 4U);
  EXPECT_TRUE(launched_[2].launched_flushed);
  EXPECT_FALSE(launched_[3].launched_flushed);
  ASSERT_EQ(started_.size(), 6U);
  for (const SluiceTopOut& cta : started_) EXPECT_EQ(cta.dispatch_place.context, 7);
  EXPECT_EQ(world_.bus().read32(regs::kQueue), 0U);
  EXPECT_EQ(world_.driver().errors().bits, 0U);
}

// A launch leaves the queue in a cycle around that of the flush: it is handed back or flushed, and no error is told.
TEST_F(Flush, OfAContextMeetsALaunchThatLeavesTheQueue) {
  EXPECT_TRUE(world_.bus().write32(regs::kPortSlots, 1));
  world_.let_ctas_last(60, 60);
  unsigned handed_back = 0, flushed = 0;
  for (unsigned delay = 0; delay < 100; ++delay) {
    launched_.clear();
    told_.clear();
    world_.launch({4, 0, 0, 1, 100, 0, 1, 0, 0, 6, 0});
    world_.launch({4, 0, 0, 1000000, 1000000, 0, 1, 0, 0, 5, 0});
    world_.run(delay);
    flush_context(5);
    world_.run(200);
    ASSERT_EQ(state(0), regs::SlotState::kFree) << delay;
    ASSERT_EQ(launched_.size(), 2U) << delay;
    ASSERT_NE(launched_[1].launched_flushed, told_.size() == 1) << delay;
    (launched_[1].launched_flushed ? handed_back : flushed) += 1;
  }
  EXPECT_GT(handed_back, 20U);
  EXPECT_GT(flushed, 20U);
  EXPECT_EQ(world_.driver().errors().bits, 0U);
}

// A kernel ends in a cycle around that in which the flush acts: no error is told, although its slot may be FREE by then.
TEST_F(Flush, OfAContextOrOfAllMeetsAKernelThatEnds) {
  EXPECT_TRUE(world_.bus().write32(regs::kPortSlots, 1));
  world_.let_ctas_last(60, 60);
  for (const std::uint32_t command :
       {regs::kControlFlushContext.put(1) | regs::kControlContext.put(5), regs::kControlFlushAll.put(1)}) {
    std::size_t flushed = 0;
    for (unsigned delay = 50; delay < 100; ++delay) {
      told_.clear();
      world_.launch({4, 0, 0, 1, 100, 0, 1, 0, 0, 5, 0});
      world_.run(delay);
      EXPECT_TRUE(world_.bus().write32(regs::kControl, command));
      world_.run(100);
      ASSERT_EQ(world_.driver().errors().bits, 0U) << delay;
      ASSERT_EQ(state(0), regs::SlotState::kFree) << delay;
      flushed += told_.size();
    }
    EXPECT_GT(flushed, 5U);
    EXPECT_LT(flushed, 45U);
  }
}

// The whole unit comes to rest: no launch is let in, what waits is handed back, what runs is flushed.
TEST_F(Flush, OfAllLeavesNothing) {
  never_report();
  EXPECT_TRUE(world_.bus().write32(regs::kPortSlots, 6));
  for (const std::uint8_t context : std::array<std::uint8_t, 4>{5, 6, 7, 8})
    world_.launch({4, 0, 0, 6, 100, 0, 1, 0, 0, context, 0});
  world_.driver().launch(0, {{128, 1024, 0, 1}, 1000, false});
  world_.run(100);
  EXPECT_TRUE(world_.bus().write32(regs::kPortSlots, 0));
  EXPECT_TRUE(world_.bus().write32(regs::kControl, regs::kControlFlushAll.put(1)));
  started_.clear();
  world_.run(3 * (5 + 8) + kPlaces);
  for (const unsigned slot : {0U, 1U, 2U}) EXPECT_EQ(state(slot), regs::SlotState::kFree);
  EXPECT_EQ(launched_.size(), 4U);
  EXPECT_EQ(world_.bus().read32(regs::kQueue), 0U);
  world_.launch({4, 0, 0, 6, 100, 0, 1, 0, 0, 5, 0});
  world_.run(100);
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(world_.driver().errors().bits, 0U);
}

// The unit is reset, the SMs are not: what they report of before ends no CTA of after.
TEST_F(Flush, AReportFromBeforeAResetIsLate) {
  for (unsigned life = 0; life < 20; ++life) {  // the tag goes round
    started_.clear();
    world_.let_ctas_last(400, 400);
    world_.driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    world_.driver().launch(0, {{256, 8192, 1024, 1}, 1000, false});
    world_.run(100);
    ASSERT_EQ(started_.size(), kPlaces) << life;
    for (const SluiceTopOut& cta : started_) ASSERT_EQ(cta.dispatch_tag, 2 * life % 16);
    world_.reset(false);
    started_.clear();
    world_.driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    never_report();
    world_.driver().launch(0, {{256, 8192, 1024, 1}, 1000, false});
    world_.run(600);  // the reports of before come
    ASSERT_EQ(started_.size(), kPlaces) << life;
    ASSERT_EQ(world_.driver().slot_report(0).resident, kPlaces);
    ASSERT_EQ(world_.driver().errors().bits, 0U);
    world_.reset(false);
  }
}

// The network is stuck: a flush takes the CTA back from the port in 2^5 cycles and says where it stood; the next kernel gets all
// places. A network that is slow alone loses nothing.
TEST_F(Flush, TakesACtaBackFromAPortThatIsStuck) {
  never_report();
  for (const bool slow : {true, false}) {
    started_.clear();
    world_.driver().launch(0, {{256, 8192, 1024, 1}, 7, false});
    world_.run(40);
    const std::size_t before = world_.running();
    world_.let_the_port_wait(true);
    world_.driver().launch(1, {{256, 8192, 1024, 1}, 1000, false});
    world_.run(40);
    const SluiceTopOut stuck = started_.back();  // each of its cycles at the port
    ASSERT_EQ(stuck.dispatch_kernel, 1);
    flush(1);
    world_.run(slow ? 20 : 1000);
    EXPECT_EQ(told_.empty(), slow);
    world_.let_the_port_wait(false);
    world_.run(kPlaces + 5 + 8);
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_EQ(state(1), regs::SlotState::kFree);
    EXPECT_EQ(world_.running() - before, slow ? 1U : 0U);
    const ErrorReport error = world_.driver().errors();
    EXPECT_EQ(error.first, slow ? "" : "PORT_STUCK");
    EXPECT_EQ(error.kernel, slow ? 0U : 1U);
    EXPECT_EQ(error.sm, slow ? 0U : unsigned{stuck.dispatch_sm});
    started_.clear();
    world_.driver().launch(2, {{256, 8192, 1024, 1}, 1000, false});
    world_.run(100);
    EXPECT_EQ(started_.size(), kPlaces - 7);
    for (const unsigned slot : {0U, 2U}) flush(slot);
    world_.run(3 * (kPlaces + 5 + 8));
    told_.clear();
  }
}

TEST_F(Flush, OfAFreeSlotOrBesideACommandIsRefused) {
  flush(1);
  world_.run(5);
  EXPECT_EQ(world_.driver().errors().first, "BAD_KERNEL");
  world_.driver().clear_errors();
  EXPECT_TRUE(world_.bus().write32(regs::slot(1, regs::kSlotCtrl), regs::kSlotCtrlFlush.put(1) | regs::kSlotCtrlStop.put(1)));
  world_.run(5);
  EXPECT_EQ(world_.driver().errors().first, "BAD_CONFIG");
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace sluice
