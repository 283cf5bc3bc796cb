// SPDX-License-Identifier: Apache-2.0
// Programs of the service as the interposer has them, with a daemon of this process and no driver.
#include "sw/interpose/shares.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "sw/scheduler/live_scheduler.h"
#include "sw/service/daemon.h"
#include "sw/service/real_clock.h"
#include "tests/scheduler/jobs.h"

namespace sluice::interpose {
namespace {

using namespace std::chrono_literals;

/// The interposer's side, noted. A lane that is told to leave does so at once.
class Notes : public ILanes {
 public:
  void on_share(LaneId lane, const Share& share) override {
    const std::scoped_lock lock(mutex_);
    told_.emplace_back(lane, share);
    if (share.ctas.value() == 0 && leaves_ != nullptr) leaves_->evicted(lane);
  }
  void on_gone(GpuNumber) override {
    const std::scoped_lock lock(mutex_);
    gone_ = true;
  }
  std::vector<CoverageLine> coverage(GpuNumber) override { return {{true, "k", "", 3, 0}, {false, "n", "no PTX", 1, 2'000'000}}; }
  DeviceShape device(GpuNumber) override { return {2, {1536, 32768, 49152, 8}}; }

  void leave_through(IShares* shares) { leaves_ = shares; }
  void clear() {
    const std::scoped_lock lock(mutex_);
    told_.clear();
  }
  [[nodiscard]] std::vector<std::pair<LaneId, Share>> told() {
    const std::scoped_lock lock(mutex_);
    return told_;
  }
  [[nodiscard]] bool gone() {
    const std::scoped_lock lock(mutex_);
    return gone_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<LaneId, Share>> told_;
  bool gone_ = false;
  IShares* leaves_ = nullptr;
};

const KernelDemand kKernel{"k", 64, 1024, 0, 8}, kLarge{"large", 512, 1024, 0, 3};
constexpr CtaCount kHalf(16);  // 4 of 8 CTAs of kKernel, 1 of 3 of kLarge, in 32nds

class ServiceSharesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("sluice_shares_" + std::to_string(::getpid()) + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    ::setenv("SLUICE_SOCKET", (folder_ / "s").c_str(), 1);
    ::unsetenv("SLUICE_PRIORITY");
    ::unsetenv("SLUICE_REQUIRE_SERVICE");
  }
  void TearDown() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  /// A daemon, until it is stopped.
  void serve(const std::string& scheduler) const {
    const MachineConfig machine = small_machine(2, {1536, 32768, 49152, 8});
    service::ServiceOptions options{.scheduler = scheduler, .executor = service::ExecutorKind::Gpu};
    service::Service service(machine, make_live_scheduler(scheduler, machine), options);
    service::RealClock clock(1);
    service::Daemon daemon(folder_ / "s", service, clock);
    daemon.run(stop_.get());
  }
  void start(const std::string& scheduler) {
    daemon_ = std::thread([this, scheduler] { serve(scheduler); });
    while (!service::connect_to(folder_ / "s")) std::this_thread::yield();
  }
  void stop() {
    if (!daemon_.joinable()) return;
    ::eventfd_write(stop_.get(), 1);
    daemon_.join();
  }
  /// A program: its shares live as long as its process, as they do in the interposer.
  static IShares& program(Notes& notes, int priority) {
    ::setenv("SLUICE_PRIORITY", std::to_string(priority).c_str(), 1);
    IShares* shares = service_shares(notes, 0).release();
    notes.leave_through(shares);
    return *shares;
  }
  [[nodiscard]] nlohmann::json status() const { return nlohmann::json::parse(service::fetch_status(folder_ / "s")); }
  /// Within two seconds.
  static bool soon(const std::function<bool()>& true_now) {
    for (int k = 0; k < 2000; ++k) {
      if (true_now()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
  void outlive_a_killed_service() const {
    ::setenv("SLUICE_REQUIRE_SERVICE", "1", 1);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      serve("piv");
      ::_exit(0);
    }
    while (!service::connect_to(folder_ / "s")) std::this_thread::yield();
    (void)program(*new Notes, 5).launched(1, kKernel);
    ::kill(daemon, SIGKILL);
    std::this_thread::sleep_for(1s);
    ::_exit(99);
  }
  static Share last(Notes& notes) { return notes.told().empty() ? Share{CtaCount(99), {}} : notes.told().back().second; }

  std::filesystem::path folder_;
  service::UniqueFd stop_{::eventfd(0, EFD_CLOEXEC)};
  std::thread daemon_;
};

TEST_F(ServiceSharesTest, AProgramThatIsAloneBeginsWithoutWaiting) {
  start("piv");
  auto& notes = *new Notes;
  IShares& shares = program(notes, 5);
  EXPECT_EQ(shares.native(), "");
  EXPECT_EQ(shares.launched(1, kKernel), kWholeMachine);
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "to_run"; })) << status();
  shares.progress(1, 60, 50);
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "running"; })) << status();
  EXPECT_EQ(shares.launched(1, kKernel), kWholeMachine);
  shares.idle(1);
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "idle"; })) << status();
  EXPECT_TRUE(notes.told().empty()) << "it had what it got";
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["kernels"]["quota"]["launches"] == 3; })) << status();
  EXPECT_EQ(status()["clients"][0]["reasons"]["n"], "no PTX");
}

