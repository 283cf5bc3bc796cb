// SPDX-License-Identifier: Apache-2.0
// As waiting_tb.cpp, in a unit without the guard, and in one with many kernels.
#include <Vcta_dispatcher_16.h>
#include <Vcta_dispatcher_counts.h>

#include "tb/cta_dispatcher/crowd.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kOff{16, 4, 8, 64, true, true, 1, 0, true};
constexpr CtaDispatcherParams kCounts{5, 8, 5, 0, false, false, 0, 5, true, true};

TEST(Waiting, WithoutTheGuardALargeCtaIsKeptOut) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kOff);
  Crowd crowd(rtl, kOff, 130);
  crowd.bench.cycle.in.round_robin = crowd.bench.cycle.in.regions = true;
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  EXPECT_EQ(crowd.waits(1, 100000), 100000U);
}

// A kernel that may be nowhere, and one that fits nowhere: the claim of the first passes on.
TEST(Waiting, AClaimWithoutAnSmPassesOn) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kCounts);
  Crowd crowd(rtl, kCounts, 130);
  for (auto& sm : crowd.bench.cycle.quota) sm[2] = 0;
  crowd.bench.cycle.in.quota_changed = true;
  crowd.launch(2);
  keep_out(crowd);
  EXPECT_LE(crowd.waits(1, 100000), crowd.bound(1) + 2 * (1U << kCounts.patience));
  EXPECT_EQ(crowd.bench.outputs().dispatched[2], 0U);
}

// The older kernel takes a CTA in every cycle: the port has no cycle for the younger ones, though they have room.
TEST(Waiting, AFullPortLetsTheYoungerIn) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kCounts);
  Crowd crowd(rtl, kCounts, 4);
  for (auto& sm : crowd.bench.cycle.quota) sm.fill(1);
  for (auto& sm : crowd.bench.cycle.quota) sm[0] = 4;
  crowd.bench.cycle.in.quota_changed = true;
  crowd.launch(0);
  for (int c = 0; c < 200; ++c) crowd.step();
  for (unsigned k = 1; k < 8; ++k) crowd.launch(k);
  for (unsigned k = 1; k < 8; ++k) EXPECT_LE(crowd.waits(k, 100000), crowd.bound(7)) << k;
}

}  // namespace
}  // namespace sluice
