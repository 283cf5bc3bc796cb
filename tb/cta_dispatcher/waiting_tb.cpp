// SPDX-License-Identifier: Apache-2.0
// No kernel waits for ever (docs/reference/blocks/cta_dispatcher.md, Waiting): a kernel that others keep out gets its CTA within
// the bound of that page, in every order but launch order, where none is kept out.
#include <Vcta_dispatcher_small.h>

#include "tb/cta_dispatcher/crowd.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kSmall{2, 2, 4, 16, true, true, 3, 5};

TEST(Waiting, FcfsGivesALargeCtaItsTurnInTime) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 130);
  crowd.bench.cycle.in.round_robin = crowd.bench.cycle.in.regions = true;
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1));
}

// Oldest first, no quotas: as STATIC with its registers as they are after a reset.
TEST(Waiting, ByAgeALargeCtaOfTheYoungerKernelGetsItsTurnInTime) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 130);
  keep_out(crowd);
  for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1));
}

TEST(Waiting, AMaskIsKept) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 130);
  crowd.bench.cycle.quota[0][1] = 0;  // kernel 1 on SM 1 only: golden model and twin see that it comes nowhere else
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1));
}

// An SM for which a CTA stands at the port is reserved too: the twin has it in the same cycle. One CTA is the least quota.
TEST(Waiting, AnSmWithACtaAtThePortIsReserved) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 20);
  crowd.bench.cycle.quota = {{0, 0}, {4, 1}};
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  tb::Random random(tb::seed());
  for (int c = 0; c < 20000 && !HasFatalFailure(); ++c) {
    crowd.bench.cycle.in.dispatch_ready = random.chance(0.5);
    crowd.step();
  }
  EXPECT_GT(crowd.bench.outputs().dispatched[1], 50U);
}

// An SM that hangs is reserved for two periods at most, and then not again: the bound holds on the others.
TEST(Waiting, AnSmThatHangsCostsTwoPeriodsOnce) {
  for (const unsigned sm : {0U, 1U}) {
    RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
    Crowd crowd(rtl, kSmall, 130);
    keep_out(crowd, sm);
    EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1) + (2U << kSmall.patience)) << sm;
    for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1)) << sm;
    crowd.hung.reset();  // it shows life, and is reserved again: the kernel may be on no other
    crowd.bench.cycle.in.sm_ready[sm] = true;
    crowd.bench.cycle.quota[1 - sm][1] = 0;
    crowd.bench.cycle.in.quota_changed = true;
    for (int i = 0; i < 3; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + 2 * crowd.bound(1)) << sm;
  }
}

// A kernel with a CTA somewhere does not wait: its quota may be all it is to have. Nobody is held up for it.
TEST(Waiting, NobodyIsHeldUpForAKernelThatRuns) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.steps(3);
  bench.cycle.quota[0] = {3, 1};
  bench.cycle.quota[1] = {4, 0};
  bench.cycle.in.quota_changed = true;
  bench.cycle.in.launch = 3;
  bench.steps(100);
  ASSERT_EQ(bench.outputs().resident[0], 7U);
  ASSERT_EQ(bench.outputs().resident[1], 1U);
  for (int i = 0; i < 1000; ++i) {  // CTAs of kernel 0 end, and are replaced; that of kernel 1 stays
    const auto first = std::ranges::find_if(bench.started, [](const CtaDispatcherOut& c) { return c.dispatch_kernel == 0; });
    bench.end(static_cast<std::size_t>(first - bench.started.begin()));
    bench.steps(12);
    ASSERT_EQ(bench.outputs().resident[0], 7U);
  }
}

}  // namespace
}  // namespace sluice