TEST_F(ServiceSharesTest, AnImportantProgramEvictsTheOtherAndGivesWay) {
  start("piv");
  auto &low_notes = *new Notes, &high_notes = *new Notes;
  IShares &low = program(low_notes, 2), &high = program(high_notes, 9);
  EXPECT_EQ(low.launched(1, kKernel), kWholeMachine);
  low.progress(1, 10, 0);
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "running"; })) << status();
  EXPECT_EQ(high.launched(7, kKernel).ctas, CtaCount(0)) << "the GPU is another's";
  EXPECT_TRUE(soon([&] { return last(high_notes) == kWholeMachine; }));
  EXPECT_TRUE(soon([&] { return last(low_notes).ctas == CtaCount(0); }));
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "ready"; })) << status();
  high.idle(7);
  EXPECT_TRUE(soon([&] { return last(low_notes) == kWholeMachine; }));
  EXPECT_EQ(status()["lost"], 0);
}

TEST_F(ServiceSharesTest, StreamsShareAndAnotherKernelIsDecidedAnew) {
  start("even");
  auto& notes = *new Notes;
  IShares& shares = program(notes, 5);
  (void)shares.launched(1, kKernel);
  (void)shares.launched(2, kKernel);
  EXPECT_TRUE(soon([&] { return last(notes).ctas == kHalf; }));
  const int before = status()["decisions"];
  (void)shares.launched(2, kLarge);
  EXPECT_TRUE(soon([&] { return status()["decisions"] > before; }));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(last(notes).ctas, kHalf) << "one of three is a third, and half an SM holds no second";
  shares.idle(1);
  EXPECT_TRUE(soon([&] { return last(notes) == kWholeMachine; })) << "the other stream has all";
  shares.idle(2);
}

TEST_F(ServiceSharesTest, AnotherKernelLeavesEachStreamItsSms) {
  start("spatial");
  auto& notes = *new Notes;
  IShares& shares = program(notes, 5);
  (void)shares.launched(1, kKernel);
  (void)shares.launched(2, kKernel);
  const auto held = [&](LaneId lane, unsigned sm) {
    return std::ranges::all_of(notes.told(), [&](const auto& t) { return t.first != lane || t.second.sms.first == SmId(sm); });
  };
  EXPECT_TRUE(soon([&] { return last(notes).sms.count == 1; }));
  for (const LaneId lane : {1, 2}) shares.progress(lane, 1, 0);  // who never begins is evicted in the end
  const auto at_first = notes.told();
  const unsigned of_first = at_first.back().second.sms.first.value() ^ (at_first.back().first == 1 ? 0U : 1U);
  for (const KernelDemand& kernel : {kLarge, kKernel, kLarge}) {
    const int before = status()["decisions"];
    notes.clear();
    (void)shares.launched(1, kernel);
    EXPECT_TRUE(soon([&] { return status()["decisions"] > before; }));
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(held(1, of_first) && held(2, 1 - of_first));
  }
  shares.idle(1);
  shares.idle(2);
}

/// The service takes 64 of a program at a time.
TEST_F(ServiceSharesTest, AStreamsPlaceAtTheServiceIsAnothersWhenItIsDone) {
  start("even");
  auto& notes = *new Notes;
  IShares& shares = program(notes, 5);
  ::testing::internal::CaptureStderr();
  (void)shares.launched(1000, kKernel);
  for (LaneId lane = 1; lane <= 100; ++lane) {
    notes.clear();
    (void)shares.launched(lane, kKernel);
    EXPECT_TRUE(soon([&] { return last(notes).ctas == kHalf; })) << lane << ": half of the GPU";
    shares.idle(lane);
    EXPECT_TRUE(soon([&] { return last(notes) == kWholeMachine; })) << lane;
  }
  std::string said = ::testing::internal::GetCapturedStderr();
  const std::string late = "sluice: shutdown: the service ends: runs natively\n";  // a program of the test before
  for (std::size_t at = 0; (at = said.find(late)) != std::string::npos;) said.erase(at, late.size());
  EXPECT_EQ(said, "");
}

