// SPDX-License-Identifier: Apache-2.0
// Bench of the core's count between decisions: the Verilated RTL against the golden occupancy of a share of an SM, and the
// cycles that its twin states. SLUICE_FULL=1: 3 x 10^5 cases.
#include <Vpartition_core.h>
#include <gtest/gtest.h>

#include "sw/core/resources.h"
#include "systemc/unit/rtl/rtl_partition_core.h"
#include "systemc/unit/twin/partition_core.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr unsigned kKernels = 4;

struct Case {
  SmResources capacity, cta;  ///< threads are whole warps
  std::uint32_t share = 1;
};

Case problem(Random& random) {
  Case c;
  c.share = random.in(1, kKernels);
  const auto some = [&random](std::uint32_t capacity) {
    return random.chance(0.2) ? 0 : random.in(0, capacity >> random.in(0, 7));
  };
  const std::uint32_t warps = random.chance(0.2) ? 127 : random.in(1, 127);
  c.capacity = {warps * kWarpSize, random.in(1, 131071), random.in(0, 262143), random.in(1, kMaxCtas)};
  c.cta = {(random.chance(0.05) ? 127 : some(warps)) * kWarpSize, some(131071), some(262143), 1};
  if (random.chance(0.3)) {  // exactly so many
    const std::uint32_t ctas = c.share * random.in(1, kMaxCtas / c.share);
    c.cta.registers = std::max(1U, c.capacity.registers / ctas);
    c.capacity.registers = c.cta.registers * ctas - (random.chance(0.5) ? 1 : 0);
  }
  return c;
}

/// CTAs that fit in floor(capacity / share) of every resource.
std::uint32_t golden(const Case& c) {
  const SmResources part{c.capacity.threads / kWarpSize / c.share * kWarpSize, c.capacity.registers / c.share,
                         c.capacity.shared_memory_bytes / c.share, c.capacity.cta_slots / c.share};
  return occupancy(c.cta, part).value();
}

TEST(Occupancy, EqualsTheGoldenOccupancyOfAShare) {
  Random random(seed());
  Coverage coverage("occupancy");
  coverage.declare("nothing fits", "0");
  coverage.declare("all that there can be", "MAX_CTAS");
  coverage.declare("in between", "limited by a resource");
  coverage.declare("shared SM", "an n-th of the SM");
  coverage.declare("dropped", "an abort while it counts");
  RtlPartitionCore<Vpartition_core, kKernels> rtl(waveform("occupancy"));
  const std::uint64_t cases = campaign(10000, 300000);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Case c = problem(random);
    const CoreAmounts capacity{c.capacity.cta_slots, c.capacity.threads / kWarpSize, c.capacity.registers,
                               c.capacity.shared_memory_bytes};
    const CoreAmounts demand{1, c.cta.threads / kWarpSize, c.cta.registers, c.cta.shared_memory_bytes};
    const OccupancyCount stated = count_occupancy(capacity, demand, c.share, kMaxCtas);
    if (random.chance(0.05)) {
      ASSERT_FALSE(rtl.count(capacity, demand, c.share, random.in(1, stated.cycles - 1)))
          << "case " << i << ": an answer after an abort";
      coverage.hit("dropped");
    }
    const auto got = rtl.count(capacity, demand, c.share);
    ASSERT_TRUE(got) << "case " << i << ": no answer";
    const std::uint32_t want = golden(c);
    ASSERT_EQ(got->ctas, want) << "case " << i;
    ASSERT_EQ(stated.ctas, want) << "case " << i << ": the twin's";
    ASSERT_EQ(got->cycles, stated.cycles) << "case " << i;
    coverage.hit(want == 0 ? "nothing fits" : want == kMaxCtas ? "all that there can be" : "in between");
    if (c.share > 1) coverage.hit("shared SM");
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
