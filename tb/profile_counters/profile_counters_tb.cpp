// SPDX-License-Identifier: Apache-2.0
// Bench of profile_counters with one to four schedulers: the Verilated RTL against plain sums.
#include <Vprofile_counters.h>
#include <Vprofile_counters_1.h>
#include <Vprofile_counters_3.h>
#include <Vprofile_counters_4.h>
#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "systemc/unit/rtl/verilated_model.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr std::uint32_t kMaxShare = 8192;           // lines, of a share of 0
constexpr std::uint32_t kLongest = (1U << 16) - 1;  // cycles of a window

/// What the port says, against plain sums: instructions of the owner until the SM has made `share` requests.
template <class Top, unsigned kSchedulers>
void count_until_the_share_is_spent() {
  Random random(seed());
  Coverage coverage("profile_counters");
  coverage.declare("held", "the owner issues while not enabled");
  coverage.declare("foreign", "another kernel issues in the window");
  coverage.declare("cleared", "cleared while it counts");
  coverage.declare("share spent", "issues of the owner that do not count");
  coverage.declare("share left", "a window that ends within its share");
  coverage.declare("largest share", "more than the 8,192 requests of a share of 0");
  coverage.declare("longest window", "2^16 - 1 cycles, every scheduler issues in each, no request");
  VerilatedModel<Top> rtl(waveform("profile_counters"));
  std::uint32_t insts = 0, requests = 0, enabled = 0, share = 0, owner = 0;
  const auto cycle = [&](bool clear, bool enable, std::uint32_t issue, const std::array<std::uint32_t, kSchedulers>& kernels,
                         bool request) {
    rtl->clear_i = clear;
    rtl->enable_i = enable;
    rtl->issue_valid_i = static_cast<CData>(issue);
    std::uint32_t issue_kernel = 0;
    for (unsigned s = 0; s < kSchedulers; ++s) issue_kernel |= kernels[s] << 3 * s;
    rtl->issue_kernel_i = static_cast<std::remove_reference_t<decltype(rtl->issue_kernel_i)>>(issue_kernel);
    rtl->owner_i = static_cast<CData>(owner);
    rtl->request_i = request;
    rtl->minus_share_i = static_cast<SData>(clear ? 0x1fffU & (0U - share) : 0);
    rtl.low();
    rtl.high();
    const bool counts = enable && requests < (share == 0 ? kMaxShare : share);
    for (unsigned s = 0; s < kSchedulers; ++s) {
      if ((issue >> s & 1U) == 0) continue;
      const bool own = kernels[s] == owner;
      insts += counts && own ? 1 : 0;
      if (!enable && own) coverage.hit("held");
      if (enable && !own) coverage.hit("foreign");
      if (enable && own && !counts) coverage.hit("share spent");
    }
    requests += enable && request ? 1 : 0;
    enabled += enable ? 1 : 0;
    if (!clear) return;
    if (insts > 0) coverage.hit("cleared");
    insts = requests = enabled = 0;
  };
  cycle(true, false, 0, {}, false);
  const std::uint64_t cycles = campaign(600000, 20000000);
  std::uint64_t calm = 0;  // cycles of the longest window that are left
  bool calm_requests = true;
  unsigned since = 0;  // cycles without a count: it is whole in the second
  for (std::uint64_t c = 0; c < cycles; ++c) {
    const bool longest = c % 300000 == 100000, clear = longest || (calm == 0 && random.chance(0.001));
    if (clear && share != 0 && requests < share) coverage.hit("share left");
    if (longest) calm_requests = !calm_requests;
    if (clear) {
      share = longest || random.chance(0.2) ? 0 : random.in(1, random.chance(0.5) ? 40 : 2000);
      owner = random.in(0, 3);
    }
    const bool calm_now = calm > 0;
    // The longest window pauses now and then, to be looked at.
    const bool enable = !clear && enabled < kLongest && (calm_now ? !random.chance(0.001) : c % 64 < 56 && random.chance(0.9));
    const bool request = calm_now ? calm_requests : random.chance(0.3);
    std::array<std::uint32_t, kSchedulers> kernels;
    kernels.fill(owner);
    for (std::uint32_t& kernel : kernels) {
      if (!calm_now && random.chance(0.3)) kernel = random.in(0, 3);
    }
    constexpr std::uint32_t kAll = (1U << kSchedulers) - 1;
    cycle(clear, enable, calm_now ? kAll : random.in(0, kAll), kernels, request);
    calm = longest ? kLongest : calm - (calm > 0 && enable ? 1 : 0);
    since = enable ? 0 : since + 1;
    if (since > 0) {
      ASSERT_EQ(rtl->insts_o, insts) << "cycle " << c;
    }
    if (share == 0 && requests > kMaxShare) coverage.hit("largest share");
    if (insts == kSchedulers * kLongest) coverage.hit("longest window");
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

TEST(ProfileCounters, CountTheOwnersInstructionsUntilTheShareIsSpent) { count_until_the_share_is_spent<Vprofile_counters, 2>(); }
TEST(ProfileCounters, CountWithOneScheduler) { count_until_the_share_is_spent<Vprofile_counters_1, 1>(); }
TEST(ProfileCounters, CountWithThreeSchedulers) { count_until_the_share_is_spent<Vprofile_counters_3, 3>(); }
TEST(ProfileCounters, CountWithFourSchedulers) { count_until_the_share_is_spent<Vprofile_counters_4, 4>(); }

}  // namespace
}  // namespace sluice::tb