TEST_F(ServiceSharesTest, MoreLanesThanPlacesAreServedAsTheOthersFallIdle) {
  start("even");
  auto& notes = *new Notes;
  IShares& shares = program(notes, 5);
  ::testing::internal::CaptureStderr();
  for (LaneId lane = 1; lane <= 200; ++lane) {
    (void)shares.launched(lane, kKernel);
    if (lane > 10) shares.idle(lane - 10);
  }
  for (LaneId lane = 191; lane <= 199; ++lane) shares.idle(lane);
  std::uint64_t begun = 0;
  const auto alone = [&] {
    shares.progress(200, ++begun, 0);  // no other lane can be running
    return shares.launched(200, kKernel) == kWholeMachine && status()["clients"][0]["state"] == "running";
  };
  EXPECT_TRUE(soon(alone) || soon(alone) || soon(alone) || soon(alone)) << status();  // each asks the service four times
  EXPECT_EQ(::testing::internal::GetCapturedStderr().find("stubs"), std::string::npos);
}

const std::string kOpaque(1000, 'x');  // PyTorch's names are as long

TEST_F(ServiceSharesTest, WhatCannotBeTransformedWaitsUntilTheSchedulerAdmitsIt) {
  start("piv");
  IShares &low = program(*new Notes, 2), &high = program(*new Notes, 9);
  (void)high.launched(1, kKernel);
  high.progress(1, 10, 0);
  EXPECT_TRUE(soon([&] { return status()["clients"][1]["state"] == "running"; })) << status();
  EXPECT_FALSE(low.admit(kOpaque));
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "ready"; })) << status();
  EXPECT_FALSE(low.admit(kOpaque)) << "the GPU is a more important program's";
  high.idle(1);
  EXPECT_TRUE(soon([&] { return low.admit(kOpaque); })) << status();
  (void)high.launched(1, kKernel);
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "to_evict"; })) << status();
  EXPECT_NE(status()["clients"][1]["state"], "running") << "it cannot be evicted: it ends";
  low.admitted_ended();
  EXPECT_TRUE(soon([&] { return status()["clients"][1]["state"] == "to_run"; })) << status();
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "idle"; })) << status();
  high.idle(1);
}

TEST_F(ServiceSharesTest, WhoWasAdmittedAndDidNotStartGivesWay) {
  start("piv");
  IShares &low = program(*new Notes, 2), &high = program(*new Notes, 9);
  (void)high.launched(1, kKernel);
  EXPECT_TRUE(soon([&] { return status()["clients"][1]["state"] == "to_run"; })) << status();
  EXPECT_FALSE(low.admit(kOpaque));
  high.idle(1);
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "to_run"; })) << status();
  (void)high.launched(1, kKernel);
  // The other is given its share at once; this one may start until it has said that it leaves.
  EXPECT_TRUE(soon([&] { return status()["clients"][0]["state"] == "ready"; })) << status();
  EXPECT_FALSE(low.admit(kOpaque));
  EXPECT_EQ(status()["clients"][1]["state"], "to_run");
  high.idle(1);
}

TEST_F(ServiceSharesTest, AKilledServiceIsLeftWithinASecond) {
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    serve("piv");
    ::_exit(0);
  }
  while (!service::connect_to(folder_ / "s")) std::this_thread::yield();
  auto& notes = *new Notes;
  IShares& shares = program(notes, 5);
  (void)shares.launched(1, kKernel);
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(soon([&] { return notes.gone(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(shares.native(), "no service: the service is gone");
  EXPECT_EQ(shares.launched(1, kKernel), kWholeMachine);
}

TEST_F(ServiceSharesTest, WhoNeedsTheServiceEndsWithIt) {
  ::setenv("SLUICE_REQUIRE_SERVICE", "1", 1);
  Notes notes;
  EXPECT_EXIT(program(notes, 5), ::testing::ExitedWithCode(2), "no service: No such file or directory: ends");
  ::unsetenv("SLUICE_REQUIRE_SERVICE");
  EXPECT_NE(program(*new Notes, 5).native().find("no service"), std::string::npos);
  EXPECT_EXIT(outlive_a_killed_service(), ::testing::ExitedWithCode(2), "the service is gone: ends");
}

}  // namespace
}  // namespace sluice::interpose
