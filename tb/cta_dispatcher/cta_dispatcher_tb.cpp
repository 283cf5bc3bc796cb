// Bench of the CTA dispatcher: random traffic holds the Verilated RTL, its TLM twin and the golden model against each other in
// every cycle, at several sizes. Quick by default; SLUICE_FULL=1 runs the long campaign.
#include <Vcta_dispatcher_16.h>
#include <Vcta_dispatcher_counts.h>
#include <Vcta_dispatcher_small.h>
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"
#include "tb/cta_dispatcher/trio.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kSmall{2, 2, 4, 16};
constexpr CtaDispatcherParams kFermi{16, 4, 8, 64};
constexpr CtaDispatcherParams kCounts{5, 8, 5, 0};

TEST(CtaDispatcher, SmallAgreesWithTlmAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  tb::Coverage coverage("cta_dispatcher");
  declare_dispatch_bins(coverage);
  random_dispatch_campaign(rtl, kSmall, tb::campaign(200000, 10000000), coverage);
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

TEST(CtaDispatcher, FermiAgreesWithTlmAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  tb::Coverage coverage("cta_dispatcher");
  declare_dispatch_bins(coverage);
  random_dispatch_campaign(rtl, kFermi, tb::campaign(200000, 10000000), coverage);
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

TEST(CtaDispatcher, CountsOnlyAgreesWithTlmAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kCounts);
  tb::Coverage coverage("cta_dispatcher");
  declare_dispatch_bins(coverage);
  random_dispatch_campaign(rtl, kCounts, tb::campaign(200000, 10000000), coverage);
}

}  // namespace
}  // namespace sluice
