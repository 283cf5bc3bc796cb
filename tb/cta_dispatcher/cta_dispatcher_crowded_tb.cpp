// SPDX-License-Identifier: Apache-2.0
// Bench of the CTA dispatcher with 16 SMs of 32 CTA slots: random traffic that fills them all, with regions side by side in every
// slot, against twin and golden model in every cycle.
#include <Vcta_dispatcher_32.h>
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"
#include "tb/cta_dispatcher/trio.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kCrowded{16, 4, 32, 64, true, true, 1, 0, true};

TEST(CtaDispatcher, CrowdedAgreesWithTwinAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_32> rtl(kCrowded);
  EXPECT_EQ(random_dispatch_campaign(rtl, kCrowded, tb::campaign(200000, 10000000)),
            (std::vector<std::string>{"a CTA is taken back from the port",
                                      "a kernel without a CTA had waited long"}));  // for FLUSH > 1, PATIENCE
}

}  // namespace
}  // namespace sluice
