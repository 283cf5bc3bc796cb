// SPDX-License-Identifier: Apache-2.0
// The named configurations of results/synth/configurations.json. With CHURN kernels run 2^15 cycles under EVEN's plan before
// their first profile.
#include <Vsluice_top_full.h>
#include <Vsluice_top_plain.h>
#include <Vsluice_top_standard.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
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
  tb::lockstep(rtl, kFull, tb::campaign(1000000, 10000000), tb::campaign(0, 1) == 1);
}

/// Four kernels come, are profiled and decided about. With SLUICE_FST_DIR, the activity that synth/options.py takes for power.
template <class Model>
void decides(const char* name, unsigned ready_sms, std::uint64_t life = 0) {
  UnitWorld world(std::make_unique<RtlSluiceTop<Model, 2>>(tb::waveform(name), 1000, ready_sms), 1);
  world.let_ctas_last(400);
  world.driver().configure_machine({48 * kWarpSize, 32768, 49152, 8});
  world.driver().configure_sequencer({.warm_up_cycles = 1500, .window_cycles = 1500});
  world.driver().set_mode(Mode::Dynamic);
  tb::Random random(1);
  world.let_sms_act(16, [&random](std::uint64_t, std::vector<SmActivity>& sms) {
    for (SmActivity& sm : sms) {
      const std::uint32_t word = random.word();
      sm.issue_valid = word & 3;
      sm.issue_kernel = {static_cast<std::uint8_t>(word >> 8 & 3), static_cast<std::uint8_t>(word >> 12 & 3)};
      sm.request = word >> 29 == 0;
    }
  });
  for (const unsigned k : {0U, 1U, 2U, 3U}) world.driver().launch(k, {{128, 2048, 1024 * k, 1}, 1000000, true});
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
