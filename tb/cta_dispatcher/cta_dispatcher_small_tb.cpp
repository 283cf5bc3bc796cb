// SPDX-License-Identifier: Apache-2.0
// Bench of the CTA dispatcher at its smallest (2 SMs, 2 kernels, 4 CTA slots, 16 region units), where every collision is
// frequent: random traffic against twin and golden model in every cycle, and the named cases.
#include <Vcta_dispatcher_small.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/directed.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"
#include "tb/cta_dispatcher/trio.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kSmall{2, 2, 4, 16, true, true, 3, 5};

TEST(CtaDispatcher, SmallAgreesWithTwinAndGoldenInEveryCycle) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  EXPECT_EQ(random_dispatch_campaign(rtl, kSmall, tb::campaign(3000000, 10000000)),
            std::vector<std::string>{"a kernel goes before an older one by its priority"});  // for PRIORITY
}

// Grids of both kernels to their ends and from the start again, the other kernel launched just before; the test counts along.
// Each bit of 20 is set in one grid and clear in the other; of 25 in the long tier.
TEST(CtaDispatcher, GridIsCountedWithEveryCarry) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  CtaDispatcherIn in = DirectedDispatch(rtl, kSmall).cycle.in;
  const auto bits = static_cast<std::uint32_t>(tb::campaign(0xfffff, 0x1ffffff));
  in.grid = {bits & 0x5555555, bits & 0xaaaaaaa};
  in.repeat = 3;
  in.quota.fill(4);
  in.port_quota.fill(4);
  in.quota_changed = true;
  rtl.clock(in);
  in.quota_changed = false;
  in.launch = 1;
  std::array<std::uint32_t, 2> given{};  // CTAs
  std::queue<CtaDispatcherOut> running;
  const CtaDispatcherOut& out = rtl.outputs();
  for (const std::size_t k : {0U, 1U}) {
    for (unsigned quiet = 0; given[k] < in.grid[k] + 8; ++quiet) {
      ASSERT_LT(quiet, 50U) << "no more than " << given[k] << " CTAs of kernel " << k;
      rtl.clock(in);
      in.launch = in.stop = 0;
      in.done_valid = !running.empty();
      if (in.done_valid) {
        in.done_sm = running.front().dispatch_sm;
        in.done_slot = running.front().dispatch_slot;
        in.done_kernel = running.front().dispatch_kernel;
        running.pop();
      }
      if (!out.dispatch_valid) continue;
      const std::size_t of = out.dispatch_kernel;
      ASSERT_EQ(out.dispatch_cta, given[of] % in.grid[of]) << "of kernel " << of;
      ASSERT_LE(given[of] - out.dispatched[of], 2U) << "are not counted yet, of kernel " << of;
      running.push(out);
      if (of == k) quiet = 0;
      if (++given[of] == in.grid[k] - 1 && of == k) {
        in.launch = static_cast<std::uint8_t>(2U >> k);
        given[1 - k] = 0;
      }
    }
    in.stop = static_cast<std::uint8_t>(1U << k);
  }
}

// A published dispatcher over-fills an SM in the cycle in which a grant meets an end there (94 CTAs on 8 slots).
TEST(CtaDispatcher, GrantThatMeetsAnEndOnOneSmNeverOverfillsIt) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.cycle.quota[1].fill(0);  // one SM only
  bench.steps(3);
  bench.cycle.in.launch = 1;
  bench.steps(20);
  for (int i = 0; i < 1000; ++i) {
    if (!bench.started.empty()) bench.end(0);
    bench.step();
    ASSERT_LE(bench.outputs().resident[0], 4U);
  }
  EXPECT_GT(bench.outputs().dispatched[0], 240U);  // one SM takes a CTA every fourth cycle
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
  in.quota_changed = true;
  bench.steps(10);
  EXPECT_EQ(bench.outputs().resident[1], 3U);
}

TEST(CtaDispatcher, EvictDrainsAsManyAsAskedAndResumeRefills) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.steps(3);
  bench.cycle.in.launch = 1;
  bench.steps(30);
  ASSERT_EQ(bench.outputs().resident[0], 8U);
  bench.cycle.in.evict = 1;
  bench.cycle.in.evict_count = 3;
  bench.step();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.outputs().evict_done, 0);
    bench.end(0);
    bench.step();
  }
  bench.steps(3);  // the end is known to its kernel two cycles after it
  EXPECT_EQ(bench.outputs().evict_done, 1);
  bench.steps(20);
  EXPECT_EQ(bench.outputs().resident[0], 5U);
  bench.cycle.in.resume = 1;
  bench.steps(20);
  EXPECT_EQ(bench.outputs().resident[0], 8U);
}

