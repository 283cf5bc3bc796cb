// SPDX-License-Identifier: Apache-2.0
// The unit of the standard point with DYNAMIC alone, with BALANCE beside it, and with BALANCE alone: what synth/modes.py takes
// for power. With SLUICE_FST_DIR each leaves the activity of a decision and of some thousand cycles after it.
#include <Vsluice_top_both.h>
#include <Vsluice_top_dynamic.h>
#include <Vsluice_top_only_balance.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice {
namespace {

/// Four kernels come, are measured and decided about. @return cycles until the decision
template <class Model>
std::uint64_t decides(const char* name, Mode mode) {
  UnitWorld world(std::make_unique<RtlSluiceTop<Model, 2>>(tb::waveform(name), 1000), 1);
  world.let_ctas_last(400);
  world.driver().configure_machine({48 * kWarpSize, 32768, 49152, 8});
  world.driver().configure_sequencer({.warm_up_cycles = 600, .window_cycles = 1024});
  world.driver().set_mode(mode);
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
  std::uint64_t cycles = 0;
  for (; world.driver().last_decision().count == 0 && cycles < 200000; cycles += 500) world.run(500);
  EXPECT_GT(world.driver().last_decision().count, 0U) << name;
  world.run(4000);
  return cycles;
}

TEST(BalanceModes, EachDecides) {
  const std::uint64_t dynamic = decides<Vsluice_top_dynamic>("activity_dynamic", Mode::Dynamic);
  const std::uint64_t beside = decides<Vsluice_top_both>("activity_both_dynamic", Mode::Dynamic);
  EXPECT_EQ(dynamic, beside) << "BALANCE beside it changes DYNAMIC";
  EXPECT_GT(decides<Vsluice_top_both>("activity_both_balance", Mode::Balance), dynamic);
  EXPECT_GT(decides<Vsluice_top_only_balance>("activity_only_balance", Mode::Balance), dynamic);
}

}  // namespace
}  // namespace sluice
