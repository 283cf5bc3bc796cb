// SPDX-License-Identifier: Apache-2.0
// Bench of the partition core against the golden algorithm, exactly: star-shaped curves with a best of 4,096 instructions, so
// that fixed point and double precision see the same numbers. SLUICE_FULL=1: 10^5 problems.
#include <Vpartition_core.h>
#include <gtest/gtest.h>

#include "sw/core/resources.h"

#include "sw/partition/waterfill.h"
#include "systemc/unit/rtl/decision_driver.h"
#include "systemc/unit/rtl/rtl_partition_core.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr unsigned kKernels = 4;
constexpr std::uint32_t kBest = 4096;              // instructions
constexpr std::uint32_t kUnit = kPerfOne / kBest;  // performance of an instruction

struct Problem {
  struct Kernel {
    std::uint32_t warps = 1, registers = 0, shared_bytes = 0;  ///< of one CTA
    std::vector<std::uint32_t> curve;                          ///< instructions at 1, 2, ... CTAs
  };
  std::uint32_t capacity_warps = 0, capacity_registers = 0, capacity_shared_bytes = 0, capacity_slots = 0;
  std::uint32_t epsilon = 0;  ///< units of 1 / kPerfOne
  std::vector<Kernel> kernels;
};

void declare_bins(Coverage& coverage) {
  coverage.declare("one kernel", "a single kernel fills the SM");
  coverage.declare("all kernels", "as many kernels as there can be");
  coverage.declare("no fit", "one CTA of each does not fit");
  coverage.declare("last fits exactly", "nothing of some resource is left");
  coverage.declare("step of several", "a step skips counts that gain nothing");
  coverage.declare("tie", "two kernels equally badly off");
  coverage.declare("epsilon", "a threshold that changes the answer");
  coverage.declare("everything", "every kernel ends at its best");
  for (const char* resource : {"warps", "registers", "shared memory", "slots"})
    coverage.declare(std::string("limited by ") + resource, "the only resource that ends the filling");
}

/// Instructions per CTA do not rise with the CTAs, so the star hull is the curve itself.
std::vector<std::uint32_t> curve(Random& random) {
  std::vector<std::uint32_t> points(random.chance(0.1) ? 1 : random.in(1, 32));
  const bool coarse = random.chance(0.3);  // many ties and flat stretches
  const std::uint32_t peak = random.in(1, static_cast<std::uint32_t>(points.size()));
  points[peak - 1] = kBest;
  for (std::uint32_t n = peak - 1; n > 0; --n) {
    const std::uint32_t most = points[n], least = (most * n + n) / (n + 1);
    points[n - 1] = random.chance(0.2) ? most : random.chance(0.3) ? least : random.in(least, most);
    const std::uint32_t step = coarse ? 256 : 1;
    points[n - 1] = std::min(most, (points[n - 1] + step - 1) / step * step);
  }
  for (std::uint32_t n = peak + 1; n <= points.size(); ++n) {
    const std::uint32_t most = std::min(kBest, points[n - 2] * n / (n - 1));
    points[n - 1] = random.chance(0.3) ? most : random.in(most * 3 / 4, most);
  }
  return points;
}

