// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/ipc_scaling.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sw/partition/ceiling.h"
#include "sw/partition/star_hull.h"
#include "sw/workload/machine_file.h"
#include "tests/support.h"

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

MachineConfig machine_of(const char* name) {
  return read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines" / (std::string(name) + ".toml"));
}

TEST(Ceiling, IsTheLesserOfCrossbarAndDram) {
  MachineConfig m = machine_of("fermi_table1");
  const double dram = 6 * 32 * 924.0 / 700 / 128, crossbar = (16 + 12 - 20.0) / 4;  // 136 bytes are four flits of 40
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), std::min(dram, crossbar));
  m.dram.channels = 12;
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), crossbar);
}

TEST(Ceiling, FifoInputsOfASquareCrossbarFillTwoMinusRootTwo) {
  MachineConfig m = machine_of("fermi_table1");
  m.dram.channels = 100;
  m.l2_slices = m.num_sms = 16;
  EXPECT_NEAR(lines_per_cycle(m) * 4 / 16, 2 - std::sqrt(2.0), 1e-12);
  m.interconnect.input_queued = false;
  EXPECT_DOUBLE_EQ(lines_per_cycle(m) * 4 / 16, 1);
}

TEST(Ceiling, ASectorOfThirtyTwoBytesCostsAWholeBurst) {
  MachineConfig m = machine_of("fermi_accelsim");
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), 6 * 32 * 924.0 / 700 / 256) << "a line is four sectors at 64 bytes each";
}

TEST(Ceiling, SectorsThatDramJoinsCostTheirBlocks) {
  MachineConfig m = machine_of("h200_sm90");
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), 96 * 16 * 2977.0 / 1980 / 128) << "a line is two blocks of 64 bytes";
  m.dram.joins_sectors = false;
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), 96 * 16 * 2977.0 / 1980 / 256);
}

TEST(Ceiling, NarrowPortsOfTheSlicesBindBeforeThoseOfTheSms) {
  MachineConfig m = machine_of("h200_sm90");
  EXPECT_DOUBLE_EQ(crossbar_lines_per_cycle(m), 96 / 2) << "64 bytes a cycle and slice";
  m.interconnect.slice_bytes_per_cycle = 0;
  EXPECT_DOUBLE_EQ(crossbar_lines_per_cycle(m), 96) << "as wide as the SMs' ports";
}

TEST(Ceiling, ShareIsOfOneSmAndOneWindow) {
  MachineConfig m = machine_of("fermi_table1");
  EXPECT_EQ(request_share(m), std::lround(lines_per_cycle(m) * 5120 / 16));
  m.partitioner.lines_per_cycle = 0.001;
  EXPECT_EQ(request_share(m), 1U);
  m.partitioner.lines_per_cycle = 0;
  EXPECT_EQ(request_share(m), 0U);
}

TEST(Ceiling, AWindowThatTheRegisterCannotHoldIsRefused) {
  MachineConfig m = machine_of("fermi_table1");
  m.partitioner.lines_per_cycle = 4;
  m.partitioner.profile_cycles = 65535;
  const std::string said = test::refusal([&] { (void)request_share(m); });  // a share of 16,384 lines
  EXPECT_NE(said.find("partitioner.profile_cycles = 65535"), std::string::npos) << said;
  EXPECT_NE(said.find("must be at most 32764"), std::string::npos) << said;
}

// Written from what a star-shaped curve is, not from the walk that finds it.

constexpr double kRounding = 1 + 1e-12;

Profile any_profile() {
  const auto values = *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(1, 33), rc::gen::inRange(0, 20000));
  return {values.begin(), values.end()};
}

TEST(StarHull, RaisesASampleToTheLineOfOneWithMoreCtas) {
  EXPECT_EQ(star_hull(Profile{100, 120, 300, 320}), (Profile{100, 200, 300, 320}));
  EXPECT_EQ(star_hull(Profile{0, 0, 0, 400}), (Profile{100, 200, 300, 400}));
}

TEST(StarHull, LeavesACurveThatSaturatesOrFalls) {
  EXPECT_EQ(star_hull(Profile{100, 190, 240, 250}), (Profile{100, 190, 240, 250}));
  EXPECT_EQ(star_hull(Profile{100, 90, 80}), (Profile{100, 90, 80}));
  EXPECT_EQ(star_hull(Profile{}), Profile{});
}

RC_GTEST_PROP(StarHull, NoCtaIssuesMoreBesideOthers, ()) {
  const Profile hull = star_hull(any_profile());
  for (std::size_t n = 2; n <= hull.size(); ++n)
    RC_ASSERT(hull[n - 1] / static_cast<double>(n) <= hull[n - 2] / static_cast<double>(n - 1) * kRounding);
}

RC_GTEST_PROP(StarHull, IsTheGreatestLineThroughASampleWithAsManyCtasOrMore, ()) {
  const Profile profile = any_profile(), hull = star_hull(profile);
  RC_ASSERT(hull.size() == profile.size());
  for (std::size_t n = 1; n <= profile.size(); ++n) {
    double most = 0;
    for (std::size_t m = n; m <= profile.size(); ++m)
      most = std::max(most, profile[m - 1] * static_cast<double>(n) / static_cast<double>(m));
    RC_ASSERT(hull[n - 1] >= profile[n - 1]);
    RC_ASSERT(hull[n - 1] >= most / kRounding && hull[n - 1] <= most * kRounding);
  }
}

RC_GTEST_PROP(StarHull, OfAHullIsTheHull, ()) {
  const Profile hull = star_hull(any_profile()), again = star_hull(hull);
  for (std::size_t j = 0; j < hull.size(); ++j) RC_ASSERT(again[j] >= hull[j] && again[j] <= hull[j] * kRounding);
}

RC_GTEST_PROP(StarHull, KeepsTheBest, ()) {
  const Profile profile = any_profile();
  RC_ASSERT(std::ranges::max(star_hull(profile)) == std::ranges::max(profile));
}

}  // namespace
}  // namespace sluice
