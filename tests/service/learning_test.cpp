// SPDX-License-Identifier: Apache-2.0
// `adaptive` in the service: times of kernels come from launches that it has seen.
#include "sw/service/learning_scheduler.h"

#include <chrono>

#include "tests/service/harness.h"

namespace sluice::service {
namespace {

using namespace std::chrono_literals;

TEST(KernelTimes, ForgetsOneForEachBeyondItsLimit) {
  KernelTimes times;
  const auto name = [](std::size_t k) { return "kernel " + std::to_string(k); };
  for (std::size_t k = 0; k < KernelTimes::kMostKernels + 100; ++k) times.learn(name(k), CtaCount(1), 1000);
  std::size_t known = 0;
  for (std::size_t k = 0; k < KernelTimes::kMostKernels + 100; ++k) known += times.curve(name(k), CtaCount(1)) ? 1 : 0;
  EXPECT_EQ(known, KernelTimes::kMostKernels);
}

TEST(KernelTimes, ACountNeverHeldTakesAsTheNearestInProportion) {
  KernelTimes times;
  EXPECT_FALSE(times.curve("k", CtaCount(4)));
  times.learn("k", CtaCount(2), 60);
  EXPECT_EQ(times.curve("k", CtaCount(4)), (std::vector<double>{120, 60, 40, 30}));
  times.learn("k", CtaCount(4), 50);
  EXPECT_EQ(times.curve("k", CtaCount(5)), (std::vector<double>{120, 60, 200.0 / 3, 50, 40}));
  times.learn("k", CtaCount(4), 52);
  EXPECT_EQ(times.curve("k", CtaCount(4))->back(), 50) << "no news";
  times.learn("k", CtaCount(0), 1);
  times.learn("k", CtaCount(1), 0);
  EXPECT_EQ(times.curve("k", CtaCount(1))->front(), 120) << "no launch takes no time";
}

struct Known {
  std::shared_ptr<KernelTimes> times = std::make_shared<KernelTimes>();
};

/// Programs under a service that learns.
struct Learning : Known, Programs {
  Learning()
      : Programs([this] {
          ServiceOptions options;
          options.executor = ExecutorKind::Gpu;
          options.times = times;
          return Service(two_sms(), std::make_unique<LearningScheduler>(two_sms(), times), options);
        }) {}
  std::size_t launch(const char* name) { return Programs::launch(5, name); }
  void covered(std::size_t client, const char* kernel_name, std::uint64_t launches, std::uint64_t ns) {
    Coverage m = make<Coverage>(0);
    m.launches = launches;
    m.gpu_ns = ns;
    std::strncpy(m.name, kernel_name, sizeof m.name - 1);
    (void)say(client, m);
  }
  [[nodiscard]] std::uint32_t ctas(std::size_t client) const { return word(client).ctas; }
};

TEST(LearningScheduler, SharesEvenlyUntilItKnowsThenByRemainingTime) {
  Learning c;
  c.times->learn("fast", CtaCount(8), 1e6);
  const std::size_t fast = c.launch("fast"), slow = c.launch("slow");
  EXPECT_EQ(c.ctas(fast), 4U);
  EXPECT_EQ(c.ctas(slow), 4U);
  c.covered(slow, "slow", 10, 60'000'000);  // 6 ms with 4 CTAs: 24 with one, where "fast" takes 8
  c.step(LearningScheduler::kLooksAgain);
  EXPECT_EQ(c.ctas(fast), 2U);
  EXPECT_EQ(c.ctas(slow), 6U);
}

TEST(LearningScheduler, LearnsNothingFromLaunchesUnderSeveralShares) {
  Learning c;
  const std::size_t first = c.launch("a");  // alone: 8 CTAs
  const std::size_t second = c.launch("b");
  c.covered(first, "a", 10, 60'000'000);
  EXPECT_FALSE(c.times->curve("a", CtaCount(8)));
  c.covered(second, "b", 10, 60'000'000);
  EXPECT_TRUE(c.times->curve("b", CtaCount(8)));
}

TEST(LearningScheduler, KnowsAKernelOfAnEarlierProgram) {
  Learning c;
  const std::size_t first = c.launch("a");
  c.covered(first, "a", 10, 10'000'000);
  c.service.lost(c.sessions[first], c.now);
  c.step(1ms);
  c.times->learn("b", CtaCount(8), 3e6);
  const std::size_t a = c.launch("a"), b = c.launch("b");
  EXPECT_EQ(c.ctas(a), 2U);
  EXPECT_EQ(c.ctas(b), 6U);
}

}  // namespace
}  // namespace sluice::service
