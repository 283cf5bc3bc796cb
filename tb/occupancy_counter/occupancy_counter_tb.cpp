// SPDX-License-Identifier: Apache-2.0
// Bench of occupancy_counter: the Verilated RTL, with an adder and a comparison as the dispatcher has them, against the golden
// occupancy of a share of an SM, and its cycles. SLUICE_FULL=1: 3 x 10^6 cases.
#include <Voccupancy_counter.h>
#include <gtest/gtest.h>

#include <deque>

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

/// One CTA fits.
Case problem(Random& random) {
  Case c;
  c.share = random.in(1, kKernels);
  const auto some = [&random](std::uint32_t capacity) {
    return random.chance(0.2) ? 0 : random.in(0, capacity >> random.in(0, 7));
  };
  const std::uint32_t warps = random.chance(0.2) ? 127 : random.in(1, 127);
  c.capacity = {warps * kWarpSize, random.in(1, 131071), random.in(0, 262143), random.in(1, kMaxCtas)};
  c.cta = {some(warps) * kWarpSize, some(c.capacity.registers), some(c.capacity.shared_memory_bytes), 1};
  if (random.chance(0.3)) {  // exactly so many
    const std::uint32_t ctas = c.share * random.in(1, kMaxCtas / c.share);
    c.cta.registers = std::max(1U, c.capacity.registers / ctas);
    c.capacity.registers = std::max(c.cta.registers, c.cta.registers * ctas - (random.chance(0.5) ? 1 : 0));
  }
  return c;
}

/// CTAs that fit in floor(capacity / share) of every resource.
std::uint32_t golden(const Case& c) {
  const SmResources part{c.capacity.threads / kWarpSize / c.share * kWarpSize, c.capacity.registers / c.share,
                         c.capacity.shared_memory_bytes / c.share, c.capacity.cta_slots / c.share};
  return occupancy(c.cta, part).value();
}

/// The dispatcher's part: what is added up in a cycle is compared two cycles later.
class Lane {
 public:
  void cycle(Voccupancy_counter& rtl, const Case& c) {
    const std::uint64_t ctas = added_ + 1;
    rtl.fits_i = ctas * c.cta.threads <= c.capacity.threads && ctas * c.cta.registers <= c.capacity.registers &&
                 ctas * c.cta.shared_memory_bytes <= c.capacity.shared_memory_bytes;
    added_ = next_;
    next_ = rtl.count_first_o != 0 ? 1 : next_ + 1;
  }

 private:
  std::uint64_t added_ = 0, next_ = 0;
};

TEST(OccupancyCounter, EqualsTheGoldenOccupancyInACycleACta) {
  Random random(seed());
  Coverage coverage("occupancy_counter");
  coverage.declare("none of a share", "0");
  coverage.declare("all that there can be", "MAX_CTAS");
  coverage.declare("in between", "limited by a resource");
  coverage.declare("shared SM", "an n-th of the SM");
  coverage.declare("started again", "a start while it counts");
  coverage.declare("dropped", "a reset or an abort while it counts");
  VerilatedModel<Voccupancy_counter> rtl(waveform("occupancy_counter"));
  Lane lane;
  const auto cycle = [&rtl, &lane](const Case& c) {
    rtl->clk_i = 0;
    rtl.eval();
    lane.cycle(*rtl, c);
    rtl.low();
    rtl.high();
  };
  rtl->start_i = rtl->abort_i = 0;
  rtl->rst_ni = 0;
  cycle({});
  rtl->rst_ni = 1;
  const std::uint64_t cases = campaign(30000, 3000000);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Case c = problem(random);
    rtl->start_i = 1;
    cycle(c);
    rtl->start_i = 0;
    rtl->share_i = static_cast<CData>(c.share);
    rtl->capacity_slots_i = static_cast<CData>(c.capacity.cta_slots);
    const std::uint32_t want = golden(c), ctas = golden({c.capacity, c.cta, 1});
    const std::uint32_t cut = random.chance(0.1) ? random.in(0, 4) : 100;
    std::uint32_t cycles = 1;
    for (; rtl->done_o == 0 && cycles <= cut; ++cycles) {
      ASSERT_LT(cycles, 50U) << "case " << i << ": does not end";
      cycle(c);
    }
    if (rtl->done_o == 0) {
      const bool dropped = random.chance(0.5);
      coverage.hit(dropped ? "dropped" : "started again");
      if (!dropped) continue;
      const bool reset = random.chance(0.5);
      (reset ? rtl->rst_ni : rtl->abort_i) = reset ? 0 : 1;
      cycle(c);
      rtl->rst_ni = 1;
      rtl->abort_i = 0;
      for (int quiet = 0; quiet < 12; ++quiet) {
        ASSERT_EQ(rtl->done_o | rtl->count_o, 0) << "case " << i << ": still counts";
        cycle(c);
      }
      continue;
    }
    ASSERT_EQ(rtl->occupancy_o, want) << "case " << i;
    ASSERT_EQ(cycles, ctas + 3) << "case " << i;
    if (random.chance(0.5)) {
      cycle(c);
      ASSERT_EQ(rtl->done_o, 0) << "case " << i << ": done is a pulse";
    }
    coverage.hit(want == 0 ? "none of a share" : want == kMaxCtas ? "all that there can be" : "in between");
    if (c.share > 1) coverage.hit("shared SM");
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