/// Capacities that some CTAs of the kernels fill exactly or miss by one, and a threshold that a step's gain just reaches or
/// misses.
void to_the_edge(Problem& c, Random& random) {
  std::uint64_t warps = 0, registers = 0, shared_bytes = 0;
  for (const Problem::Kernel& kernel : c.kernels) {
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
  const std::vector<std::uint32_t>& curve = c.kernels.front().curve;
  std::vector<std::uint32_t> steps{0};
  for (std::uint32_t j = 1; j < curve.size(); ++j)
    if (curve[j] > curve[steps.back()]) steps.push_back(j);
  if (steps.size() < 2) return;
  const std::uint32_t to = random.chance(0.5) ? static_cast<std::uint32_t>(steps.size()) - 1
                                              : random.in(1, static_cast<std::uint32_t>(steps.size()) - 1);
  const std::uint32_t gain = (curve[steps[to]] - curve[steps[to - 1]]) * kUnit;
  c.epsilon = (gain - random.in(0, 1)) / (steps[to] - steps[to - 1]);
}

Problem problem(Random& random) {
  Problem c;
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

std::optional<WaterfillResult> golden(const Problem& c, std::uint32_t epsilon) {
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  for (const Problem::Kernel& kernel : c.kernels) {
    Profile profile;
    for (const std::uint32_t insts : kernel.curve) profile.push_back(insts);
    profiles.push_back(profile);
    demand.push_back(resources(kernel.warps, kernel.registers, kernel.shared_bytes, 1));
  }
  return waterfill(profiles, demand, resources(c.capacity_warps, c.capacity_registers, c.capacity_shared_bytes, c.capacity_slots),
                   static_cast<double>(epsilon) / kPerfOne);
}

void cover(const Problem& c, const std::optional<WaterfillResult>& want, Coverage& coverage) {
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
    const Problem::Kernel& kernel = c.kernels[k];
    const std::uint32_t ctas = want->ctas[k].value();
    left[0] -= ctas * kernel.warps;
    left[1] -= ctas * kernel.registers;
    left[2] -= ctas * kernel.shared_bytes;
    left[3] -= ctas;
    all_best &= want->performance[k] == 1.0;
    for (std::size_t n = 1; n < ctas; ++n) {
      if (kernel.curve[n] <= *std::max_element(kernel.curve.begin(), kernel.curve.begin() + static_cast<long>(n)))
        coverage.hit("step of several");
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (c.kernels[j].curve[0] == kernel.curve[0]) coverage.hit("tie");
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
    const Problem::Kernel& kernel = c.kernels[k];
    std::uint32_t next = want->ctas[k].value();
    while (next < kernel.curve.size() && kernel.curve[next] / double{kBest} <= want->performance[k]) ++next;
    const std::uint32_t step = next + 1 - want->ctas[k].value();
    const std::array<bool, 4> short_of{step * kernel.warps > left[0], step * kernel.registers > left[1],
                                       step * kernel.shared_bytes > left[2], step > left[3]};
    if (std::ranges::count(short_of, true) == 1)
      coverage.hit(names[static_cast<std::size_t>(std::ranges::find(short_of, true) - short_of.begin())]);
  }
}

DecisionCase decision(const Problem& c) {
  DecisionCase d;
  d.config.num_kernels = static_cast<std::uint8_t>(c.kernels.size());
  d.config.capacity_warps = c.capacity_warps;
  d.config.capacity_registers = c.capacity_registers;
  d.config.capacity_shared_bytes = c.capacity_shared_bytes;
  d.config.capacity_slots = c.capacity_slots;
  d.config.epsilon = c.epsilon;
  d.config.loss_limit = 65535;  // every partition stands
  for (std::size_t k = 0; k < c.kernels.size(); ++k) {
    d.config.demand_warps[k] = c.kernels[k].warps;
    d.config.demand_registers[k] = c.kernels[k].registers;
    d.config.demand_shared_bytes[k] = c.kernels[k].shared_bytes;
    d.samples.push_back(c.kernels[k].curve);
  }
  return d;
}

TEST(WaterFilling, EqualsTheGoldenAlgorithm) {
  Random random(seed());
  Coverage coverage("water_filling");
  declare_bins(coverage);
  RtlPartitionCore<Vpartition_core, kKernels> rtl(waveform("water_filling"));
  const std::uint64_t cases = campaign(2000, 100000);
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Problem c = problem(random);
    const auto want = golden(c, c.epsilon);
    const auto got = decide(rtl, decision(c), [](const PartitionCoreOut&) {});
    ASSERT_TRUE(got) << "case " << i << ": no answer";
    ASSERT_EQ(got->no_fit, !want) << "case " << i;
    for (std::size_t k = 0; want && k < c.kernels.size(); ++k)
      ASSERT_EQ(got->ctas[k], want->ctas[k].value()) << "case " << i << ", kernel " << k;
    cover(c, want, coverage);
  }
  std::printf("%llu problems\n", static_cast<unsigned long long>(cases));
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sluice::tb
