// SPDX-License-Identifier: Apache-2.0
// EVEN: half of an SM holds as many CTAs as fit to the last warp, register and byte (docs/reference/blocks/occupancy_counter.md).
// Random demands hardly ever fill an SM exactly. Of its four CTA slots each of two kernels has two.
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
    const std::uint32_t fit = 2, scarce = random.in(0, 2), missing = random.in(0, 1);
    const std::array<std::uint32_t, 3> most{64, 65536, 233472};  // of an SM: warps, registers, shared memory
    std::array<std::uint32_t, 3> cta{}, sm = most;
    for (std::uint32_t r = 0; r < 3; ++r) cta[r] = random.in(4, most[r] / (2 * fit));
    sm[scarce] = 2 * fit * cta[scarce] - missing;
    driver.configure_machine({sm[0] * kWarpSize, sm[1], sm[2], 4});
    driver.launch(0, {{cta[0] * kWarpSize, cta[1], cta[2], 1}, 1000000, true});
    driver.launch(1, {{kWarpSize, 0, 0, 1}, 1000000, true});
    world.run(150);
    ASSERT_EQ(driver.slot_report(0).ctas, fit - missing)
        << "of " << cta[0] << ", " << cta[1] << ", " << cta[2] << " in " << sm[0] << ", " << sm[1] << ", " << sm[2];
    for (const unsigned k : {0U, 1U}) driver.stop(k);
    world.run(60);
  }
}

}  // namespace
}  // namespace sluice
