// SPDX-License-Identifier: Apache-2.0
// EVEN: an n-th of an SM holds as many CTAs as fit to the last warp, register and byte
// (docs/reference/blocks/partition_sequencer.md), whatever is left of the others. Random demands hardly ever fill an SM exactly.
// The SMs have four CTA slots. A kernel that is alone has no share.
#include <Vsluice_top_small.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/random.h"

namespace sluice {
namespace {

TEST(SluiceTop, EvenSharesAreCountedToTheLastByte) {
  UnitWorld world(std::make_unique<RtlSluiceTop<Vsluice_top_small, 2>>("", 1000, 5), 1);
  SluiceDriver& driver = world.driver();
  tb::Random random(tb::seed());
  world.let_ctas_last(20);
  driver.set_mode(Mode::Even);
  for (unsigned i = 0; i < tb::campaign(2000, 50000); ++i) {
    const unsigned kernels = random.in(2, 3), judged = random.in(0, 2);
    const std::uint32_t fit = random.in(1, 4 / kernels), scarce = random.in(0, 2);
    const std::uint32_t missing = random.in(0, 1);
    const std::uint32_t expected = fit == missing ? 4 : fit - missing;  // a share without a CTA: SM ranges, and all slots in them
    const std::array<std::uint32_t, 3> most{64, 65536, 233472};         // of an SM: warps, registers, shared memory
    std::array<std::uint32_t, 3> cta{}, sm{};
    for (std::uint32_t r = 0; r < 3; ++r) {
      const bool none = r > 0 && r != scarce && random.chance(0.2);  // of registers or shared memory
      cta[r] = none ? 0 : random.in(4, most[r] / (kernels * fit));
      const std::uint32_t need = kernels * fit * cta[r];
      sm[r] = r == scarce ? need - missing : random.chance(0.3) ? most[r] : random.in(need, most[r]);
    }
    driver.configure_machine({sm[0] * kWarpSize, sm[1], sm[2], 4});
    driver.launch(judged, {{cta[0] * kWarpSize, cta[1], cta[2], 1}, 1000000, true});
    for (unsigned other = 1; other < kernels; ++other) driver.launch((judged + other) % 3, {{kWarpSize, 0, 0, 1}, 1000000, true});
    world.run(150);
    ASSERT_EQ(driver.slot_report(judged).ctas, expected)
        << "of " << cta[0] << ", " << cta[1] << ", " << cta[2] << " in " << sm[0] << ", " << sm[1] << ", " << sm[2] << ", "
        << kernels << " kernels, slot " << judged;
    for (unsigned k = 0; k < kernels; ++k) driver.stop((judged + k) % 3);
    world.run(60);
  }
}

}  // namespace
}  // namespace sluice
