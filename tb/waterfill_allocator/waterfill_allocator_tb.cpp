// SPDX-License-Identifier: Apache-2.0
// Bench of waterfill_allocator: random problems, the Verilated RTL against the golden algorithm in double precision. Performances
// are multiples of 2**-11 with 1.0 among them, so that both see exactly the same numbers. SLUICE_FULL=1: 10^6 problems.
#include <Vwaterfill_allocator.h>
#include <gtest/gtest.h>

#include "sw/partition/waterfill.h"
#include "systemc/unit/rtl/rtl_waterfill_allocator.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr unsigned kKernels = 4;

void declare_bins(Coverage& coverage) {
  coverage.declare("one kernel", "a single kernel fills the SM");
  coverage.declare("all kernels", "as many kernels as there can be");
  coverage.declare("no fit", "one CTA of each does not fit");
  coverage.declare("last fits exactly", "nothing of some resource is left");
  coverage.declare("step of several", "a step skips counts that gain nothing");
  coverage.declare("tie", "two kernels equally badly off");
  coverage.declare("epsilon", "a threshold that changes the answer");
  coverage.declare("everything", "every kernel ends at its best");
  coverage.declare("counted", "demands counted between decisions");
  coverage.declare("aborted", "a decision dropped in mid-way");
  for (const char* resource : {"warps", "registers", "shared memory", "slots"})
    coverage.declare(std::string("limited by ") + resource, "the only resource that ends the filling");
}

std::vector<std::uint32_t> curve(Random& random) {
  std::vector<std::uint32_t> points(random.chance(0.1) ? 1 : random.in(1, 32));
  const bool coarse = random.chance(0.3);  // many ties and flat stretches
  std::uint32_t value = random.in(0, kPerfOne / (coarse ? 2 : 8));
  for (std::uint32_t& point : points) {
    point = value == kPerfOne - 1 ? value - 1 : coarse ? value / 2048 * 2048 : value;
    if (random.chance(0.8))
      value = std::min(kPerfOne, value + random.in(0, 1 + 2 * kPerfOne / static_cast<std::uint32_t>(points.size())));
    if (random.chance(0.1)) value -= random.in(0, value / 4);
  }
  points[random.in(0, static_cast<std::uint32_t>(points.size()) - 1)] = kPerfOne;  // its own best
  return points;
}

/// Capacities that some CTAs of the kernels fill exactly or miss by one, and a threshold that a step's gain just reaches or
/// misses.
void to_the_edge(WaterfillCase& c, Random& random) {
  std::uint64_t warps = 0, registers = 0, shared_bytes = 0;
  for (const WaterfillCase::Kernel& kernel : c.kernels) {
    const std::uint32_t ctas = random.in(1, 8);
    warps += ctas * kernel.warps;
    registers += std::uint64_t{ctas} * kernel.registers;
    shared_bytes += std::uint64_t{ctas} * kernel.shared_bytes;
  }
  const auto edge = [&random](std::uint64_t exact, std::uint32_t most) {
    const std::uint64_t less = random.in(0, 1);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::max(exact, less) - less, most));
  };
  c.capacity_warps = std::max(1U, edge(warps, 127));
  c.capacity_registers = edge(registers, 131071);
  c.capacity_shared_bytes = edge(shared_bytes, 262143);
  const std::vector<std::uint32_t>& curve = c.kernels.front().performance;
  std::vector<std::uint32_t> steps{0};
  for (std::uint32_t j = 1; j < curve.size(); ++j)
    if (curve[j] > curve[steps.back()]) steps.push_back(j);
  if (steps.size() < 2) return;
  const std::uint32_t to = random.chance(0.5) ? static_cast<std::uint32_t>(steps.size()) - 1
                                              : random.in(1, static_cast<std::uint32_t>(steps.size()) - 1);
  const std::uint32_t gain = curve[steps[to]] - curve[steps[to - 1]];
  c.epsilon = (gain - random.in(0, 1)) / (steps[to] - steps[to - 1]);
}

WaterfillCase problem(Random& random) {
  WaterfillCase c;
  c.capacity_warps = random.chance(0.1) ? 127 : random.in(1, 64);
  c.capacity_registers = random.chance(0.3) ? 65536 : random.in(1024, 131071);
  c.capacity_shared_bytes = random.chance(0.3) ? 49152 : random.in(0, 262143);
  c.capacity_slots = random.chance(0.3) ? 32 : random.in(1, 32);
  c.epsilon = random.chance(0.7) ? 0 : random.chance(0.5) ? random.in(1, kPerfOne / 50) : random.in(1, kPerfOne);
  const std::uint32_t kernels = random.in(1, kKernels);
  for (std::uint32_t k = 0; k < kernels; ++k) {
    const auto some = [&random](std::uint32_t capacity) {
      return random.chance(0.3) ? 0 : random.in(0, std::max(1U, capacity >> random.in(0, 5)));
    };
    c.kernels.push_back({some(c.capacity_warps), some(c.capacity_registers), some(c.capacity_shared_bytes), curve(random)});
    if (random.chance(0.1)) c.kernels.back().registers = random.in(0, 131071);
  }
  if (random.chance(0.3)) to_the_edge(c, random);
  return c;
}

SmResources resources(std::uint32_t warps, std::uint32_t registers, std::uint32_t shared, std::uint32_t slots) {
  return {warps * kWarpSize, registers, shared, slots};
}

