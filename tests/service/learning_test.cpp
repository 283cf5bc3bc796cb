// SPDX-License-Identifier: Apache-2.0
// `adaptive` and `balance` in the service: times of kernels come from launches that it has seen.
#include "sw/service/learning_scheduler.h"

#include <chrono>
#include <functional>

#include "sw/service/measuring_scheduler.h"
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
        R"({"form":"sluice kernel times 1","kernels":[["k",[[1,5]]],7]})",
        R"({"form":"sluice kernel times 1","kernels":[],"together":[["k",1]]})"}) {
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

TEST_F(KeptTimes, OfMixesOutliveTheServiceTooAndAreToldInAnyOrder) {
  const Held held = {{"l", CtaCount(3)}, {"k", CtaCount(1)}};
  {
    KernelTimes times;
    times.keep(file_, {});
    times.holds(held, 1s);
    times.seen("k", 1s, 10, 500);
    EXPECT_FALSE(times.together(held)) << "nothing of l";
    times.seen("l", 500ms, 1, 7);
    EXPECT_FALSE(times.together(held)) << "in part from before";
    times.seen("l", 1s, 1, 7);
  }
  KernelTimes times;
  times.keep(file_, {});
  EXPECT_EQ(times.together(held), (std::vector<double>{7, 50}));
  EXPECT_EQ(times.together({held[1], held[0]}), (std::vector<double>{50, 7}));
  EXPECT_FALSE(times.together({{"l", CtaCount(2)}, {"k", CtaCount(1)}}));
  times.forget(held, 1ms);
  EXPECT_FALSE(times.together(held)) << "seen by an earlier service";
}

struct Known {
  std::shared_ptr<KernelTimes> times = std::make_shared<KernelTimes>();
};

MachineConfig twelve_sms() { return small_machine(12, two_sms().sm.capacity); }

/// Programs under a service that learns.
template <class Scheduler>
struct Learned : Known, Programs {
  explicit Learned(const Known& known = {})
      : Known(known), Programs([this] {
          ServiceOptions options;
          options.executor = ExecutorKind::Gpu;
          options.times = times;
          return Service(twelve_sms(), std::make_unique<Scheduler>(twelve_sms(), times), options);
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
using Learning = Learned<LearningScheduler>;

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

/// Two programs that launch all the time, "a" and "b".
struct Measuring : Learned<MeasuringScheduler> {
  explicit Measuring(const Known& known = {}) : Learned(known), clients{launch("a"), launch("b")} {}
  /// ns of a launch: a's go with its CTAs, b's take the same with any.
  [[nodiscard]] double ns(std::size_t client) const { return client == clients[0] ? 8e6 / ctas(client) : 1e6; }
  void tell(std::size_t client, What what) {
    Report m = make<Report>(0);
    m.what = static_cast<std::uint32_t>(what);
    m.tasks_begun = 1;
    (void)say(client, m);
  }
  void go_on(Time time, bool b_launches = true) {
    for (const Time end = now + time; now < end;) {
      for (const std::size_t client : clients) {
        if (word(client).state == StubState::ToRun) tell(client, What::Progress);
        if (word(client).state == StubState::ToEvict) tell(client, What::Evicted);
        if (ctas(client) == 0) continue;
        most_idle = std::max(most_idle, now - std::exchange(held_at[client], now));
        if (!b_launches && client == clients[1]) continue;
        launches[client] += 10;
        gpu_ns[client] += 10 * ns(client);
        covered(client, client == clients[0] ? "a" : "b", launches[client], static_cast<std::uint64_t>(gpu_ns[client]));
      }
      step(100ms);
    }
  }
  std::vector<std::size_t> clients;
  std::map<std::size_t, std::uint64_t> launches{};
  std::map<std::size_t, double> gpu_ns{};
  std::map<std::size_t, Time> held_at{};
  Time most_idle{};
};

TEST(MeasuringScheduler, HoldsEachPartitionInTurnsAndThenTheBest) {
  Measuring c;
  EXPECT_EQ(c.ctas(0), 4U) << "at first the one in the middle";
  c.go_on(6s);
  EXPECT_EQ(c.ctas(0), 7U);
  EXPECT_EQ(c.ctas(1), 1U);
  for (std::uint32_t n = 1; n < 8; ++n) EXPECT_TRUE(c.times->together({{"a", CtaCount(n)}, {"b", CtaCount(8 - n)}})) << n;
  EXPECT_LE(c.most_idle, 1s) << "while the other was alone";

  Measuring again(Known{c.times});
  EXPECT_EQ(again.ctas(0), 7U) << "another service knows it at once";
  EXPECT_EQ(again.ctas(1), 1U);
}

TEST(MeasuringScheduler, IsNotNeededWhereTheExecutorMeasuresItself) {
  std::string log;
  Programs c([&] {
    return Service(twelve_sms(), make_live_scheduler("balance", twelve_sms()), {}, [&](const std::string& line) { log += line; });
  });
  for (const char* name : {"a", "b"}) {
    const std::size_t client = c.open();
    (void)c.say(client, kernel(0, 64, name));
    (void)c.say(client, take_stub(0));
    (void)c.say(client, submit(0, 0, 100'000));
  }
  c.step(1ms);
  c.service.tell_decisions();
  EXPECT_NE(log.find("times as fast as in order"), std::string::npos) << log;
}

TEST(MeasuringScheduler, KernelsOfWhichNothingIsHeardShareAndAreAskedAgainLater) {
  Measuring c;
  c.go_on(MeasuringScheduler::kStays + MeasuringScheduler::kTurn + 500ms, false);
  EXPECT_EQ(c.ctas(0), 4U);
  EXPECT_EQ(c.ctas(1), 4U);
  c.go_on(10s, false);
  EXPECT_EQ(c.ctas(0), 4U);
  c.go_on(MeasuringScheduler::kTriesAgain, true);
  EXPECT_EQ(c.ctas(0), 7U);
}

TEST(MeasuringScheduler, WhatItKeepsIsMeasuredAgainWhenItIsOld) {
  Measuring c;
  c.go_on(6s);
  const Held kept = {{"a", CtaCount(7)}, {"b", CtaCount(1)}}, other = {{"a", CtaCount(1)}, {"b", CtaCount(7)}};
  c.now += MeasuringScheduler::kFresh;
  c.times->forget(kept, c.now - 1ms);
  EXPECT_FALSE(c.times->together(kept));
  c.go_on(1s);
  EXPECT_TRUE(c.times->together(kept)) << "as it is in force";
  for (std::uint32_t i = 0; i < BalanceScheduler::kMeasureAgain; ++i) {  // a third comes and goes
    const std::size_t third = c.launch("c");
    c.service.lost(c.sessions[third], c.now);
    c.step(1ms);
  }
  c.step(1ms);
  EXPECT_FALSE(c.times->together(other)) << "it has its turn again";
  c.go_on(6s);
  EXPECT_TRUE(c.times->together(other));
  EXPECT_EQ(c.ctas(0), 7U);
}

}  // namespace
}  // namespace sluice::service
