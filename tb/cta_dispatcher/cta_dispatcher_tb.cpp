// SPDX-License-Identifier: Apache-2.0
// Bench of the CTA dispatcher: random traffic holds the Verilated RTL, its twin and the golden model against each other in
// every cycle, at several sizes. Quick by default; SLUICE_FULL=1 runs the long campaign.
#include <Vcta_dispatcher_16.h>
#include <Vcta_dispatcher_counts.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/directed.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"
#include "tb/cta_dispatcher/trio.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kFermi{16, 4, 8, 64, true, true, 1, 0, true};
constexpr CtaDispatcherParams kCounts{5, 8, 5, 0, false, false, 0, 5, true, true};

TEST(CtaDispatcher, FermiAgreesWithTwinAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  EXPECT_EQ(random_dispatch_campaign(rtl, kFermi, tb::campaign(200000, 10000000)),
            (std::vector<std::string>{"a CTA is taken back from the port",
                                      "a kernel without a CTA had waited long"}));  // for FLUSH > 1, PATIENCE
}

TEST(CtaDispatcher, CountsOnlyAgreesWithTwinAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kCounts);
  (void)random_dispatch_campaign(rtl, kCounts, tb::campaign(200000, 10000000));
}

TEST(CtaDispatcher, SustainsOneCtaACycleAndStartsWithinThree) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  check_rates(rtl, kFermi, tb::campaign(20000, 1000000));
}

// One SM of 16 never takes a CTA: the other fifteen are filled without a gap and keep their CTA a cycle.
TEST(CtaDispatcher, AnSmThatIsNeverReadyCostsTheOthersNothing) {
  for (const std::uint32_t sm : {0U, 7U, 15U}) {
    RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
    check_rates(rtl, kFermi, tb::campaign(20000, 1000000), sm);
  }
}

// Short CTAs of another kernel end in every cycle. A report always goes first, but no CTA is picked while a flush runs: so there
// is an end to the reports.
TEST(CtaDispatcher, AFlushEndsBesideAReportInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  DirectedDispatch bench(rtl, kFermi);
  for (auto& sm : bench.cycle.quota) sm = {1, 7};
  bench.steps(3);
  bench.cycle.in.launch = 3;
  bench.steps(16 * 8 + 30);
  ASSERT_EQ(bench.started.size(), 128U);
  const auto report = [&bench] {
    const auto other = std::ranges::find_if(bench.started, [](const CtaDispatcherOut& cta) { return cta.dispatch_kernel == 1; });
    if (other != bench.started.end()) bench.end(static_cast<std::size_t>(other - bench.started.begin()));
    bench.step();
  };
  for (unsigned c = 0; c < 1000; ++c) report();
  bench.cycle.in.flush = 1;
  unsigned cycles = 0;
  do report();
  while (bench.outputs().kernel_done == 0 && ++cycles < 1000);
  EXPECT_LE(cycles, 128U + 16 + 8);  // sixteen are given up, the others end
  bench.steps(16 * 8 + 30);
  EXPECT_EQ(bench.outputs().resident[1], 16U * 7);  // dispatch goes on
}

// A report that no SM should send, with the kernel and the tag of others, ends a CTA that is about to be given up. A late report
// comes right behind it. BAD_DONE tells the first, and nobody else loses anything.
TEST(CtaDispatcher, AWrongReportOfACtaThatIsGivenUpIsTold) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  DirectedDispatch bench(rtl, kFermi);
  for (auto& sm : bench.cycle.quota) sm.fill(4);
  bench.steps(3);
  bench.cycle.in.launch = 3;
  bench.steps(16 * 8 + 30);
  ASSERT_EQ(bench.started.size(), 128U);
  bench.cycle.in.flush = 1;
  for (unsigned c = 0; c < 10 && !bench.outputs().giving_up; ++c) bench.step();
  ASSERT_TRUE(bench.outputs().giving_up);
  CtaDispatcherIn& in = bench.cycle.in;
  in.done_valid = true;
  in.done_sm = bench.outputs().giving_sm;
  in.done_slot = bench.outputs().giving_slot;
  in.done_kernel = 1;
  in.done_tag = 0;
  bench.step();
  in.done_valid = true;
  in.done_kernel = 0;  // whose tag is 1 by now
  bench.step();
  bool told = false;
  unsigned cycles = 0;
  do {
    bench.step();
    told = told || bench.outputs().bad_done;
  } while (bench.outputs().kernel_done == 0 && ++cycles < 1000);
  EXPECT_TRUE(told);
  EXPECT_EQ(bench.outputs().kernel_done, 1U);
  EXPECT_EQ(bench.outputs().resident[0], 0U);
  EXPECT_EQ(bench.outputs().resident[1], 64U);
}

// An SM that is disabled keeps the CTAs that it has and gets no other; enabled again, it is filled again.
TEST(CtaDispatcher, ADisabledSmDrains) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  DirectedDispatch bench(rtl, kFermi);
  const auto on_three = [](const CtaDispatcherOut& cta) { return cta.dispatch_sm == 3; };
  bench.steps(3);
  bench.cycle.in.launch = 1;
  bench.steps(16 * 8 + 10);
  ASSERT_EQ(std::ranges::count_if(bench.started, on_three), 8);
  bench.cycle.in.sm_enable[3] = false;
  for (int left = 8; left > 0; --left) {
    EXPECT_TRUE(bench.outputs().sm_busy[3]);
    EXPECT_EQ(std::ranges::count_if(bench.started, on_three), left);
    bench.end(static_cast<std::size_t>(std::ranges::find_if(bench.started, on_three) - bench.started.begin()));
    bench.steps(30);
  }
  EXPECT_FALSE(bench.outputs().sm_busy[3]);
  bench.cycle.in.sm_enable[3] = true;
  bench.steps(40);
  EXPECT_EQ(std::ranges::count_if(bench.started, on_three), 8);
}

TEST(CtaDispatcher, OneSmAloneTakesACtaEveryFourthCycle) {
  for (const bool regions : {false, true}) {
    RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
    DirectedDispatch bench(rtl, kFermi);
    for (std::size_t sm = 1; sm < bench.cycle.quota.size(); ++sm) bench.cycle.quota[sm].fill(0);
    bench.cycle.in.regions = regions;
    bench.steps(30);
    bench.cycle.in.launch = 1;
    while (!bench.outputs().dispatch_valid) bench.step();
    bench.steps(4 * 7 + 1);
    EXPECT_EQ(bench.started.size(), 8U) << regions;
  }
}

}  // namespace
}  // namespace sluice