// CTAs of one SM end nearly as fast as it takes others: their slot numbers are given again, none is lost, none given twice.
TEST(CtaDispatcher, NoSlotNumberIsLostOrGivenTwice) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.cycle.quota[1].fill(0);
  bench.steps(3);
  bench.cycle.in.launch = 1;
  bench.steps(20);
  ASSERT_EQ(bench.started.size(), 4U);
  tb::Random random(tb::seed());
  std::array<unsigned, 4> given{};
  std::uint64_t cycles = 0;
  for (; cycles < tb::campaign(4000, 400000); ++cycles) {
    if (random.chance(0.2) && !bench.started.empty())
      bench.end(random.in(0, static_cast<std::uint32_t>(bench.started.size() - 1)));
    bench.step();
    std::set<std::uint8_t> slots;
    for (const CtaDispatcherOut& cta : bench.started) slots.insert(cta.dispatch_slot);
    ASSERT_EQ(slots.size(), bench.started.size()) << "two CTAs in one slot";
    if (bench.outputs().dispatch_valid) ++given[bench.outputs().dispatch_slot];
  }
  bench.steps(30);
  EXPECT_EQ(bench.started.size(), 4U) << "a slot number was lost";
  for (const unsigned times : given) EXPECT_GT(times, cycles / 50);
}

// A region of 1 to 8 units stands between two gaps, one of them left by a release. What fits in neither waits until the region is
// freed, although the SM has as much left.
TEST(CtaDispatcher, AReleaseLeavesTheGapUpToTheNextRegion) {
  constexpr std::uint32_t kBelow = 3;
  for (const bool shared : {false, true}) {
    for (std::uint32_t between = 1; between <= 8; ++between) {
      RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
      DirectedDispatch bench(rtl, kSmall);
      CtaDispatcherIn& in = bench.cycle.in;
      const std::uint32_t unit = (shared ? in.capacity_shared_bytes = 32768 : in.capacity_registers) / 16;
      std::array<std::uint32_t, kMaxKernelSlots>& demand = shared ? in.demand_shared_bytes : in.demand_registers;
      in.regions = true;
      in.grid = {1, 1};
      bench.cycle.quota[1].fill(0);
      bench.steps(3);
      for (const unsigned k : {1U, 0U}) {
        demand[k] = unit * (k == 1 ? kBelow : between);
        bench.step();
        in.launch = static_cast<std::uint8_t>(1U << k);
        bench.steps(20);
      }
      ASSERT_EQ(bench.started.size(), 2U);
      bench.end(0);
      bench.steps(10);
      demand[1] = unit * (17 - kBelow - between);  // a unit more than the gap above
      bench.step();
      in.launch = 2;
      bench.steps(40);
      EXPECT_EQ(bench.outputs().dispatched[1], 0U) << between;
      bench.end(0);
      bench.steps(20);
      EXPECT_EQ(bench.outputs().dispatched[1], 1U) << between;
    }
  }
}

