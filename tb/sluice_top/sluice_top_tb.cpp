// Bench of sluice_top: the Verilated RTL and its TLM twin under the same random host and SMs, compared at every port in every
// cycle. Quick by default; SLUICE_FULL=1 runs 10^7 cycles. SLUICE_SEED=n repeats a campaign.
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/sluice_top/top_traffic.h"

namespace sluice {
namespace {

std::string difference(const SluiceTopOut& a, const SluiceTopOut& b) {
  if (a.axi != b.axi) return "s_axi";
  if (a.irq != b.irq) return "irq_o";
  if (a.dispatch_valid != b.dispatch_valid) return "dispatch_valid_o";
  if (a.dispatch_valid &&
      (a.dispatch_sm != b.dispatch_sm || a.dispatch_kernel != b.dispatch_kernel || a.dispatch_slot != b.dispatch_slot ||
       a.dispatch_cta != b.dispatch_cta || a.dispatch_register_base != b.dispatch_register_base ||
       a.dispatch_shared_base != b.dispatch_shared_base))
    return "dispatch_*_o";
  if (a.profile_valid != b.profile_valid) return "profile_valid_o";
  if (a.profile_valid &&
      (a.profile_kernel != b.profile_kernel || a.profile_ctas != b.profile_ctas || a.profile_scaled != b.profile_scaled))
    return "profile_*_o";
  if (a.idle != b.idle) return "idle_o";
  return "";
}

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
    ASSERT_EQ(difference(a, b), "") << "cycle " << c;
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
