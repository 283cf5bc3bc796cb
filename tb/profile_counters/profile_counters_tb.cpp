// Bench of profile_counters: the Verilated RTL against plain saturating sums.
#include <Vprofile_counters.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "systemc/partition/verilated_model.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr std::uint32_t kMostInsts = (1U << 18) - 1, kMostStalls = (1U << 16) - 1;

TEST(ProfileCounters, CountWhileEnabledHoldAndSaturate) {
  Random random(seed());
  Coverage coverage("profile_counters");
  coverage.declare("held", "activity while not enabled");
  coverage.declare("cleared", "cleared while it counts");
  coverage.declare("reset", "a reset in mid-count");
  coverage.declare("instructions saturate", "at 2^18 - 1");
  coverage.declare("stalls saturate", "at 2^16 - 1");
  VerilatedModel<Vprofile_counters> rtl(waveform("profile_counters"));
  std::uint32_t insts = 0, stalls = 0;
  const auto cycle = [&](bool reset, bool clear, bool enable, std::uint32_t issue, bool stall) {
    rtl->rst_ni = !reset;
    rtl->clear_i = clear;
    rtl->enable_i = enable;
    rtl->issue_i = static_cast<CData>(issue);
    rtl->stall_i = stall;
    rtl.low();
    rtl.high();
    insts = clear || reset ? 0 : std::min(kMostInsts, insts + (enable ? static_cast<std::uint32_t>(std::popcount(issue)) : 0));
    stalls = clear || reset ? 0 : std::min(kMostStalls, stalls + (enable && stall ? 1 : 0));
  };
  cycle(true, false, false, 0, false);
  // Short windows with everything, then long ones that saturate.
  const std::uint64_t cycles = campaign(600000, 20000000);
  std::uint64_t calm = 0;  // cycles that are not to be disturbed
  for (std::uint64_t c = 0; c < cycles; ++c) {
    if (c % 300000 == 100000) calm = 150000;
    calm -= calm > 0 ? 1 : 0;
    const bool reset = calm == 0 && random.chance(0.0005), clear = calm == 0 && random.chance(0.001);
    const bool enable = calm > 0 || random.chance(0.9), stall = calm > 0 || random.chance(0.4);
    const std::uint32_t issue = calm > 0 && calm < 140000 ? 3 : random.in(0, 3);
    if (!enable && issue != 0 && stall) coverage.hit("held");
    if (clear && insts > 0) coverage.hit("cleared");
    if (reset && insts > 0) coverage.hit("reset");
    cycle(reset, clear, enable, issue, stall);
    ASSERT_EQ(rtl->insts_o, insts) << "cycle " << c;
    ASSERT_EQ(rtl->stalls_o, stalls) << "cycle " << c;
    if (insts == kMostInsts && issue == 3) coverage.hit("instructions saturate");
    if (stalls == kMostStalls && stall) coverage.hit("stalls saturate");
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
