// Bench of the CTA dispatcher: random traffic holds the Verilated RTL, its TLM twin and the golden model against each other in
// every cycle, at several sizes. Quick by default; SLUICE_FULL=1 runs the long campaign.
#include <Vcta_dispatcher_16.h>
#include <Vcta_dispatcher_counts.h>
#include <Vcta_dispatcher_small.h>
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/directed.h"
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

TEST(CtaDispatcher, SustainsOneCtaACycleAndStartsWithinThree) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  check_rates(rtl, kFermi, tb::campaign(20000, 1000000));
}

// A published dispatcher over-fills an SM in the cycle in which a grant meets an end there (94 CTAs on 8 slots).
TEST(CtaDispatcher, GrantThatMeetsAnEndOnOneSmNeverOverfillsIt) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.cycle.quota[1].fill(0);  // one SM only
  bench.steps(3);
  bench.cycle.in.launch = 1;
  bench.steps(6);
  for (int i = 0; i < 1000; ++i) {
    if (!bench.started.empty()) bench.end(0);
    bench.step();
    ASSERT_LE(bench.outputs().resident[0], 4U);
  }
  EXPECT_GT(bench.outputs().dispatched[0], 900U);
}

TEST(CtaDispatcher, OneSmAloneTakesACtaEveryCycleAndEveryThirdWithRegions) {
  for (const bool regions : {false, true}) {
    RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
    DirectedDispatch bench(rtl, kFermi);
    for (std::size_t sm = 1; sm < bench.cycle.quota.size(); ++sm) bench.cycle.quota[sm].fill(0);
    bench.cycle.in.regions = regions;
    bench.steps(30);
    bench.cycle.in.launch = 1;
    while (!bench.outputs().dispatch_valid) bench.step();
    bench.steps(regions ? 3 * 7 + 1 : 8);
    EXPECT_EQ(bench.started.size(), 8U) << regions;
  }
}

// Warped-Slicer, figure 2a: A needs half of what B needs; their CTAs alternate, all of A end: what they leave is as much as a B
// but in pieces.
TEST(CtaDispatcher, FcfsFragmentsAndCountsDoNot) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  CtaDispatcherIn& in = bench.cycle.in;
  in.capacity_shared_bytes = 6144;
  in.demand_shared_bytes = {1024, 2048};
  in.regions = in.round_robin = true;
  bench.cycle.quota[1].fill(0);
  bench.steps(3);
  in.launch = 3;
  bench.steps(20);
  ASSERT_EQ(bench.outputs().resident[0], 2U);
  ASSERT_EQ(bench.outputs().resident[1], 2U);
  in.stop = 1;
  bench.step();
  for (std::size_t i = 0; i < bench.started.size();) {
    if (bench.started[i].dispatch_kernel != 0) {
      ++i;
      continue;
    }
    bench.end(i);
    bench.step();
  }
  bench.steps(20);
  EXPECT_EQ(bench.scoreboard().model().free(0).shared_memory_bytes, 2048U);
  EXPECT_EQ(bench.outputs().resident[1], 2U);  // no region for a third
  in.regions = false;
  bench.steps(5);
  EXPECT_EQ(bench.outputs().resident[1], 3U);
}

TEST(CtaDispatcher, EvictDrainsAsManyAsAskedAndResumeRefills) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.steps(3);
  bench.cycle.in.launch = 1;
  bench.steps(15);
  ASSERT_EQ(bench.outputs().resident[0], 8U);
  bench.cycle.in.evict = 1;
  bench.cycle.in.evict_count = 3;
  bench.step();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.outputs().evict_done, 0);
    bench.end(0);
    bench.step();
  }
  bench.step();
  EXPECT_EQ(bench.outputs().evict_done, 1);
  bench.steps(10);
  EXPECT_EQ(bench.outputs().resident[0], 5U);
  bench.cycle.in.resume = 1;
  bench.steps(10);
  EXPECT_EQ(bench.outputs().resident[0], 8U);
}

}  // namespace
}  // namespace sluice
