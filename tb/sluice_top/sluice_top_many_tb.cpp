// SPDX-License-Identifier: Apache-2.0
// The unit with every option and all eight kernel slots: 16 SMs of 8 CTA slots.
#include <Vsluice_top_many.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "tb/common/waveform.h"
#include "tb/sluice_top/lockstep.h"

namespace sluice {
namespace {

constexpr regs::Parameters kMany{16, 8, 8, 2, 64, 1, 1, 2, 1, 9, 1, 6, 1};

TEST(SluiceTop, ManyKernelsRtlAgreesWithTwinAndGoldenInEveryCycle) {
  RtlSluiceTop<Vsluice_top_many, 2> rtl(tb::waveform("sluice_top_many"), 1000, 16);
  tb::lockstep(rtl, kMany, tb::campaign(kCountsCoverage ? 900000 : 300000, 10000000), tb::campaign(0, 1) == 1);
}

}  // namespace
}  // namespace sluice
