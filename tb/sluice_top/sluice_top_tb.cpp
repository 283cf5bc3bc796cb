// Bench of sluice_top: the Verilated RTL and its TLM twin under the same random host and SMs, compared at every port in every
// cycle. Quick by default; SLUICE_FULL=1 runs 10^7 cycles. SLUICE_SEED=n repeats a campaign.
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/sluice_top/top_traffic.h"

namespace sluice {
namespace {

TEST(SluiceTop, RtlAndTlmAgreeInEveryCycle) {
  tb::Random random(tb::seed());
  const regs::Parameters parameters{16, 4, 32, 2, 64};
  const auto rtl = make_rtl_sluice_top(parameters, "", 1000);
  const auto tlm = make_tlm_sluice_top(parameters);
  tb::TopTraffic traffic(random, parameters);
  const std::uint64_t cycles = tb::campaign(200000, 10000000);
  std::uint64_t profiled = 0, idle = 0;
  for (std::uint64_t c = 0; c < cycles; ++c) {
    const SluiceTopOut a = rtl->outputs(), b = tlm->outputs();
    ASSERT_EQ(port_difference(a, b), "") << "cycle " << c;
    profiled += a.profile_valid ? 1 : 0;
    idle += a.idle ? 1 : 0;
    const SluiceTopIn& in = traffic.next();
    rtl->clock(in);
    tlm->clock(in);
    traffic.observe(a);
  }
  std::printf("%llu cycles, %llu CTAs dispatched, %llu ended, %llu profile entries, %llu idle cycles\n",
              static_cast<unsigned long long>(cycles), static_cast<unsigned long long>(traffic.dispatched()),
              static_cast<unsigned long long>(traffic.ended()), static_cast<unsigned long long>(profiled),
              static_cast<unsigned long long>(idle));
  EXPECT_GT(profiled, cycles / 2000);
  EXPECT_GT(traffic.dispatched(), cycles / 100);
}

}  // namespace
}  // namespace sluice
