// SPDX-License-Identifier: Apache-2.0
// Bench of occupancy_counter: the Verilated RTL against the golden occupancy of a share of an SM, and its cycles.
// SLUICE_FULL=1: 3 x 10^6 cases.
#include <Voccupancy_counter.h>
#include <gtest/gtest.h>

#include "sw/core/resources.h"
#include "systemc/unit/rtl/verilated_model.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr std::uint32_t kKernels = 8, kMaxCtas = 32;

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

TEST(OccupancyCounter, EqualsTheGoldenOccupancyInACycleADemand) {
  Random random(seed());
  Coverage coverage("occupancy_counter");
  coverage.declare("nothing fits", "0");
  coverage.declare("all that there can be", "MAX_CTAS");
  coverage.declare("in between", "limited by a resource");
  coverage.declare("shared SM", "an n-th of the SM");
  coverage.declare("started again", "a start while it counts");
  coverage.declare("reset", "a reset while it counts");
  VerilatedModel<Voccupancy_counter> rtl(waveform("occupancy_counter"));
  const auto cycle = [&rtl] {
    rtl.low();
    rtl.high();
  };
  const auto capacity = [&rtl](const SmResources& r) {
    rtl->capacity_warps_i = static_cast<CData>(r.threads / kWarpSize);
    rtl->capacity_registers_i = r.registers;
    rtl->capacity_shared_i = r.shared_memory_bytes;
    rtl->capacity_slots_i = static_cast<CData>(r.cta_slots);
  };
  rtl->start_i = 0;
  rtl->rst_ni = 0;
  cycle();
  rtl->rst_ni = 1;
  const std::uint64_t cases = campaign(30000, 3000000);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Case c = problem(random), other = problem(random);
    capacity(c.capacity);
    rtl->start_i = 1;
    cycle();
    rtl->start_i = 0;
    capacity(other.capacity);  // taken with start
    rtl->share_i = static_cast<CData>(c.share);
    rtl->demand_warps_i = static_cast<CData>(c.cta.threads / kWarpSize);
    rtl->demand_registers_i = c.cta.registers;
    rtl->demand_shared_i = c.cta.shared_memory_bytes;
    const std::uint32_t want = golden(c), demands = golden({c.capacity, c.cta, 1});
    const std::uint32_t cut = random.chance(0.1) ? random.in(0, 4) : 100;
    std::uint32_t cycles = 1;
    for (; rtl->done_o == 0 && cycles <= cut; ++cycles) {
      ASSERT_LT(cycles, 50U) << "case " << i << ": does not end";
      cycle();
    }
    if (rtl->done_o == 0) {
      const bool reset = random.chance(0.5);
      coverage.hit(reset ? "reset" : "started again");
      if (!reset) continue;
      rtl->rst_ni = 0;
      cycle();
      rtl->rst_ni = 1;
      for (int quiet = 0; quiet < 12; ++quiet) {
        ASSERT_EQ(rtl->done_o, 0) << "case " << i << ": done after a reset";
        cycle();
      }
      continue;
    }
    ASSERT_EQ(rtl->count_o, want) << "case " << i;
    ASSERT_EQ(cycles, demands + 3) << "case " << i;
    if (random.chance(0.5)) {
      cycle();
      ASSERT_EQ(rtl->done_o, 0) << "case " << i << ": done is a pulse";
    }
    coverage.hit(want == 0 ? "nothing fits" : want == kMaxCtas ? "all that there can be" : "in between");
    if (c.share > 1) coverage.hit("shared SM");
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
