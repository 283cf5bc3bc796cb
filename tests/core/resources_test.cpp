// SPDX-License-Identifier: Apache-2.0
#include "sw/core/resources.h"

#include <gtest/gtest.h>

#include "sw/core/kernel.h"
#include "sw/core/share.h"

namespace sluice {
namespace {

constexpr SmResources kFermi{1536, 32768, 49152, 8};

TEST(Resources, OccupancyIsSetByTheScarcestResource) {
  EXPECT_EQ(occupancy({256, 9216, 3072, 1}, kFermi), CtaCount(3));  // registers
  EXPECT_EQ(occupancy({64, 2304, 2048, 1}, kFermi), CtaCount(8));   // slots
  EXPECT_EQ(occupancy({512, 1024, 0, 1}, kFermi), CtaCount(3));     // threads
  EXPECT_EQ(occupancy({32, 0, 20000, 1}, kFermi), CtaCount(2));     // shared memory
  EXPECT_EQ(occupancy({32, 32769, 0, 1}, kFermi), CtaCount(0));
}

TEST(Resources, AnOccupancyFitsAndOneMoreDoesNot) {
  const SmResources cta{256, 9216, 3072, 1};
  EXPECT_TRUE(fits(cta, kFermi, CtaCount(3)));
  EXPECT_FALSE(fits(cta, kFermi, CtaCount(4)));
  EXPECT_EQ(take(kFermi, cta, CtaCount(3)), (SmResources{768, 5120, 39936, 5}));
}

TEST(Resources, ProductsBeyond32BitsDoNotWrapAround) {
  EXPECT_FALSE(fits({0, 65536, 0, 1}, {0, 65536, 0, 0xffffffffU}, CtaCount(65536)));
}

TEST(KernelDescriptor, DemandRoundsThreadsUpToWarps) {
  KernelDescriptor kernel;
  kernel.block_threads = 169;
  kernel.registers_per_cta = 5;
  kernel.shared_bytes_per_cta = 7;
  EXPECT_EQ(kernel.demand(), (SmResources{192, 5, 7, 1}));
}

TEST(SplitSms, CoversEverySmOnceAndGivesTheFirstKernelsTheRemainder) {
  const std::vector<SmRange> ranges = split_sms(16, 3);
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].count, 6U);
  EXPECT_EQ(ranges[1].count, 5U);
  EXPECT_EQ(ranges[2].count, 5U);
  std::uint32_t next = 0;
  for (const SmRange& range : ranges) {
    EXPECT_EQ(range.first, SmId(next));
    next += range.count;
  }
  EXPECT_EQ(next, 16U);
}

}  // namespace
}  // namespace sluice
