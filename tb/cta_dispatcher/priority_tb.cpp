// SPDX-License-Identifier: Apache-2.0
// A kernel of higher priority goes first, in every order (docs/reference/blocks/cta_dispatcher.md, Priorities), and with PATIENCE
// those below it still do not wait for ever.
#include <Vcta_dispatcher_16.h>
#include <Vcta_dispatcher_counts.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tb/cta_dispatcher/directed.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kFermi{16, 4, 8, 64, true, true, 1, 0, true};
constexpr CtaDispatcherParams kPatient{5, 8, 5, 0, false, false, 0, 5, true, true};

/// Launches in the order of the numbers; then a machine on which a CTA ends in each cycle, oldest first.
class Ranks {
 public:
  Ranks(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params) : bench(rtl, params) { bench.steps(3); }
  void launch(unsigned kernel, unsigned priority) {
    bench.cycle.in.priority[kernel] = static_cast<std::uint8_t>(priority);
    bench.step();
    bench.cycle.in.launch = static_cast<std::uint8_t>(1U << kernel);
    bench.step();
  }
  void run(unsigned cycles) {
    for (unsigned c = 0; c < cycles && !testing::Test::HasFatalFailure(); ++c) {
      if (!bench.started.empty()) {
        std::ranges::rotate(bench.started, bench.started.begin() + 1);  // end() takes the last one for the one that it takes out
        bench.end(bench.started.size() - 1);
      }
      bench.step();
    }
  }
  [[nodiscard]] std::uint32_t dispatched(unsigned kernel) const { return bench.outputs().dispatched[kernel]; }

  DirectedDispatch bench;
};

TEST(Priorities, ByAgeTheHigherKernelTakesWhatEnds) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  Ranks ranks(rtl, kFermi);
  ranks.bench.cycle.in.grid[1] = 1000;
  ranks.launch(0, 2);
  ranks.run(300);
  ranks.launch(1, 5);
  ranks.run(60);  // its room is known everywhere
  const std::uint32_t before = ranks.dispatched(0), others = ranks.dispatched(1);
  ranks.run(500);
  EXPECT_EQ(ranks.dispatched(0), before);
  EXPECT_GE(ranks.dispatched(1), others + 400);
  ranks.run(1000);  // its grid is issued: the lower one goes on
  EXPECT_EQ(ranks.dispatched(1), 1000U);
  EXPECT_GE(ranks.dispatched(0), before + 400);
}

TEST(Priorities, AnEmptyMachineIsTheHigherKernelsFirst) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  Ranks ranks(rtl, kFermi);
  ranks.bench.cycle.in.grid[1] = 80;
  ranks.launch(0, 0);
  ranks.launch(1, 7);
  ranks.bench.steps(60);  // nothing ends
  EXPECT_LE(ranks.dispatched(0), 4U);
  ranks.bench.steps(90);
  EXPECT_EQ(ranks.dispatched(1), 80U);
  EXPECT_EQ(ranks.dispatched(0), 128U - 80U);
}

TEST(Priorities, OfTwoAlikeTheOlderIsFirst) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  Ranks ranks(rtl, kFermi);
  ranks.launch(3, 4);
  ranks.launch(0, 4);
  ranks.launch(1, 3);
  ranks.run(500);
  EXPECT_GE(ranks.dispatched(3), 400U);
  EXPECT_EQ(ranks.dispatched(0) + ranks.dispatched(1), 0U);
}

// As LEFT_OVER: the younger kernel issues its whole grid in front of what is left of the older one.
TEST(Priorities, InOrderTheHigherKernelIssuesItsGridFirst) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  Ranks ranks(rtl, kFermi);
  ranks.bench.cycle.in.in_order = true;
  ranks.bench.cycle.in.demand_warps[1] = 48;  // a whole SM: the lower kernel may not fill the gaps
  ranks.bench.cycle.in.grid[1] = 40;
  ranks.launch(0, 0);
  ranks.run(300);
  ranks.launch(1, 1);
  ranks.run(3);
  const std::uint32_t before = ranks.dispatched(0);
  for (int c = 0; c < 10000 && ranks.dispatched(1) < 40; ++c) {
    EXPECT_LE(ranks.dispatched(0), before + 1);  // one was at the port
    ranks.run(1);
  }
  EXPECT_EQ(ranks.dispatched(1), 40U);
  ranks.run(300);
  EXPECT_GE(ranks.dispatched(0), before + 100);
}

TEST(Priorities, InTurnKernelsOfOnePriorityAlternate) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kFermi);
  Ranks ranks(rtl, kFermi);
  ranks.bench.cycle.in.round_robin = true;
  ranks.launch(0, 1);
  ranks.launch(1, 6);
  ranks.launch(2, 6);
  ranks.launch(3, 0);
  ranks.run(60);
  const std::uint32_t low = ranks.dispatched(0), a = ranks.dispatched(1), b = ranks.dispatched(2);
  ranks.run(1000);
  EXPECT_EQ(ranks.dispatched(0), low);
  EXPECT_EQ(ranks.dispatched(3), 0U);
  const std::uint32_t more_a = ranks.dispatched(1) - a, more_b = ranks.dispatched(2) - b;
  EXPECT_GE(more_a + more_b, 900U);
  EXPECT_LE(std::max(more_a, more_b) - std::min(more_a, more_b), 1U);
}

/// CTAs of a kernel that others of higher priority leave nothing, in so many cycles. @param order 0 by age, 1 in turn, 2 in order
template <class Model>
std::uint32_t left_for_the_low_one(const CtaDispatcherParams& params, int order, unsigned cycles) {
  RtlCtaDispatcher<Model> rtl(params);
  Ranks ranks(rtl, params);
  ranks.bench.cycle.in.round_robin = order == 1;
  ranks.bench.cycle.in.in_order = order == 2;
  ranks.launch(2, 7);
  ranks.run(200);
  ranks.launch(1, 0);
  ranks.run(cycles);
  return ranks.dispatched(1);
}

TEST(Priorities, WithoutPatienceALowerKernelIsKeptOut) {
  for (const int order : {0, 1, 2}) EXPECT_EQ(left_for_the_low_one<Vcta_dispatcher_16>(kFermi, order, 20000), 0U) << order;
}

// Each wait is at most two ticks and a claim, and a claim with five SMs of five CTAs is below 100 cycles.
TEST(Priorities, WithPatienceALowerKernelIsServedInEveryOrder) {
  for (const int order : {0, 1, 2})
    EXPECT_GE(left_for_the_low_one<Vcta_dispatcher_counts>(kPatient, order, 20000), 20000U / 264) << order;
}

// In order, what PATIENCE lets in is the oldest of its priority: the younger one waits for that one's grid.
TEST(Priorities, InOrderPatienceKeepsTheOrderWithinAPriority) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kPatient);
  Ranks ranks(rtl, kPatient);
  ranks.bench.cycle.in.in_order = true;
  ranks.bench.cycle.in.grid[1] = 60;
  ranks.launch(2, 7);
  ranks.run(200);
  ranks.launch(1, 0);
  ranks.launch(0, 0);
  for (int c = 0; ranks.dispatched(1) < 60 && c < 60 * 264; ++c) {
    EXPECT_EQ(ranks.dispatched(0), 0U);
    ranks.run(1);
  }
  EXPECT_EQ(ranks.dispatched(1), 60U);
  ranks.run(1000);
  EXPECT_GT(ranks.dispatched(0), 0U);
}

}  // namespace
}  // namespace sluice
