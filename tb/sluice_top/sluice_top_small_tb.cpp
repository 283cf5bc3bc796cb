// SPDX-License-Identifier: Apache-2.0
// The unit at a size where time-sharing of profiles, full SMs and collisions are frequent: 5 SMs, 3 kernel slots, 4 CTA slots.
#include <Vsluice_top_small.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "tb/common/waveform.h"
#include "tb/sluice_top/lockstep.h"

namespace sluice {
namespace {

constexpr regs::Parameters kSmall{5, 3, 4, 2, 16, 1, 1, 2, 5, 7, 1, 6};

TEST(SluiceTop, SmallRtlAgreesWithTwinAndGoldenInEveryCycle) {
  RtlSluiceTop<Vsluice_top_small, 2> rtl(tb::waveform("sluice_top_small"), 1000, 5);
  tb::lockstep(rtl, kSmall, tb::campaign(2000000, 10000000), true);
}

}  // namespace
}  // namespace sluice