// Small regions of kernels that come and go: a CTA takes its region beside three others that lie in every order, whichever slot
// it has. A demand is some whole units, or some and one bit of another, which must count as a whole one. At times one takes the
// SM but for a crumb.
TEST(CtaDispatcher, RegionsLieInEveryOrderAndEachBitOfARestCounts) {
  constexpr std::array<std::uint32_t, 2> kBits{12, 14};  // of a unit: 16 units are 64 K registers, 14 are 224 KB
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  CtaDispatcherIn& in = bench.cycle.in;
  in.capacity_registers = 16U << kBits[0];
  in.capacity_shared_bytes = 14U << kBits[1];
  in.regions = true;
  bench.cycle.quota[1].fill(0);
  bench.steps(3);
  tb::Random random(tb::seed());
  std::array<std::set<std::uint32_t>, 2> rests;                // of either resource: the bits,
  std::array<std::set<std::vector<std::uint32_t>>, 2> orders;  // the slot that is given and those of the others, from the lowest
  bool whole = false;
  const auto demand = [&](std::size_t resource) {
    const std::uint32_t bits = kBits[resource], crumb = 1U << (bits - 2);
    if (whole) {  // the SM but for some of its last unit; nothing; no more than the first leaves
      const std::uint32_t kind = random.in(0, 2), all = resource == 0 ? in.capacity_registers : in.capacity_shared_bytes;
      return kind == 0 ? all - crumb : kind == 1 ? 0 : random.in(1, crumb);
    }
    const std::uint32_t units = random.in(random.chance(0.1) ? 0 : 1, 4), rest = random.in(0, 2 * bits);
    if (rest < bits) rests[resource].insert(rest);
    return (units << bits) + (rest < bits ? 1U << rest : 0U);
  };
  std::uint8_t described = 0;
  for (std::uint64_t left = tb::campaign(400000, 4000000); left != 0 && !HasFatalFailure(); --left) {
    const CtaDispatcherOut& out = bench.outputs();
    in.launch = std::exchange(described, std::uint8_t{0});
    for (std::uint8_t k = 0; k < 2; ++k) {
      if (out.state[k] != SlotState::kFree || ((in.launch >> k) & 1U) != 0) continue;
      whole = left / 4096 % 4 == 0;
      in.demand_registers[k] = demand(0);
      in.demand_shared_bytes[k] = demand(1);
      in.grid[k] = random.in(1, 12);
      described = static_cast<std::uint8_t>(described | (1U << k));
    }
    for (std::size_t resource = 0; out.dispatch_valid && bench.started.size() == 3 && resource < 2; ++resource) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> lie;
      for (const CtaDispatcherOut& cta : bench.started) {
        const std::size_t k = cta.dispatch_kernel;
        if ((resource == 0 ? in.demand_registers[k] : in.demand_shared_bytes[k]) != 0)
          lie.emplace_back(resource == 0 ? cta.dispatch_register_base : cta.dispatch_shared_base, cta.dispatch_slot);
      }
      std::ranges::sort(lie);
      if (lie.size() == 3) orders[resource].insert({out.dispatch_slot, lie[0].second, lie[1].second, lie[2].second});
    }
    if (!bench.started.empty() && random.chance(0.1))
      bench.end(random.in(0, static_cast<std::uint32_t>(bench.started.size() - 1)));
    bench.step();
  }
  for (std::size_t resource = 0; resource < 2 && !HasFatalFailure(); ++resource) {
    EXPECT_EQ(rests[resource].size(), kBits[resource]);
    EXPECT_EQ(orders[resource].size(), 24U);
  }
}

// The second of two CTAs that need no more than one register (or byte) has its region where the first unit ends. The unit is the
// smallest power of two of which 16 make up the capacity, at each power of two and just above it, by each bit.
TEST(CtaDispatcher, UnitOfRegionsIsTheSmallestThatCoversTheSm) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  const auto second_base = [&rtl](bool shared, std::uint32_t capacity) -> std::optional<std::uint32_t> {
    DirectedDispatch bench(rtl, kSmall);
    CtaDispatcherIn& in = bench.cycle.in;
    (shared ? in.capacity_shared_bytes : in.capacity_registers) = capacity;
    (shared ? in.demand_shared_bytes : in.demand_registers)[0] = 1;
    in.regions = true;
    bench.cycle.quota[1].fill(0);
    bench.steps(3);
    in.launch = 1;
    for (unsigned c = 0; c < 20 && bench.started.size() < 2; ++c) bench.step();
    if (bench.started.size() < 2) return {};
    return shared ? bench.started[1].dispatch_shared_base : bench.started[1].dispatch_register_base;
  };
  for (unsigned top = 1; top <= 17; ++top) {
    for (unsigned rest = 0; rest <= top; ++rest) {
      const std::uint32_t capacity = (1U << top) | (rest == top ? 0U : 1U << rest);
      std::uint32_t unit = 1;
      while (16 * unit < capacity) unit *= 2;
      EXPECT_EQ(second_base(true, capacity), unit) << capacity << " bytes";
      if (capacity > 65536) continue;
      EXPECT_EQ(second_base(false, capacity), unit) << capacity << " registers";
    }
  }
}

// Regions of one SM are taken in the cycle in which others are freed there: nothing overlaps, nothing leaks.
TEST(CtaDispatcher, AllocationThatMeetsAReleaseOnOneSmKeepsBoth) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  CtaDispatcherIn& in = bench.cycle.in;
  in.demand_registers = {8192, 8192};  // four fill an SM
  in.regions = true;
  bench.cycle.quota[1].fill(0);
  bench.steps(3);
  in.launch = 1;
  bench.steps(20);
  ASSERT_EQ(bench.started.size(), 4U);
  unsigned collisions = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool takes = bench.outputs().dispatch_valid;  // the regions of the CTA at the port are taken in this cycle
    if (takes && !bench.started.empty()) ++collisions;
    if (!bench.started.empty() && (takes || i % 5 == 0)) bench.end(0);
    bench.step();
    std::set<std::uint32_t> bases;
    for (const CtaDispatcherOut& cta : bench.started) bases.insert(cta.dispatch_register_base);
    ASSERT_EQ(bases.size(), bench.started.size()) << "two CTAs in one region";
  }
  EXPECT_GT(collisions, 150U);
  bench.steps(20);
  EXPECT_EQ(bench.started.size(), 4U) << "a region was lost";
}

}  // namespace
}  // namespace sluice
