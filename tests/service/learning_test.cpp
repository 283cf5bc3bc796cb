// SPDX-License-Identifier: Apache-2.0
// `adaptive` in the service: times of kernels come from launches that it has seen.
#include "sw/service/learning_scheduler.h"

#include <chrono>

#include "tests/service/harness.h"
#include "tests/support.h"

namespace sluice::service {
namespace {

using namespace std::chrono_literals;

TEST(KernelTimes, ForgetsTheLongestUnheardOfForEachBeyondItsLimit) {
  KernelTimes times;
  const auto name = [](std::size_t k) { return "kernel " + std::to_string(k); };
  for (std::size_t k = 0; k < KernelTimes::kMostKernels; ++k) times.learn(name(k), CtaCount(1), 1000);
  times.learn(name(0), CtaCount(1), 1000);
  times.learn("one more", CtaCount(1), 1000);
  EXPECT_TRUE(times.curve("one more", CtaCount(1)));
  EXPECT_TRUE(times.curve(name(0), CtaCount(1)));
  EXPECT_FALSE(times.curve(name(1), CtaCount(1)));
}

class KeptTimes : public test::Scratch {
 protected:
  /// What a new service knows of a kernel.
  std::optional<std::vector<double>> found(const std::string& kernel) {
    KernelTimes times;
    times.keep(file_, [this](const std::string& line) { said_.push_back(line); });
    return times.curve(kernel, CtaCount(1));
  }
  const std::filesystem::path file_ = folder_ / "state/GPU-1.json";
  std::vector<std::string> said_;
};

TEST_F(KeptTimes, OutliveTheServiceThatLearnedThem) {
  EXPECT_FALSE(found("k"));
  {
    KernelTimes times;
    times.keep(file_, {});
    times.learn("k", CtaCount(1), 60);
    times.save();
    times.learn("l\xff", CtaCount(1), 70);  // no text, and it comes while the other is written
  }
  EXPECT_EQ(found("k"), std::vector{60.0});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "state"), {}), 1) << "nothing half written";
  EXPECT_TRUE(said_.empty());
}

TEST_F(KeptTimes, AFileThatIsNoneOfOursIsIgnoredInOneLineAndReplaced) {
  for (const char* text :
       {"", "{", "[]", R"({"form":"another","kernels":[]})", R"({"form":"sluice kernel times 1","kernels":[["k",[[1,"x"]]]]})",
        R"({"form":"sluice kernel times 1","kernels":[["k",[[1,5]]],7]})"}) {
    (void)write("state/GPU-1.json", text);
    said_.clear();
    EXPECT_FALSE(found("k")) << text;
    ASSERT_EQ(said_.size(), 1U) << text;
    EXPECT_NE(said_[0].find("GPU-1.json: nothing is taken in"), std::string::npos) << said_[0];
  }
  {
    KernelTimes times;
    times.keep(file_, {});
    times.learn("k", CtaCount(1), 60);
  }
  EXPECT_TRUE(found("k"));
  std::filesystem::resize_file(file_, 20U << 20U);
  EXPECT_FALSE(found("k")) << "too large to be read";
}

TEST_F(KeptTimes, FiguresThatCannotBeAreNotTakenIn) {
  (void)write("state/GPU-1.json",
              R"({"form":"sluice kernel times 1","kernels":[["a",[[0,5]]],["b",[[1,-5]]],["c",[[4000000,5]]],["k",[[1,5]]]]})");
  for (const char* bad : {"a", "b", "c"}) EXPECT_FALSE(found(bad)) << bad;
  EXPECT_TRUE(found("k"));
}

TEST_F(KeptTimes, AFolderThatOthersCanWriteIsNotUsed) {
  (void)write("state/GPU-1.json", R"({"form":"sluice kernel times 1","kernels":[["k",[[1,5]]]]})");
  std::filesystem::permissions(folder_ / "state", std::filesystem::perms::all);
  EXPECT_FALSE(found("k"));
  EXPECT_EQ(said_.size(), 1U);
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

TEST(LearningScheduler, TellsKernelsOfOneNameApartByTheirModules) {
  Learning c;
  const std::size_t client = c.open();
  for (const std::uint64_t module : {1, 2}) {
    Register m = kernel(0, 64, "k");
    m.module = module;
    (void)c.say(client, m);
  }
  (void)c.say(client, take_stub(0, 1));
  (void)c.say(client, submit(0, 0, 0));
  c.step();
  Coverage m = make<Coverage>(0);
  m.launches = 10;
  m.gpu_ns = 60'000'000;
  std::strncpy(m.name, "k", sizeof m.name - 1);
  for (const std::uint64_t module : {1, 2}) {
    m.module = module;
    (void)c.say(client, m);
  }
  EXPECT_FALSE(c.times->curve("k@0000000000000001", CtaCount(8)));
  EXPECT_TRUE(c.times->curve("k@0000000000000002", CtaCount(8)));
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
