// SPDX-License-Identifier: Apache-2.0
// What fixed point costs the partition core against the golden algorithm in double precision, and how many cycles a decision
// takes. SLUICE_FULL=1: 10^5 profiles.
#include <Vcore_4_8.h>
#include <Vpartition_core.h>
#include <gtest/gtest.h>

#include "study/rtl_benchmark/rtl_benchmark.h"
#include "systemc/unit/rtl/rtl_partition_core.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"
#include "tb/partition_core/lockstep.h"

namespace sluice {
namespace {

TEST(PartitionCore, RtlAndTwinAgreeWithEightCtaSlots) {
  RtlPartitionCore<Vcore_4_8, 4> rtl;
  tb::run_lockstep(rtl, 8);
}

TEST(PartitionCore, FixedPointKeepsTheGoldenPartition) {
  RtlPartitionCore<Vpartition_core, 4> rtl(tb::waveform("partition_core"));
  const FixedPointCost cost = measure_fixed_point(rtl, tb::campaign(10000, 100000), tb::seed());
  std::printf(
      "%llu decisions: %llu differ from double precision (%.3f %%), %llu of them in the loss guard's verdict, %llu by more than "
      "one "
      "CTA; an entry off by %.6f of its value at most\n",
      static_cast<unsigned long long>(cost.decisions), static_cast<unsigned long long>(cost.changed), cost.changed_pct(),
      static_cast<unsigned long long>(cost.changed_verdict), static_cast<unsigned long long>(cost.changed_by_more),
      cost.entry_max_error);
  EXPECT_LT(cost.changed_pct(), 0.5);
  EXPECT_LE(cost.changed_by_more, cost.most_by_more());
  EXPECT_LE(cost.entry_max_error, kEntryErrorBound);
}

TEST(PartitionCore, DecidesWithinItsCycleBounds) {
  for (const DecisionTimes& times : decision_models().measure(static_cast<unsigned>(tb::campaign(5, 300)), tb::seed())) {
    std::printf("K %u, N %u: water-filling %u cycles, decision %u of %u\n", times.kernels, times.levels, times.waterfill,
                times.decision, times.decision_bound());
    if (times.kernels == 4 && times.levels == 8) {
      EXPECT_LE(times.decision_bound(), 2500U);
    }
    EXPECT_LE(times.decision, times.decision_bound());
  }
}

}  // namespace
}  // namespace sluice
