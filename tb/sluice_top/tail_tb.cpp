// SPDX-License-Identifier: Apache-2.0
// A kernel whose grid has been sent, beside one that has CTAs left (docs/reference/blocks/partition_sequencer.md): with TAIL its
// share is given to the other, else it is idle. Seen from the SMs: they hold one CTA of the first kernel each.
#include <Vsluice_top_many.h>
#include <Vsluice_top_small.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"

namespace sluice {
namespace {

/// CTAs that all SMs hold in the end.
template <class Top, unsigned kSms>
std::size_t held(Mode mode, std::uint32_t slots) {
  UnitWorld world(std::make_unique<RtlSluiceTop<Top, 2>>("", 1000, kSms), 1);
  SluiceDriver& driver = world.driver();
  driver.configure_machine({48 * kWarpSize, 32768, 49152, slots});
  driver.configure_sequencer({2000, 1024, 0, 0, 1.2});
  driver.set_mode(mode);
  world.let_ctas_last(2'000'000'000, 1'000'000'000);
  driver.launch(0, {{kWarpSize, 256, 0, 1}, kSms, false});
  world.run(300);
  EXPECT_EQ(world.running(), kSms);
  driver.launch(1, {{kWarpSize, 256, 0, 1}, 1000000, false});
  world.run(30000);
  constexpr bool kTail = std::is_same_v<Top, Vsluice_top_many>;
  EXPECT_EQ(driver.slot_report(0).state, kTail ? regs::SlotState::kDraining : regs::SlotState::kRunning);
  EXPECT_EQ(driver.errors().bits, 0U);
  return world.running();
}

// 16 SMs of 8 CTA slots, with the option.
TEST(Tail, HoldsNoShare) {
  for (const Mode mode : {Mode::LeftOver, Mode::Even, Mode::Spatial, Mode::Dynamic})
    EXPECT_EQ((held<Vsluice_top_many, 16>(mode, 8)), 128U) << static_cast<int>(mode);
}

// 5 SMs of 4 CTA slots, without: half of each SM, or the first 3 SMs but for a CTA each.
TEST(Tail, WithoutTheOptionItHoldsItsShare) {
  EXPECT_EQ((held<Vsluice_top_small, 5>(Mode::LeftOver, 4)), 20U);
  EXPECT_EQ((held<Vsluice_top_small, 5>(Mode::Even, 4)), 15U);
  EXPECT_EQ((held<Vsluice_top_small, 5>(Mode::Spatial, 4)), 11U);
  EXPECT_LT((held<Vsluice_top_small, 5>(Mode::Dynamic, 4)), 16U);
}

}  // namespace
}  // namespace sluice
