// SPDX-License-Identifier: Apache-2.0
// The named configurations of results/synth/configurations.json. With CHURN kernels run 2^15 cycles under EVEN's plan before
// their first profile.
#include <Vsluice_top_full.h>
#include <Vsluice_top_plain.h>
#include <Vsluice_top_standard.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "tb/common/waveform.h"
#include "tb/sluice_top/four_kernels.h"
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
  tb::lockstep(rtl, kFull, tb::campaign(1000000, 10000000), tb::campaign(0, 1) == 1);
}

/// Four kernels come, are profiled and decided about. With SLUICE_FST_DIR, the activity that synth/options.py takes for power.
template <class Model>
void decides(const char* name, unsigned ready_sms, std::uint64_t life = 0) {
  UnitWorld world(std::make_unique<RtlSluiceTop<Model, 2>>(tb::waveform(name), 1000, ready_sms), 1);
  tb::launch_four_kernels(world, Mode::Dynamic, {.warm_up_cycles = 1500, .window_cycles = 1500});
  world.run(life + 16000);
  EXPECT_GT(world.driver().last_decision().count, 0U);
  EXPECT_GT(world.dispatched(), 2000U);
}

TEST(SluiceTop, NamedConfigurationsDecide) {
  decides<Vsluice_top_plain>("activity_small", 0);
  decides<Vsluice_top_standard>("activity_standard", 16);
  decides<Vsluice_top_full>("activity_full", 16, 1U << kFull.churn);
}

}  // namespace
}  // namespace sluice
