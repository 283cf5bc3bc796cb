#include "sw/partition/warped_slicer.h"

#include <gtest/gtest.h>

#include <array>

#include "sw/partition/loss_guard.h"

namespace sluice {
namespace {

constexpr SmResources kFermi{1536, 32768, 49152, 8};
const std::vector<SmResources> kHotDxt{{256, 9216, 3072, 1}, {64, 2304, 2048, 1}};

TEST(LossGuard, AllowsSixTenthsForTwoKernels) {
  EXPECT_TRUE(loss_acceptable(std::array{1.0, 0.41}));
  EXPECT_FALSE(loss_acceptable(std::array{1.0, 0.39}));
}

TEST(LossGuard, AllowsFourTenthsForThreeKernels) {
  EXPECT_TRUE(loss_acceptable(std::array{0.61, 1.0, 1.0}));
  EXPECT_FALSE(loss_acceptable(std::array{0.59, 1.0, 1.0}));
}

TEST(LossGuard, AcceptsALossAtTheLimit) { EXPECT_TRUE(loss_acceptable(std::array{0.5, 1.0}, 1.0)); }

TEST(LossGuard, NeverTripsForOneKernel) { EXPECT_TRUE(loss_acceptable(std::array{0.0})); }

TEST(WarpedSlicerPartition, SharesTheSmWhenNobodyLosesTooMuch) {
  const std::vector<Profile> profiles{{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Partition partition = warped_slicer_partition(profiles, kHotDxt, kFermi, {});
  EXPECT_EQ(partition, (Partition{PartitionMode::IntraSm, {CtaCount(2), CtaCount(6)}}));
}

TEST(WarpedSlicerPartition, FallsBackToSpatialOccupancyWhenTheGuardTrips) {
  PartitionerConfig strict;
  strict.loss_limit = 0.4;  // of 1/K: at most 20 %, and HOT keeps two thirds
  const std::vector<Profile> profiles{{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Partition partition = warped_slicer_partition(profiles, kHotDxt, kFermi, strict);
  EXPECT_EQ(partition, (Partition{PartitionMode::Spatial, {CtaCount(3), CtaCount(8)}}));
}

TEST(WarpedSlicerPartition, FallsBackToSpatialWhenOneCtaOfEachDoesNotFit) {
  const std::vector<SmResources> large{{1024, 20000, 0, 1}, {1024, 20000, 0, 1}};
  const Partition partition = warped_slicer_partition(std::vector<Profile>{{1}, {1}}, large, kFermi, {});
  EXPECT_EQ(partition, (Partition{PartitionMode::Spatial, {CtaCount(1), CtaCount(1)}}));
}

}  // namespace
}  // namespace sluice
