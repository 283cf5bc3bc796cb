// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/remaining_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sw/core/errors.h"
#include "tests/partition/random_mix.h"
#include "tests/support.h"

namespace sluice {
namespace {

using test::counts;

/// An SM that is `n` CTA slots and nothing else.
constexpr SmResources slots(std::uint32_t n) { return {0, 0, 0, n}; }

std::vector<CtaCount> allocated(const std::vector<RemainingWork>& kernels, std::uint32_t sm) {
  const auto result = allocate_remaining_time(kernels, std::vector(kernels.size(), slots(1)), slots(sm));
  return result ? result->ctas : std::vector<CtaCount>();
}

TEST(RemainingTime, GivesFiveThenThreeAndThreeThenFive) {
  // The example of SiM's section 3.7: A alone, A half done beside a new B, A alone again.
  const std::vector<double> a{60, 30, 20, 15, 12}, b{30, 15, 10, 7.5, 6, 5};
  EXPECT_EQ(allocated({{a, 1}}, 6), counts({5}));
  EXPECT_EQ(allocated({{a, 0.5}, {b, 1}}, 6), counts({3, 3}));
  EXPECT_EQ(allocated({{a, 0.25}}, 6), counts({5}));
}

TEST(RemainingTime, ShareLeftIsThatOfEquationOne) {
  EXPECT_EQ(share_left(400, 0), 1);
  EXPECT_EQ(share_left(400, 200), 0.5);
  EXPECT_EQ(share_left(400, 400), 0);
  EXPECT_EQ(share_left(400, 401), 0) << "never below 0";
  EXPECT_EQ(share_left(0, 17), 1) << "a grid without end";
}

TEST(RemainingTime, StepsOverCountsThatAreNotFaster) {
  const std::vector<RemainingWork> kernels{{{10, 10, 11, 4}, 1}, {{6}, 1}};
  EXPECT_EQ(allocated(kernels, 5), counts({4, 1}));
  EXPECT_EQ(allocated(kernels, 4), counts({1, 1})) << "two or three CTAs would be held for nothing";
}

TEST(RemainingTime, AKernelThatIsDoneGetsOneCta) { EXPECT_EQ(allocated({{{8, 4, 2}, 0}, {{8, 4, 2}, 0.1}}, 8), counts({1, 3})); }

TEST(RemainingTime, TiesGoToTheLowestIndex) { EXPECT_EQ(allocated({{{2, 1}, 1}, {{2, 1}, 1}}, 3), counts({2, 1})); }

TEST(RemainingTime, AKernelBeyondTheBoundOnTheNttCountsAsTheLongest) {
  const std::vector<double> longer{100, 90, 85, 82}, shorter{10, 5, 3, 2.5};
  const auto with = [&](double waited, double max_ntt) {
    const auto found = allocate_remaining_time(std::vector<RemainingWork>{{longer, 1}, {shorter, 1, waited}},
                                               std::vector(2, slots(1)), slots(5), max_ntt);
    EXPECT_EQ(found->remaining[1], shorter[found->ctas[1].value() - 1]) << "a time, and no rank";
    return found->ctas;
  };
  EXPECT_EQ(with(0, kNoNttLimit), counts({4, 1}));
  EXPECT_EQ(with(0, 4), counts({4, 1})) << "10 is four times 2.5";
  EXPECT_EQ(with(0, 2), counts({3, 2})) << "5 is twice 2.5";
  EXPECT_EQ(with(1, 2), counts({2, 3})) << "what it waited counts";
  EXPECT_EQ(with(100, 2), counts({1, 4})) << "late with every count, and the longest to the end";
}

TEST(RemainingTime, HasNoAnswerWhenOneCtaOfEachDoesNotFit) { EXPECT_EQ(allocated({{{1}, 1}, {{1}, 1}}, 1), counts({})); }

TEST(RemainingTime, RefusesBrokenTimes) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  for (const RemainingWork& broken : std::vector<RemainingWork>{
           {{}, 1}, {{0}, 1}, {{-1}, 1}, {{1, kNan}, 1}, {{kInfinity}, 1}, {{1}, 1.5}, {{1}, -0.5}, {{1}, kNan}}) {
    EXPECT_THROW((void)allocated({broken}, 4), InvalidProfile);
  }
}

/// Algorithm 1 line by line, a list that is sorted again and again; the loop ends with the last kernel.
std::optional<std::vector<CtaCount>> listing(const test::RandomMix& mix, const std::vector<RemainingWork>& work) {
  struct Kernel {
    std::size_t index;
    std::vector<CtaCount> configurations;
    std::size_t at = 0;
  };
  std::vector<Kernel> list;
  const auto time = [&](const Kernel& k) { return work[k.index].alone[k.configurations[k.at].value() - 1] * work[k.index].left; };
  const auto before = [&](const Kernel& a, const Kernel& b) {
    return std::pair(-time(a), a.index) < std::pair(-time(b), b.index);
  };
  const auto all_fit = [&] {
    SmResources left = mix.capacity;
    for (const Kernel& k : list) {
      if (!fits(mix.demand[k.index], left, k.configurations[k.at])) return false;
      left = take(left, mix.demand[k.index], k.configurations[k.at]);
    }
    return true;
  };
  for (std::size_t k = 0; k < work.size(); ++k) {
    list.push_back({k, {}});
    double fastest = std::numeric_limits<double>::infinity();
    for (std::uint32_t c = 1; c <= work[k].alone.size(); ++c) {
      const double t = work[k].alone[c - 1] * work[k].left;
      if (t < fastest) list.back().configurations.emplace_back(c);
      fastest = std::min(fastest, t);
    }
  }
  if (!all_fit()) return std::nullopt;
  std::ranges::sort(list, before);
  for (std::size_t marked = 0; marked < list.size();) {
    Kernel& first = list[marked];
    if (first.at + 1 == first.configurations.size()) {
      ++marked;
      continue;
    }
    ++first.at;
    if (all_fit()) {
      std::sort(list.begin() + static_cast<std::ptrdiff_t>(marked), list.end(), before);
    } else {
      --first.at;
      ++marked;
    }
  }
  std::vector<CtaCount> result(work.size());
  for (const Kernel& k : list) result[k.index] = k.configurations[k.at];
  return result;
}

/// Times alone from curves. What is left of each grid: none and all included.
std::vector<RemainingWork> work_of(const test::RandomMix& mix, std::uint64_t seed) {
  std::vector<RemainingWork> work;
  for (const Profile& values : mix.profiles) {
    work.push_back({values, static_cast<double>((seed + work.size()) % 5) / 4});
    for (double& time : work.back().alone) time = 1 / (1 + time);
  }
  return work;
}

TEST(RemainingTime, AllocatesAsTheListingAndReachesTheShortestLongest) {
  unsigned contended = 0;
  for (std::uint64_t seed = 1; seed <= 10000; ++seed) {
    const test::RandomMix mix = test::random_mix(seed);
    const std::vector<RemainingWork> work = work_of(mix, seed);
    const auto result = allocate_remaining_time(work, mix.demand, mix.capacity);
    const auto expected = listing(mix, work);
    const auto best =
        test::best_minimum(mix, [&](std::size_t k, std::uint32_t ctas) { return -work[k].alone[ctas - 1] * work[k].left; });
    ASSERT_EQ(result.has_value(), expected.has_value()) << mix << ", seed " << seed;
    ASSERT_EQ(result.has_value(), best.has_value()) << mix << ", seed " << seed;
    if (!result) continue;
    ASSERT_EQ(result->ctas, *expected) << mix << ", seed " << seed;
    ASSERT_EQ(std::ranges::max(result->remaining), -*best) << mix << ", seed " << seed;
    for (std::size_t k = 0; k < work.size(); ++k) contended += -*best > std::ranges::min(work[k].alone) * work[k].left ? 1 : 0;
  }
  EXPECT_GT(contended, 2500U) << "the cases are too easy to tell anything";
}

}  // namespace
}  // namespace sluice
