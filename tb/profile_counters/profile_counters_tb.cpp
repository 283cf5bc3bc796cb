// Bench of profile_counters: the Verilated RTL against plain sums.
#include <Vprofile_counters.h>
#include <gtest/gtest.h>

#include <bit>

#include "systemc/partition/verilated_model.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr std::uint32_t kLongest = (1U << 16) - 1;  // cycles of a window

TEST(ProfileCounters, CountWhileEnabledAndHold) {
  Random random(seed());
  Coverage coverage("profile_counters");
  coverage.declare("held", "activity while not enabled");
  coverage.declare("cleared", "cleared while it counts");
  coverage.declare("longest window", "2^16 - 1 cycles, all stalled, both schedulers issue");
  VerilatedModel<Vprofile_counters> rtl(waveform("profile_counters"));
  std::uint32_t insts = 0, stalls = 0, enabled = 0;
  const auto cycle = [&](bool clear, bool enable, std::uint32_t issue, bool stall) {
    rtl->clear_i = clear;
    rtl->enable_i = enable;
    rtl->issue_i = static_cast<CData>(issue);
    rtl->stall_i = stall;
    rtl.low();
    rtl.high();
    insts = clear ? 0 : insts + (enable ? static_cast<std::uint32_t>(std::popcount(issue)) : 0);
    stalls = clear ? 0 : stalls + (enable && stall ? 1 : 0);
    enabled = clear ? 0 : enabled + (enable ? 1 : 0);
  };
  cycle(true, false, 0, false);
  // Short windows with everything, then the longest.
  const std::uint64_t cycles = campaign(600000, 20000000);
  std::uint64_t calm = 0;  // cycles that are not to be disturbed
  for (std::uint64_t c = 0; c < cycles; ++c) {
    if (c % 300000 == 100000) calm = kLongest + 1000;
    calm -= calm > 0 ? 1 : 0;
    const bool clear = calm == kLongest + 999 || (calm == 0 && random.chance(0.001));
    const bool enable = enabled < kLongest && (calm > 0 || random.chance(0.9)), stall = calm > 0 || random.chance(0.4);
    const std::uint32_t issue = calm > 0 ? 3 : random.in(0, 3);
    if (!enable && issue != 0 && stall) coverage.hit("held");
    if (clear && insts > 0) coverage.hit("cleared");
    cycle(clear, enable, issue, stall);
    ASSERT_EQ(rtl->insts_o, insts) << "cycle " << c;
    ASSERT_EQ(rtl->stalls_o, stalls) << "cycle " << c;
    if (stalls == kLongest && insts == 2 * kLongest) coverage.hit("longest window");
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
