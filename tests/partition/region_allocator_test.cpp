// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/region_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace sluice {
namespace {

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
