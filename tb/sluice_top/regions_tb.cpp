// SPDX-License-Identifier: Apache-2.0
// SMs that place CTAs themselves, first fit, where the unit gives them no region: whatever the mode changes to, no two CTAs have
// the same registers. Seen from the SMs: 5 of them, 3 kernel slots, 4 CTA slots, regions of 2,048 registers.
#include <Vsluice_top_checked.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"

namespace sluice {
namespace {

constexpr std::uint64_t kLife = 400;
constexpr std::uint32_t kUnit = 2048;
constexpr std::array<std::uint32_t, 3> kUnits{4, 6, 2};  // of a CTA, by kernel slot

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
    world_.driver().launch(slot, {{32, kUnits[slot] * kUnit, 0, 1}, ctas, false});
  }

  void start(const SluiceTopOut& out) {
    auto& units = taken_until_[out.dispatch_sm];
    const std::uint32_t size = kUnits[out.dispatch_kernel];
    std::uint32_t first = out.dispatch_register_base / kUnit;
    const auto is_free = [&] {
      return std::all_of(&units.at(first), &units.at(first) + size, [this](auto until) { return until <= world_.now(); });
    };
    while (!out.dispatch_region_valid && first + size <= units.size() && !is_free()) ++first;
    if (first + size > units.size()) return;  // in pieces
    ASSERT_TRUE(is_free()) << "cycle " << world_.now() << ", SM " << int{out.dispatch_sm} << ", unit " << first;
    std::fill_n(&units.at(first), size, world_.now() + kLife);
    regions_[out.dispatch_kernel] += out.dispatch_region_valid ? 1 : 0;
  }

  UnitWorld world_;
  std::array<std::array<std::uint64_t, 16>, 5> taken_until_{};
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
