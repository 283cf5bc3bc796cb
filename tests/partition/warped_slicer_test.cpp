// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/warped_slicer.h"

#include <gtest/gtest.h>

#include <array>

namespace sluice {
namespace {

constexpr SmResources kFermi{1536, 32768, 49152, 8};

MachineConfig fermi(double loss_limit = 1.2) {
  MachineConfig machine;
  machine.num_sms = 16;
  machine.sm.capacity = kFermi;
  machine.partitioner.loss_limit = loss_limit;
  return machine;
}
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
  const Partition partition = warped_slicer_partition(profiles, kHotDxt, fermi());
  EXPECT_EQ(partition, on_every_sm(std::array{CtaCount(2), CtaCount(6)}));
}

TEST(WarpedSlicerPartition, FallsBackToSpatialOccupancyWhenTheGuardTrips) {
  const MachineConfig strict = fermi(0.4);  // of 1/K: at most 20 %, and HOT keeps two thirds
  const std::vector<Profile> profiles{{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Partition partition = warped_slicer_partition(profiles, kHotDxt, strict);
  EXPECT_EQ(partition, on_own_sms(std::array{CtaCount(3), CtaCount(8)}, 16));
}

TEST(WarpedSlicerPartition, FallsBackToSpatialWhenOneCtaOfEachDoesNotFit) {
  const std::vector<SmResources> large{{1024, 20000, 0, 1}, {1024, 20000, 0, 1}};
  const Partition partition = warped_slicer_partition(std::vector<Profile>{{1}, {1}}, large, fermi());
  EXPECT_EQ(partition, on_own_sms(std::array{CtaCount(1), CtaCount(1)}, 16));
}

}  // namespace
}  // namespace sluice
