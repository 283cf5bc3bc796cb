// SPDX-License-Identifier: Apache-2.0
// The named configurations of results/synth/configurations.json.
#include <Vsluice_top_full.h>
#include <Vsluice_top_plain.h>
#include <Vsluice_top_standard.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "tb/common/waveform.h"
#include "tb/sluice_top/lockstep.h"

namespace sluice {
namespace {

constexpr regs::Parameters kPlain{16, 4, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, kStandard{16, 4, 8, 2, 0, 0, 1, 2, 12, 16, 1, 0, 0},
    kFull{16, 4, 8, 2, 64, 1, 1, 2, 12, 16, 1, 15, 1};

TEST(SluiceTop, SmallConfigurationAgreesInEveryCycle) {
  RtlSluiceTop<Vsluice_top_plain, 2> rtl(tb::waveform("sluice_top_plain"), 1000);
  tb::lockstep(rtl, kPlain, tb::campaign(300000, 10000000), tb::campaign(0, 1) == 1);
}

TEST(SluiceTop, StandardConfigurationAgreesInEveryCycle) {
  RtlSluiceTop<Vsluice_top_standard, 2> rtl(tb::waveform("sluice_top_standard"), 1000, 16);
  tb::lockstep(rtl, kStandard, tb::campaign(300000, 10000000), tb::campaign(0, 1) == 1);
}

TEST(SluiceTop, FullConfigurationAgreesInEveryCycle) {
  RtlSluiceTop<Vsluice_top_full, 2> rtl(tb::waveform("sluice_top_full"), 1000, 16);
  tb::lockstep(rtl, kFull, tb::campaign(300000, 10000000), tb::campaign(0, 1) == 1);
}

}  // namespace
}  // namespace sluice
