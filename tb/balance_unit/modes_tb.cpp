// SPDX-License-Identifier: Apache-2.0
// The unit of the standard point with DYNAMIC alone, with BALANCE beside it, and with BALANCE alone: what synth/modes.py takes
// for power. With SLUICE_FST_DIR each leaves the activity of a decision and of some thousand cycles after it.
#include <Vsluice_top_both.h>
#include <Vsluice_top_dynamic.h>
#include <Vsluice_top_only_balance.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "tb/common/waveform.h"
#include "tb/sluice_top/four_kernels.h"

namespace sluice {
namespace {

/// Four kernels come, are measured and decided about. @return cycles until the decision
template <class Model>
std::uint64_t decides(const char* name, Mode mode) {
  UnitWorld world(std::make_unique<RtlSluiceTop<Model, 2>>(tb::waveform(name), 1000), 1);
  tb::launch_four_kernels(world, mode, {.warm_up_cycles = 600, .window_cycles = 1024});
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
