// SPDX-License-Identifier: Apache-2.0
// The bench of the CTA dispatcher at 132 SMs.
#include <Vcta_dispatcher_132.h>
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/directed.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"
#include "tb/cta_dispatcher/trio.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kLarge{132, 4, 32, 64};

TEST(CtaDispatcher, LargeAgreesWithTwinAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_132> rtl(kLarge);
  (void)random_dispatch_campaign(rtl, kLarge, tb::campaign(20000, 1000000));
}

TEST(CtaDispatcher, LargeSustainsOneCtaACycleAndStartsWithinThree) {
  RtlCtaDispatcher<Vcta_dispatcher_132> rtl(kLarge);
  check_rates(rtl, kLarge, tb::campaign(5000, 200000));
}

}  // namespace
}  // namespace sluice
