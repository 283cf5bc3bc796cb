// SPDX-License-Identifier: Apache-2.0
#pragma once
// Anything that the ports of the partition core allow, the Verilated RTL and its twin in lockstep.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "systemc/unit/rtl/decision_driver.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"

namespace sluice::tb {

class Generator {
 public:
  explicit Generator(std::uint64_t s) : random_(s) {}

  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }

  /// Anything the ports allow, corner values included.
  DecisionCase wild(std::uint32_t most_slots) {
    DecisionCase s = frame(in(1, 4), chance(0.5) ? 8 : most_slots);
    for (auto& kernel : s.samples) {
      const bool dead = chance(0.05), climbs = chance(0.5);  // a climbing curve has many steps
      std::uint32_t level = 0;
      const std::uint32_t most = chance(0.1) ? in(1, 40) : 4 * (chance(0.5) ? 5120 : in(1024, 65535));  // of a window
      for (std::uint32_t& insts : kernel) {
        level += in(0, most / static_cast<std::uint32_t>(kernel.size()));
        insts = dead || chance(0.02) ? 0 : climbs ? level : chance(0.05) ? (1U << 18) - 1 : in(0, most);
      }
    }
    s.config.epsilon = chance(0.7) ? 0 : in(0, kPerfOne / 8);
    s.config.loss_limit = chance(0.5) ? in(0, std::min<std::uint32_t>(65535, s.config.num_kernels * kPerfOne)) : 65535;
    return s;
  }
  /// Each kernel in any row of the table; some of those with a curve there keep it. @param curves  mask of such rows
  void keep(DecisionCase& s, unsigned curves, std::uint32_t rows) {
    std::shuffle(s.config.rows.begin(), s.config.rows.begin() + rows, random_);
    for (unsigned k = 0; k < s.config.num_kernels; ++k) {
      if ((curves >> s.config.rows[k] & 1U) == 0 || chance(0.5)) continue;
      s.config.kept |= static_cast<std::uint8_t>(1U << k);
      s.samples[k].clear();
    }
  }

 private:
  DecisionCase frame(std::uint32_t kernels, std::uint32_t slots) {
    DecisionCase s;
    s.config.num_kernels = static_cast<std::uint8_t>(kernels);
    s.config.capacity_warps = slots == 8 ? 48 : 64;
    s.config.capacity_registers = slots == 8 ? 32768 : 65536;
    s.config.capacity_shared_bytes = slots == 8 ? 49152 : 233472;
    s.config.capacity_slots = slots;
    const bool light = chance(0.3);  // many fit
    for (std::uint32_t k = 0; k < kernels; ++k) {
      s.config.demand_warps[k] = in(1, light ? 2 : chance(0.1) ? 48 : 8);
      s.config.demand_registers[k] = in(0, s.config.capacity_registers / (light ? 32 : chance(0.1) ? 1 : 4));
      s.config.demand_shared_bytes[k] = light || chance(0.5) ? 0 : in(0, s.config.capacity_shared_bytes / (chance(0.1) ? 1 : 4));
      const std::uint32_t levels = light ? slots : in(1, slots);
      s.samples.emplace_back(levels);
    }
    if (chance(0.3)) s.split = in(1, slots - 1);
    return s;
  }

  std::mt19937_64 random_;
};

/// @param slots  CTA slots that the core is made for
/// @param rows   of its table, with CHURN; else 0
inline void run_lockstep(IPartitionCore& rtl, std::uint32_t slots, std::uint32_t rows = 0) {
  Generator random(seed());
  const auto twin = make_twin_partition_core();
  Coverage coverage("partition_core");
  coverage.declare("partition", "CTAs for every kernel");
  coverage.declare("spatial", "the loss guard refuses");
  coverage.declare("no fit", "one CTA of each does not fit");
  coverage.declare("reset", "a reset in mid-decision");
  coverage.declare("restart", "a new start in mid-decision");
  coverage.declare("abort", "a decision dropped");
  coverage.declare("two windows", "levels of a second window");
  if (rows != 0) coverage.declare("kept", "a decision with and without samples");
  unsigned long long compared = 0;
  unsigned curves = 0;  // mask of rows with a curve
  const int decisions = static_cast<int>(campaign(3000, 100000));
  for (int d = 0; d < decisions; ++d) {
    DecisionCase stimulus = random.wild(slots);
    if (rows != 0) random.keep(stimulus, curves, rows);
    unsigned mine = 0;
    for (unsigned k = 0; k < stimulus.config.num_kernels; ++k) mine |= 1U << stimulus.config.rows[k];
    curves &= ~mine;
    DecisionDriver driver(stimulus);
    if (stimulus.split != 0) coverage.hit("two windows");
    const double gaps = random.chance(0.5) ? 0 : 0.3;
    const std::uint32_t cut = random.chance(0.1) ? random.in(0, 3000) : 100000;  // a reset, or a new start, in mid-decision
    for (std::uint32_t cycle = 0;; ++cycle) {
      PartitionCoreIn in = driver.next(random.chance(gaps));
      bool dropped = false;
      if (cycle == cut) {
        const std::uint32_t how = random.in(0, 2);
        coverage.hit(how == 0 ? "reset" : how == 1 ? "restart" : "abort");
        if (how == 1) break;
        in.rst_n = how != 0;
        in.abort = dropped = how == 2;
        in.start = false;
      }
      const PartitionCoreOut a = rtl.cycle(in);
      const PartitionCoreOut b = twin->cycle(in);
      ++compared;
      ASSERT_EQ(a.scaled_valid, b.scaled_valid) << "decision " << d << " cycle " << cycle;
      if (a.scaled_valid) {
        ASSERT_EQ(a.scaled_kernel, b.scaled_kernel) << "decision " << d << " cycle " << cycle;
        ASSERT_EQ(a.scaled_ctas, b.scaled_ctas) << "decision " << d << " cycle " << cycle;
        ASSERT_EQ(a.scaled, b.scaled) << "decision " << d << " cycle " << cycle;
      }
      ASSERT_EQ(a.done, b.done) << "decision " << d << " cycle " << cycle;
      if (!in.rst_n || dropped) break;
      if (!a.done || in.start) {  // done with a start: of the decision before
        ASSERT_LT(cycle, 20000U) << "decision " << d << " does not end";
        continue;
      }
      ASSERT_EQ(a.no_fit, b.no_fit) << "decision " << d;
      curves |= mine;
      if (rows != 0 && in.kept != 0 && std::popcount(in.kept) < in.num_kernels) coverage.hit("kept");
      coverage.hit(a.no_fit ? "no fit" : a.spatial ? "spatial" : "partition");
      if (!a.no_fit) {
        ASSERT_EQ(a.spatial, b.spatial) << "decision " << d;
        for (unsigned k = 0; k < in.num_kernels; ++k) ASSERT_EQ(a.ctas[k], b.ctas[k]) << "decision " << d << " kernel " << k;
      }
      break;
    }
  }
  std::printf("%d decisions, %llu cycles compared\n", decisions, compared);
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});  // a campaign that misses one of these proves nothing about it
}

}  // namespace sluice::tb