std::optional<WaterfillResult> golden(const WaterfillCase& c, std::uint32_t epsilon) {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  for (const WaterfillCase::Kernel& kernel : c.kernels) {
    Profile profile;
    for (const std::uint32_t p : kernel.performance) profile.push_back(static_cast<double>(p) / kPerfOne);
    profiles.push_back(profile);
    demand.push_back(resources(kernel.warps, kernel.registers, kernel.shared_bytes, 1));
  }
  return waterfill(profiles, demand, resources(c.capacity_warps, c.capacity_registers, c.capacity_shared_bytes, c.capacity_slots),
                   static_cast<double>(epsilon) / kPerfOne);
}

void cover(const WaterfillCase& c, const std::optional<WaterfillResult>& want, Coverage& coverage) {
  if (c.kernels.size() == 1) coverage.hit("one kernel");
  if (c.kernels.size() == kKernels) coverage.hit("all kernels");
  if (!want) {
    coverage.hit("no fit");
    return;
  }
  if (c.epsilon != 0 && golden(c, 0)->ctas != want->ctas) coverage.hit("epsilon");
  std::array<std::uint32_t, 4> left{c.capacity_warps, c.capacity_registers, c.capacity_shared_bytes, c.capacity_slots};
  bool all_best = true;
  for (std::size_t k = 0; k < c.kernels.size(); ++k) {
    const WaterfillCase::Kernel& kernel = c.kernels[k];
    const std::uint32_t ctas = want->ctas[k].value();
    left[0] -= ctas * kernel.warps;
    left[1] -= ctas * kernel.registers;
    left[2] -= ctas * kernel.shared_bytes;
    left[3] -= ctas;
    all_best &= want->performance[k] == 1.0;
    for (std::size_t n = 1; n < ctas; ++n) {
      if (kernel.performance[n] <=
          *std::max_element(kernel.performance.begin(), kernel.performance.begin() + static_cast<long>(n)))
        coverage.hit("step of several");
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (c.kernels[j].performance[0] == kernel.performance[0]) coverage.hit("tie");
    }
  }
  if (all_best) coverage.hit("everything");
  if (left[0] == 0 || left[1] == 0 || left[2] == 0 || left[3] == 0) coverage.hit("last fits exactly");
  if (all_best || c.epsilon != 0) return;
  // Which resources alone stop some kernel that could gain.
  const std::array<const char*, 4> names{"limited by warps", "limited by registers", "limited by shared memory",
                                         "limited by slots"};
  for (std::size_t k = 0; k < c.kernels.size(); ++k) {
    if (want->performance[k] == 1.0) continue;
    const WaterfillCase::Kernel& kernel = c.kernels[k];
    std::uint32_t next = want->ctas[k].value();
    while (next < kernel.performance.size() && kernel.performance[next] / double{kPerfOne} <= want->performance[k]) ++next;
    const std::uint32_t step = next + 1 - want->ctas[k].value();
    const std::array<bool, 4> short_of{step * kernel.warps > left[0], step * kernel.registers > left[1],
                                       step * kernel.shared_bytes > left[2], step > left[3]};
    if (std::ranges::count(short_of, true) == 1)
      coverage.hit(names[static_cast<std::size_t>(std::ranges::find(short_of, true) - short_of.begin())]);
  }
}

TEST(WaterfillAllocator, EqualsTheGoldenAlgorithmWithinItsBound) {
  const std::uint64_t start = seed();
  Random random(start);
  Coverage coverage("waterfill_allocator");
  declare_bins(coverage);
  RtlWaterfillAllocator<Vwaterfill_allocator, kKernels> rtl(waveform("waterfill_allocator"));
  const std::uint64_t cases = campaign(100000, 1000000);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const WaterfillCase c = problem(random);
    if (random.chance(0.02)) {
      ASSERT_FALSE(rtl.abort(c, random.in(0, 20))) << "case " << i << ": done after an abort";
      coverage.hit("aborted");
    }
    if (random.chance(0.3)) {  // between decisions its subtractors count
      const WaterfillCase::Kernel& kernel = c.kernels.front();
      const SmResources sm = resources(c.capacity_warps, c.capacity_registers, c.capacity_shared_bytes, c.capacity_slots);
      const auto fitting = occupancy(resources(kernel.warps, kernel.registers, kernel.shared_bytes, 1), sm).value();
      ASSERT_EQ(rtl.count(c, kernel), fitting) << "case " << i << ": demands counted";
      coverage.hit("counted");
    }
    const auto want = golden(c, c.epsilon);
    const auto got = rtl.decide(c);
    ASSERT_TRUE(got) << "case " << i << ": no answer";
    ASSERT_LE(got->cycles, c.capacity_slots + c.kernels.size() + 4) << "case " << i;
    ASSERT_EQ(got->no_fit, !want) << "case " << i;
    for (std::size_t k = 0; want && k < c.kernels.size(); ++k) {
      ASSERT_EQ(got->ctas[k], want->ctas[k].value()) << "case " << i << ", kernel " << k;
      ASSERT_EQ(got->performance[k] / double{kPerfOne}, want->performance[k]) << "case " << i << ", kernel " << k;
    }
    cover(c, want, coverage);
  }
  std::printf("%llu problems\n", static_cast<unsigned long long>(cases));
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
