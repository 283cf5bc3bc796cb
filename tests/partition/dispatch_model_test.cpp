// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/dispatch_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "sw/partition/region_allocator.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::string kConfigs = std::string(SLUICE_SOURCE_DIR) + "/configs";

TEST(DispatchModel, RegionsOfTheDefaultSizeKeepTheOccupancyOfTableTwo) {
  const SmResources capacity = read_machine(kConfigs + "/machines/fermi_table1.toml").sm.capacity;
  for (const KernelDescriptor& kernel : read_workload(kConfigs + "/workloads/table2.toml").kernels) {
    DispatchModel model(1, capacity, 1, 64);
    ASSERT_EQ(model.launch(0, {kernel.demand(), 1000}), DispatchModel::Verdict::Taken);
    std::uint32_t placed = 0;
    for (; model.admissible(0, 0, CtaCount(1000), true); ++placed) {
      (void)model.admit(0, 0, false, false);
      ASSERT_TRUE(model.place(0, model.seat(0, 0))) << kernel.name;
    }
    EXPECT_EQ(placed, occupancy(kernel.demand(), capacity).value()) << kernel.name;
  }
}

TEST(DispatchModel, RefusesWhatDoesNotFitOrExist) {
  DispatchModel model(2, {1536, 32768, 49152, 8}, 2, 64);
  EXPECT_EQ(model.launch(0, {{64, 40000, 0, 1}, 1}), DispatchModel::Verdict::CannotFit);
  EXPECT_EQ(model.launch(0, {{64, 100, 0, 1}, 0}), DispatchModel::Verdict::CannotFit);
  EXPECT_EQ(model.stop(0), DispatchModel::Verdict::BadKernel);
  EXPECT_EQ(model.launch(0, {{64, 100, 0, 1}, 1}), DispatchModel::Verdict::Taken);
  EXPECT_EQ(model.launch(0, {{64, 100, 0, 1}, 1}), DispatchModel::Verdict::SlotBusy);
  EXPECT_EQ(model.done(0, 0), std::nullopt);
  EXPECT_EQ(model.done(7, 0), std::nullopt);
}

TEST(DispatchModel, EndsWhenTheLastCtaOfTheGridHasEnded) {
  DispatchModel model(1, {1536, 32768, 49152, 8}, 1, 64);
  ASSERT_EQ(model.launch(0, {{64, 100, 1024, 1}, 2}), DispatchModel::Verdict::Taken);
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    EXPECT_EQ(model.admit(0, 0, false, false), cta);
    ASSERT_TRUE(model.place(0, model.seat(0, 0)));
  }
  EXPECT_FALSE(model.admissible(0, 0, CtaCount(8), true));
  EXPECT_EQ(model.done(0, 0), 0U);
  model.leave(0, 0);
  model.count_end(0);
  EXPECT_FALSE(model.ending(0));
  EXPECT_EQ(model.done(0, 1), 0U);
  EXPECT_FALSE(model.holds(0, 1));
  model.leave(0, 1);
  EXPECT_FALSE(model.ending(0));
  model.count_end(0);
  ASSERT_TRUE(model.ending(0));
  EXPECT_EQ(model.free(0), (SmResources{1536, 32768, 49152, 8}));
  EXPECT_EQ(model.registers(0).free_units(), 64U);
}

TEST(RegionAllocator, TakesTheLowestGapThatFits) {
  RegionAllocator memory(10);
  EXPECT_EQ(memory.allocate(4), 0U);
  EXPECT_EQ(memory.allocate(3), 4U);
  memory.release(0);
  EXPECT_EQ(memory.allocate(5), std::nullopt);
  EXPECT_EQ(memory.allocate(3), 0U);
  EXPECT_EQ(memory.allocate(3), 7U);
}

TEST(RegionAllocator, FragmentsWhenShortRegionsEndBetweenLongOnes) {
  // A needs half of what B needs and their CTAs alternate. All of A ends: half as much as one B is free, in each of two gaps.
  RegionAllocator memory(6);
  const auto a1 = memory.allocate(1), b1 = memory.allocate(2), a2 = memory.allocate(1), b2 = memory.allocate(2);
  ASSERT_TRUE(a1 && b1 && a2 && b2);
  memory.release(*a1);
  memory.release(*a2);
  EXPECT_EQ(memory.free_units(), 2U);
  EXPECT_EQ(memory.largest_gap(), 1U);
  EXPECT_EQ(memory.allocate(2), std::nullopt);
}

TEST(RegionAllocator, MergesFreeNeighbours) {
  RegionAllocator memory(6);
  const auto a = memory.allocate(2), b = memory.allocate(2), c = memory.allocate(2);
  ASSERT_TRUE(a && b && c);
  memory.release(*a);
  memory.release(*b);
  EXPECT_EQ(memory.allocate(4), 0U);
}

TEST(RegionAllocator, EmptyRegionsAlwaysFitAndHoldNothing) {
  RegionAllocator memory(2);
  ASSERT_TRUE(memory.allocate(2));
  const auto none = memory.allocate(0);
  ASSERT_TRUE(none);
  memory.release(*none);
  EXPECT_EQ(memory.free_units(), 0U);
}

RC_GTEST_PROP(RegionAllocator, RegionsNeverOverlapAndNothingIsLost, ()) {
  constexpr std::uint32_t kSize = 64;
  RegionAllocator memory(kSize);
  std::map<std::uint32_t, std::uint32_t> held;  // base -> length
  const auto lengths = *rc::gen::container<std::vector<std::uint32_t>>(200, rc::gen::inRange(0U, 20U));
  for (const std::uint32_t length : lengths) {
    if (length == 0) {  // give one back
      if (held.empty()) continue;
      memory.release(held.begin()->first);
      held.erase(held.begin());
      continue;
    }
    const std::uint32_t gap = memory.largest_gap();
    const auto base = memory.allocate(length);
    RC_ASSERT(base.has_value() == (gap >= length));
    if (base) RC_ASSERT(held.emplace(*base, length).second);
  }
  std::uint32_t end = 0, used = 0;
  for (const auto& [base, length] : held) {
    RC_ASSERT(base >= end);
    end = base + length;
    used += length;
  }
  RC_ASSERT(end <= kSize);
  RC_ASSERT(memory.free_units() == kSize - used);
}

}  // namespace
}  // namespace sluice
