// SPDX-License-Identifier: Apache-2.0
// SMs that place CTAs themselves, first fit, where the unit gives them no region: whatever the mode changes to, no two CTAs have
// the same registers. Seen from the SMs: 5 of them, 3 kernel slots, 4 CTA slots, regions of 2,048 registers.
#include <Vsluice_top_checked.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"

namespace sluice {
namespace {

constexpr std::uint64_t kLife = 400;
constexpr std::array<std::uint32_t, 3> kRegisters{8192, 12288, 4096};  // of a CTA, by kernel slot

class Regions : public testing::Test {
 protected:
  Regions() : world_(std::make_unique<RtlSluiceTop<Vsluice_top_checked, 2>>("", 1000, 5), 1) {
    world_.let_ctas_last(kLife, kLife);
    world_.driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    world_.watch([this](const SluiceTopOut& out) {
      if (out.dispatch_valid) start(out);
    });
  }
  void launch(unsigned slot, std::uint32_t ctas = 1000000) {
    world_.driver().launch(slot, {{32, kRegisters[slot], 0, 1}, ctas, false});
  }

  struct Cta {
    std::uint64_t ends = 0;
    std::uint32_t first = 0, size = 0;
  };
  [[nodiscard]] const Cta* on(std::uint8_t sm, std::uint32_t first, std::uint32_t size) const {
    for (const Cta& cta : sms_[sm])
      if (cta.ends > world_.now() && first < cta.first + cta.size && cta.first < first + size) return &cta;
    return nullptr;
  }
  void start(const SluiceTopOut& out) {
    std::uint32_t first = out.dispatch_register_base;
    const std::uint32_t size = kRegisters[out.dispatch_kernel];
    if (out.dispatch_region_valid) {
      ++regions_[out.dispatch_kernel];
    } else {
      first = 0;
      while (const Cta* there = on(out.dispatch_sm, first, size)) first = there->first + there->size;
    }
    ASSERT_EQ(on(out.dispatch_sm, first, size), nullptr)
        << "cycle " << world_.now() << ", SM " << int{out.dispatch_sm} << ", registers from " << first << " on";
    sms_[out.dispatch_sm][out.dispatch_slot] = {world_.now() + kLife, first, size};
  }

  UnitWorld world_;
  std::array<std::array<Cta, 4>, 5> sms_{};
  std::array<unsigned, 3> regions_{};
};

TEST_F(Regions, AChangeOfModeGivesNoneBesideACtaThatTheSmPlaced) {
  world_.driver().set_mode(Mode::Spatial);
  launch(0);
  world_.run(150);
  EXPECT_EQ(regions_[0], 0U);
  world_.driver().set_mode(Mode::Fcfs);
  launch(1);
  world_.run(3000);
  EXPECT_GT(regions_[0], 20U);  // when what the SMs placed has ended
  EXPECT_GT(regions_[1], 20U);
}

// The range of the third kernel is SM 4, which is disabled: all fall back to LEFT_OVER.
TEST_F(Regions, AFallBackGivesNoneBesideACtaThatTheSmPlaced) {
  EXPECT_TRUE(world_.bus().write32(regs::kSmEnable, 0xf));
  world_.driver().set_mode(Mode::Spatial);
  for (const unsigned slot : {0U, 1U}) launch(slot, 6);  // no SM is full
  world_.run(150);
  EXPECT_EQ(regs::kStatusFellBack.get(world_.bus().read32(regs::kStatus).value()), 0U);
  launch(2);
  world_.run(100);
  EXPECT_EQ(regs::kStatusFellBack.get(world_.bus().read32(regs::kStatus).value()), 1U);
  EXPECT_EQ(regions_[2], 0U);  // every SM has placed a CTA
}

}  // namespace
}  // namespace sluice
