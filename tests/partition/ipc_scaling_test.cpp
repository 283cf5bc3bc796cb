// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/ipc_scaling.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

TEST(IpcScaling, LeavesAComputeKernelAlone) { EXPECT_DOUBLE_EQ(scale_ipc(1.5, 0.0, 8, 4.5), 1.5); }

TEST(IpcScaling, IsProportionalToCtasWhenAllStallsAreMemory) {
  EXPECT_DOUBLE_EQ(scale_ipc(1.0, 1.0, 9, 4.5), 2.0);
  EXPECT_DOUBLE_EQ(scale_ipc(1.0, 1.0, 1, 4), 0.25);
}

TEST(IpcScaling, MatchesAHandComputedSample) { EXPECT_DOUBLE_EQ(scale_ipc(0.8, 0.5, 6, 4), 0.8 * 1.25); }

TEST(IpcScaling, KeepsTheSampleAtTheMeanCount) { EXPECT_DOUBLE_EQ(scale_ipc(0.7, 0.9, 4.5, 4.5), 0.7); }

RC_GTEST_PROP(IpcScaling, NeverGoesNegative, ()) {
  const double phi = *rc::gen::inRange(0, 1001) / 1000.0;
  RC_ASSERT(scale_ipc(1.0, phi, *rc::gen::inRange(1, 33), *rc::gen::inRange(1, 33)) >= 0.0);
}

TEST(IpcScaling, TheReciprocalLowersTheSamplesThatDrawMoreThanTheMean) {
  EXPECT_DOUBLE_EQ(scale_ipc_reciprocal(1.0, 1.0, 9, 4.5), 0.5);
  EXPECT_DOUBLE_EQ(scale_ipc_reciprocal(0.8, 0.5, 2, 4), 0.8 * 1.5);
  EXPECT_DOUBLE_EQ(scale_ipc_reciprocal(0.8, 0.0, 2, 4), 0.8);
}

TEST(IpcScaling, TheCeilingIsTheSampleWithinItsShare) {
  EXPECT_DOUBLE_EQ(scale_ipc_ceiling(700, 90, 100), 700);
  EXPECT_DOUBLE_EQ(scale_ipc_ceiling(700, 100, 100), 700);
  EXPECT_DOUBLE_EQ(scale_ipc_ceiling(700, 0, 0), 700) << "no request, no share: nothing to wait for";
}

TEST(IpcScaling, TheCeilingIsTheShareOverTheRequestsOfAnInstruction) {
  // 0.2 requests an instruction: a share of 100 is enough for 500 instructions.
  EXPECT_DOUBLE_EQ(scale_ipc_ceiling(1000, 200, 100), 500);
  EXPECT_DOUBLE_EQ(scale_ipc_ceiling(2500, 500, 100), 500) << "however fast the sample was";
}

RC_GTEST_PROP(IpcScaling, TheCeilingNeverRaises, ()) {
  const double insts = *rc::gen::inRange(0, 20000), requests = *rc::gen::inRange(0, 5000), share = *rc::gen::inRange(0, 5000);
  const double scaled = scale_ipc_ceiling(insts, requests, share);
  RC_ASSERT(scaled <= insts);
  RC_ASSERT(scaled >= 0.0);
}

RC_GTEST_PROP(IpcScaling, TheCeilingLeavesNoMoreRequestsThanTheShare, ()) {
  const double insts = *rc::gen::inRange(1, 20000), requests = *rc::gen::inRange(1, 5000), share = *rc::gen::inRange(0, 5000);
  const double drawn = scale_ipc_ceiling(insts, requests, share) * requests / insts;
  RC_ASSERT(drawn <= share * (1 + 1e-12));
}

ProfileSample sample(std::uint32_t kernel, std::uint32_t sm, std::uint32_t ctas, std::uint64_t insts, std::uint64_t stalls = 0,
                     std::uint64_t requests = 0) {
  ProfileSample s;
  s.kernel = KernelId(kernel);
  s.sm = SmId(sm);
  s.ctas = s.resident_min = s.resident_max = CtaCount(ctas);
  s.warp_instructions = insts;
  s.stall_cycles = stalls;
  s.requests = requests;
  return s;
}

const std::vector<KernelId> kTwo{KernelId(0), KernelId(1)};

TEST(GoldenProfiles, PutEverySampleAtItsLevel) {
  const std::vector<ProfileSample> samples{sample(0, 0, 2, 190), sample(1, 8, 1, 50), sample(0, 1, 1, 100)};
  EXPECT_EQ(golden_profiles(samples, kTwo, IpcScaling::None, {1000, 0}), (std::vector<Profile>{{100, 190}, {50}}));
}

TEST(GoldenProfiles, TakeTheMeanCountOfTheKernelAlone) {
  // Kernel 0 has 1 and 3 CTAs, mean 2; kernel 1 has 7. All cycles are stalls.
  const std::vector<ProfileSample> samples{sample(0, 0, 1, 100, 1000), sample(0, 1, 3, 100, 1000), sample(1, 2, 7, 100, 1000)};
  EXPECT_EQ(golden_profiles(samples, kTwo, IpcScaling::Paper, {1000, 0})[0], (Profile{50, 50, 150}));
  const Profile other = golden_profiles(samples, kTwo, IpcScaling::Reciprocal, {1000, 0})[0];
  EXPECT_DOUBLE_EQ(other[0], 200);
  EXPECT_NEAR(other[2], 100 * 2.0 / 3, 1e-9);
}

TEST(GoldenProfiles, CutAtTheCeilingWhateverTheStalls) {
  const std::vector<ProfileSample> samples{sample(0, 0, 1, 100, 0, 40), sample(0, 1, 2, 200, 1000, 80),
                                           sample(0, 2, 3, 300, 0, 120)};
  EXPECT_EQ(golden_profiles(samples, kTwo, IpcScaling::Ceiling, {1000, 60})[0], (Profile{100, 150, 150}));
}

TEST(GoldenProfiles, TheHullIsOfWhatTheCeilingLeaves) {
  const std::vector<ProfileSample> samples{sample(0, 0, 1, 100), sample(0, 1, 2, 120), sample(0, 2, 3, 600, 0, 120)};
  EXPECT_EQ(golden_profiles(samples, kTwo, IpcScaling::CeilingHull, {1000, 60})[0], (Profile{100, 200, 300}));
}

TEST(GoldenProfiles, ALevelWithoutASampleGainsNothing) {
  const std::vector<ProfileSample> samples{sample(0, 0, 1, 100), sample(0, 1, 3, 300), sample(0, 2, 3, 320)};
  EXPECT_EQ(golden_profiles(samples, kTwo, IpcScaling::None, {1000, 0}), (std::vector<Profile>{{100, 100, 310}, {0}}));
}

TEST(ProfileSample, IsCleanWhenTheSmHeldItsLabelAndNothingElse) {
  ProfileSample s = sample(0, 0, 3, 1);
  EXPECT_TRUE(s.clean());
  s.foreign = CtaCount(1);
  EXPECT_FALSE(s.clean());
  s = sample(0, 0, 3, 1);
  s.resident_min = CtaCount(2);  // one ended, and was replaced
  EXPECT_TRUE(s.clean());
  s.resident_max = CtaCount(2);
  EXPECT_FALSE(s.clean());
}

}  // namespace
}  // namespace sluice
