// SPDX-License-Identifier: Apache-2.0
// Errors, metrics, profiles, resources and packed files: what stands under everything else.
#include "sw/core/errors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <limits>
#include <new>

#include "sw/core/kernel.h"
#include "sw/core/metrics.h"
#include "sw/core/profile.h"
#include "sw/core/resources.h"
#include "sw/core/share.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

TEST(Errors, EveryClassHasItsExitCode) {
  EXPECT_EQ(exit_code(kind_of(CheckFailed(""))), 1);
  EXPECT_EQ(exit_code(kind_of(InputError(""))), 2);
  EXPECT_EQ(exit_code(kind_of(InvalidProfile(""))), 2);
  EXPECT_EQ(exit_code(kind_of(SystemError(""))), 3);
  EXPECT_EQ(exit_code(kind_of(Interrupted(""))), 130);
}

TEST(Errors, WhatIsNoneOfOursIsADefectOrTheSystems) {
  EXPECT_EQ(kind_of(std::logic_error("")), ErrorKind::Defect);
  EXPECT_EQ(exit_code(ErrorKind::Defect), 3);
  EXPECT_EQ(kind_of(std::bad_alloc()), ErrorKind::System);
  EXPECT_EQ(kind_of(std::filesystem::filesystem_error("", std::make_error_code(std::errc::no_space_on_device))),
            ErrorKind::System);
}

TEST(Errors, AWrongPathIsBadInputAndAFullDiskIsNot) {
  for (const int error : {ENOENT, ENOTDIR, EACCES, EISDIR, EROFS}) EXPECT_THROW(throw_errno("x", error), InputError) << error;
  for (const int error : {ENOSPC, EIO, EMFILE, ENOMEM, EAGAIN, EDQUOT})
    EXPECT_THROW(throw_errno("x", error), SystemError) << error;
}

// Kernel 1 takes twice as long beside kernel 2, kernel 2 four times.
constexpr std::array<Turnaround, 2> kMix{{{100, 200}, {50, 200}}};

TEST(Metrics, SpeedupAndNormalisedTurnaroundAreReciprocal) {
  EXPECT_DOUBLE_EQ(speedup(kMix[0]), 0.5);
  EXPECT_DOUBLE_EQ(ntt(kMix[0]), 2.0);
}

TEST(Metrics, StpSumsSpeedups) { EXPECT_DOUBLE_EQ(stp(kMix), 0.75); }

TEST(Metrics, AnttIsTheMeanTurnaround) { EXPECT_DOUBLE_EQ(antt(kMix), 3.0); }

TEST(Metrics, FairnessIsTheSmallestSpeedup) { EXPECT_DOUBLE_EQ(min_speedup(kMix), 0.25); }

TEST(Metrics, KernelsThatDoNotDisturbEachOtherScoreK) {
  constexpr std::array<Turnaround, 3> kUndisturbed{{{7, 7}, {8, 8}, {9, 9}}};
  EXPECT_DOUBLE_EQ(stp(kUndisturbed), 3.0);
  EXPECT_DOUBLE_EQ(antt(kUndisturbed), 1.0);
  EXPECT_DOUBLE_EQ(min_speedup(kUndisturbed), 1.0);
}

TEST(Metrics, GeometricMeanOfReciprocalsIsOne) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::array{4.0, 0.25}), 1.0);
  EXPECT_DOUBLE_EQ(geometric_mean(std::array{2.0, 8.0}), 4.0);
  EXPECT_DOUBLE_EQ(geometric_mean({}), 0.0);
}

TEST(PerformanceSteps, KeepsOnlyNewMaxima) {
  const PerformanceSteps steps = performance_steps(Profile{2, 1, 4, 4, 3, 8, 7});
  EXPECT_EQ(steps.performance, (std::vector<double>{0.25, 0.5, 1.0}));
  EXPECT_EQ(steps.cta_count, (std::vector<unsigned>{1, 3, 6}));
}

TEST(PerformanceSteps, StopsAtAnInteriorPeak) {
  EXPECT_EQ(performance_steps(Profile{1, 2, 1, 1}).cta_count, (std::vector<unsigned>{1, 2}));
}

TEST(PerformanceSteps, StartsAtOneCtaEvenWithoutProgress) {
  const PerformanceSteps steps = performance_steps(Profile{0, 0, 5});
  EXPECT_EQ(steps.performance, (std::vector<double>{0, 1}));
  EXPECT_EQ(steps.cta_count, (std::vector<unsigned>{1, 3}));
}

TEST(PerformanceSteps, AsksForOneCtaWhenNothingEverMoves) {
  const PerformanceSteps steps = performance_steps(Profile{0, 0, 0});
  EXPECT_EQ(steps.performance, (std::vector<double>{1}));
  EXPECT_EQ(steps.cta_count, (std::vector<unsigned>{1}));
}

TEST(PerformanceSteps, RejectsWhatIsNoPerformance) {
  EXPECT_THROW((void)performance_steps(Profile{}), InvalidProfile);
  EXPECT_THROW((void)performance_steps(Profile{1, -1}), InvalidProfile);
  EXPECT_THROW((void)performance_steps(Profile{1, std::numeric_limits<double>::quiet_NaN()}), InvalidProfile);
  EXPECT_THROW((void)performance_steps(Profile{std::numeric_limits<double>::infinity()}), InvalidProfile);
}

RC_GTEST_PROP(PerformanceSteps, RiseFromOneCtaToTheKernelsBest, ()) {
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20)));
  const PerformanceSteps steps = performance_steps(Profile(values.begin(), values.end()));
  RC_ASSERT(steps.performance.size() == steps.cta_count.size());
  RC_ASSERT(steps.cta_count.front() == 1U);
  RC_ASSERT(steps.performance.back() == 1.0);
  RC_ASSERT(std::ranges::adjacent_find(steps.performance, std::greater_equal{}) == steps.performance.end());
  RC_ASSERT(std::ranges::adjacent_find(steps.cta_count, std::greater_equal{}) == steps.cta_count.end());
}

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

class PackedFile : public test::Scratch {
 protected:
  const std::filesystem::path file_ = folder_ / "a.jsonl";
  const std::string packed_ = read_file(SLUICE_SOURCE_DIR "/results/h200/hopper/launch_warm.jsonl.xz");
};

TEST_F(PackedFile, ATextThatIsNotThereIsReadFromItsXz) {
  EXPECT_FALSE(has_packed(file_));
  EXPECT_THROW((void)read_packed(file_), InputError);
  write("a.jsonl.xz", packed_);
  EXPECT_TRUE(has_packed(file_));
  EXPECT_TRUE(read_packed(file_).starts_with("{\"")) << read_packed(file_);
  EXPECT_EQ(read_packed(file_), read_packed(folder_ / "a.jsonl.xz"));
}

TEST_F(PackedFile, WhatWasJustMeasuredComesFirst) {
  write("a.jsonl.xz", packed_);
  write("a.jsonl", "new\n");
  EXPECT_EQ(read_packed(file_), "new\n");
}

TEST_F(PackedFile, DamageIsNamed) {
  for (const std::string& damaged : {packed_.substr(0, packed_.size() / 2), "no" + packed_, std::string()}) {
    write("a.jsonl.xz", damaged);
    const std::string said = test::refusal([&] { (void)read_packed(file_); });
    EXPECT_NE(said.find("a.jsonl.xz: "), std::string::npos) << damaged.size() << " bytes: " << said;
  }
}

}  // namespace
}  // namespace sluice
