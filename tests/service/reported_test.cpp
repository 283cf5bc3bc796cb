// SPDX-License-Identifier: Apache-2.0
// Executor gpu without sockets: clients that report what their launches do.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "sw/service/reported_executor.h"
#include "sw/service/time_slices.h"
#include "tests/service/harness.h"

namespace sluice::service {
namespace {

using namespace std::chrono_literals;

ServiceOptions gpu_options() {
  ServiceOptions options;
  options.executor = ExecutorKind::Gpu;
  return options;
}

struct Lines {
  std::vector<std::string> said;  ///< about sessions
};
ServiceOptions several_gpus(const std::string& scheduler = "even") {
  ServiceOptions options = gpu_options();
  options.any_machine = true;
  options.make_scheduler = [scheduler](const MachineConfig& m, const auto&) { return make_live_scheduler(scheduler, m); };
  return options;
}

struct Reported : Lines, Programs {
  explicit Reported(const std::string& scheduler = "piv", const ServiceOptions& options = gpu_options())
      : Programs([&, this] {
          return make_service(scheduler, options, {}, [this](const std::string& line) { said.push_back(line); });
        }) {}
  /// @return the code of the Error that it caused; 0: none
  template <class Message>
  std::uint32_t refused(std::size_t client, const Message& message) {
    for (const Outgoing& o : say(client, message))
      if (header(o).type == static_cast<std::uint16_t>(Type::Error)) return error(o).code;
    return 0;
  }
  std::uint32_t report(std::size_t client, What what, std::uint64_t begun = 0, std::uint64_t done = 0, std::uint32_t stub = 0) {
    Report m = make<Report>(0);
    m.stub = stub;
    m.what = static_cast<std::uint32_t>(what);
    m.tasks_begun = begun;
    m.tasks_done = done;
    const std::uint32_t code = refused(client, m);
    step();
    return code;
  }
  static Header header(const Outgoing& o) {
    Header h{};
    std::memcpy(&h, o.message.data(), sizeof h);
    return h;
  }
  static Error error(const Outgoing& o) {
    Error e{};
    std::memcpy(&e, o.message.data(), std::min(sizeof e, o.message.size()));
    return e;
  }
};

constexpr auto kInvalid = static_cast<std::uint32_t>(Code::Invalid);

TEST(Reported, ALaunchIsWhatItsClientSays) {
  Reported c;
  const std::size_t a = c.launch();
  EXPECT_EQ(c.word(a).state, StubState::ToRun);
  EXPECT_EQ(c.word(a).ctas, 65535);
  EXPECT_FALSE(c.service.next()) << "no clock runs for it";
  EXPECT_EQ(c.report(a, What::Progress, 20, 12), 0U);
  EXPECT_EQ(c.word(a).state, StubState::Running);
  EXPECT_EQ(c.pages[a].stub[0].tasks_done, 12U);
  c.step(3ms);
  EXPECT_EQ(c.report(a, What::Done, 40, 40), 0U);
  EXPECT_EQ(c.word(a).state, StubState::Done);
  EXPECT_EQ(c.service.open_jobs(), 0U);
  const auto status = nlohmann::json::parse(c.service.status_json(c.now));
  EXPECT_DOUBLE_EQ(status["clients"][0]["kernels"]["quota"]["gpu_ms"], 3);
  EXPECT_EQ(c.refused(a, submit(0, 0, 0)), 0U) << "the stub takes another launch";
}

TEST(Reported, AnEvictionIsOverWhenTheClientSaysSo) {
  Reported c;
  const std::size_t low = c.launch(2);
  (void)c.report(low, What::Progress, 10, 2);
  EXPECT_EQ(c.report(low, What::Evicted, 10, 2), kInvalid) << "nobody told it to leave";
  const std::size_t high = c.launch(9);
  EXPECT_EQ(c.word(low).state, StubState::ToEvict);
  EXPECT_EQ(c.word(high).state, StubState::ToRun);
  EXPECT_EQ(c.report(high, What::Done), 0U);
  EXPECT_EQ(c.word(low).state, StubState::ToEvict) << "it has the GPU again when it has left, not earlier";
  EXPECT_EQ(c.report(low, What::Evicted, 12, 12), 0U);
  EXPECT_EQ(c.word(low).state, StubState::ToRun);
  EXPECT_EQ(c.pages[low].stub[0].evictions, 1U);
}

/// A program that is stopped, or whose blocks do not end: the others have its turns until it reports again.
struct DoesNotLeave : ::testing::Test {
  DoesNotLeave() : stopped(c.launch()), other(c.launch()) {
    (void)c.report(stopped, What::Progress, 10, 2);
    c.step(*c.service.next() - c.now);  // the end of its turn
  }
  /// The other obeys.
  void stays_silent(Time end = ReportedExecutor::kForsakenAfter) {
    for (Time passed{}; passed < end; passed += 1ms) {
      c.step(1ms);
      if (c.word(other).state == StubState::ToEvict) (void)c.report(other, What::Evicted, 10, 10);
    }
  }
  Reported c{"rr"};
  std::size_t stopped, other;
};

TEST_F(DoesNotLeave, IsSaidAfterATenthOfASecond) {
  ASSERT_EQ(c.word(stopped).state, StubState::ToEvict);
  c.step(99ms);
  EXPECT_EQ(c.said, std::vector<std::string>{});
  c.step(1ms);
  EXPECT_EQ(c.said, std::vector<std::string>{"client 100 client: eviction late: kernel, 100 ms"});
  c.step(1ms);
  EXPECT_EQ(c.said.size(), 1U) << "once";
}

TEST(Reported, TheServiceWakesForWhoDoesNotLeave) {
  Reported c;
  (void)c.launch(2);
  c.step(3ms);
  (void)c.report(c.launch(9), What::Progress, 1, 0);
  EXPECT_EQ(c.service.next(), 3ms + ReportedExecutor::kLateAfter);
  c.step(ReportedExecutor::kLateAfter);
  EXPECT_EQ(c.service.next(), 3ms + ReportedExecutor::kForsakenAfter);
  c.step(ReportedExecutor::kForsakenAfter);
  EXPECT_FALSE(c.service.next());
}

TEST_F(DoesNotLeave, OthersHaveItsTurnsAfterASecond) {
  (void)c.report(other, What::Progress, 10, 2);
  stays_silent();
  ASSERT_EQ(c.said.size(), 2U);
  EXPECT_EQ(c.said[1], "client 100 client: eviction late: kernel, 1000 ms: nobody waits for it any more");
  EXPECT_EQ(c.word(stopped).state, StubState::ToEvict) << "that is still its order";
  const std::uint64_t evictions = c.pages[other].stub[0].evictions;
  stays_silent(100ms);
  EXPECT_NE(c.word(other).state, StubState::Ready);
  EXPECT_EQ(c.pages[other].stub[0].evictions, evictions) << "nobody to make room for";
}

TEST_F(DoesNotLeave, HasTurnsAgainWhenItReports) {
  (void)c.report(other, What::Progress, 10, 2);
  stays_silent();
  EXPECT_EQ(c.report(stopped, What::Evicted, 10, 10), 0U);
  EXPECT_EQ(c.pages[stopped].stub[0].evictions, 1U);
  bool had_one = false;
  for (int ms = 0; ms < 20; ++ms) {
    stays_silent(1ms);
    had_one |= c.word(stopped).state == StubState::ToRun;
  }
  EXPECT_TRUE(had_one);
}

TEST_F(DoesNotLeave, MayEndBeDoneOrBeAnotherKernelLate) {
  stays_silent();
  EXPECT_EQ(c.report(stopped, What::Progress, 11, 2), 0U) << "it goes on, and is late again";
  c.step(100ms);
  EXPECT_EQ(c.said.size(), 3U);
  stays_silent();
  EXPECT_EQ(c.said.size(), 4U);
  EXPECT_EQ(c.refused(stopped, take_stub(0, 0, 0)), 0U);
  stays_silent();
  EXPECT_EQ(c.report(stopped, What::Done, 0, 0), 0U);
  EXPECT_EQ(c.word(stopped).state, StubState::Done);
  stays_silent();
  c.service.lost(c.sessions[stopped], c.now);
  c.step();
  EXPECT_EQ(c.service.open_jobs(), 1U) << "the other's";
}

TEST_F(DoesNotLeave, MayBeKilledLate) {
  stays_silent();
  c.service.lost(c.sessions[stopped], c.now);
  c.step();
  EXPECT_EQ(c.service.open_jobs(), 1U) << "the other's";
}

TEST(Reported, OneThatBeginsNothingForASecondHasToLeaveWhereOthersWait) {
  Reported c("rr");
  const std::size_t stopped = c.launch();
  c.step(5s);
  EXPECT_EQ(c.word(stopped).state, StubState::ToRun) << "alone it may take its time";
  const std::size_t other = c.launch();
  EXPECT_TRUE(c.service.next());
  for (int ms = 0; ms < 20 && c.word(stopped).state == StubState::ToRun; ++ms) c.step(1ms);
  EXPECT_EQ(c.word(stopped).state, StubState::ToEvict);
  for (int ms = 0; ms < 20 && c.word(other).state != StubState::ToRun; ++ms) c.step(1ms);
  EXPECT_EQ(c.word(other).state, StubState::ToRun);
}

TEST(Reported, OneThatWasGivenAShareAndNotSeenToRunHasToSayThatItLeft) {
  Reported c;
  const std::size_t low = c.launch(2);
  (void)c.launch(9);
  EXPECT_EQ(c.word(low).state, StubState::ToEvict);
  EXPECT_EQ(c.report(low, What::Done), 0U) << "or that it was done before it heard of it";
  EXPECT_EQ(c.word(low).state, StubState::Done);
}

TEST(Reported, AProgramHasALaunchInEachOfItsStreams) {
  Reported c("even");
  const std::size_t a = c.launch();
  for (std::uint32_t stub : {1U, 2U}) {
    (void)c.say(a, take_stub(0));
    EXPECT_EQ(c.refused(a, submit(0, stub, 0)), 0U);
  }
  c.step();
  for (std::uint32_t stub = 0; stub < 3; ++stub) EXPECT_EQ(c.word(a, stub).ctas, 2) << "eight slots for three";
}

TEST(Reported, AnotherKernelInTheStreamIsDecidedAnew) {
  Reported c("even");
  const std::size_t a = c.launch(), b = c.launch();
  EXPECT_EQ(c.word(a).ctas, 4);
  (void)c.report(a, What::Progress, 8, 0);
  (void)c.say(a, kernel(0, 768, "large"));  // of which two fit an SM
  EXPECT_EQ(c.refused(a, take_stub(0, 1, 0)), 0U);
  EXPECT_EQ(c.word(a).ctas, 4) << "until it is decided";
  c.step();
  EXPECT_EQ(c.word(a).state, StubState::Running);
  EXPECT_EQ(c.word(a).ctas, 1);
  EXPECT_EQ(c.word(b).ctas, 4);
  EXPECT_EQ(c.service.open_jobs(), 2U);
  EXPECT_EQ(c.refused(a, take_stub(0, 2, 0)), kInvalid) << "a kernel that nobody registered";
}

TEST(Reported, TheNextLaunchMayBeInTheSameBatchAsTheEndOfTheLast) {
  Reported c;
  const std::size_t a = c.launch();
  Report done = make<Report>(0);
  done.what = static_cast<std::uint32_t>(What::Done);
  EXPECT_EQ(c.refused(a, done), 0U);
  EXPECT_EQ(c.refused(a, take_stub(0, 0, 0)), 0U);
  EXPECT_EQ(c.refused(a, submit(0, 0, 0)), 0U);
  c.step();
  EXPECT_EQ(c.word(a).state, StubState::ToRun);
  EXPECT_EQ(c.service.open_jobs(), 1U);
}

TEST(Reported, CountsNeitherFallNorPassTheLaunch) {
  Reported c;
  const std::size_t a = c.open();
  (void)c.say(a, kernel(0));
  (void)c.say(a, take_stub(0));
  (void)c.say(a, submit(0, 0, 16));
  c.step();
  EXPECT_EQ(c.report(a, What::Progress, 8, 4), 0U);
  EXPECT_EQ(c.report(a, What::Progress, 7, 4), kInvalid);
  EXPECT_EQ(c.report(a, What::Progress, 9, 3), kInvalid);
  EXPECT_EQ(c.report(a, What::Progress, 8, 9), kInvalid);
  EXPECT_EQ(c.report(a, What::Progress, 17, 9), kInvalid);
  EXPECT_EQ(c.report(a, static_cast<What>(9), 9, 9), kInvalid);
  EXPECT_EQ(c.report(a, What::Progress, 0, 0, 1), static_cast<std::uint32_t>(Code::UnknownStub));
  EXPECT_EQ(c.report(a, What::Done, 16, 16), 0U);
  EXPECT_EQ(c.report(a, What::Progress, 16, 16), kInvalid) << "it has ended";
}

Machine machine(std::uint32_t sms) {
  Machine m = make<Machine>(0);
  m.sms = sms;
  m.threads = 1024;
  m.registers = 32768;
  m.shared_bytes = 49152;
  m.cta_slots = 6;
  return m;
}

TEST(Reported, TheMachineIsTheFirstClientsGpu) {
  Reported c("even", several_gpus());
  const std::size_t a = c.open(), b = c.open();
  EXPECT_EQ(c.refused(a, machine(0)), kInvalid);
  EXPECT_EQ(c.refused(a, machine(4)), 0U);
  EXPECT_EQ(c.refused(b, machine(4)), 0U) << "the same";
  EXPECT_EQ(c.refused(b, machine(5)), kInvalid) << "another GPU";
  (void)c.launch();
  (void)c.launch();
  EXPECT_EQ(c.word(3).ctas, 3) << "half of six slots";
  Reported fixed("even");
  EXPECT_EQ(fixed.refused(fixed.open(), machine(4)), kInvalid) << "the service was started for a GPU of two SMs";
}

Machine machine_of(std::uint8_t gpu, std::uint32_t sms = 4) {
  Machine m = machine(sms);
  m.gpu.fill(gpu);
  return m;
}

TEST(Reported, EachGpuIsSharedByItself) {
  Reported c("even", several_gpus());
  std::vector<std::size_t> clients;
  for (const std::uint8_t gpu : std::array<std::uint8_t, 3>{1, 2, 2}) {
    clients.push_back(c.open());
    EXPECT_EQ(c.refused(clients.back(), machine_of(gpu, 3U + gpu)), 0U) << int{gpu};
    (void)c.say(clients.back(), kernel(0));
    (void)c.say(clients.back(), take_stub(0));
    (void)c.say(clients.back(), submit(0, 0, 0));
    c.step();
  }
  EXPECT_EQ(c.word(clients[0]).ctas, 65535) << "it is alone there";
  EXPECT_EQ(c.word(clients[1]).ctas, 3);
  EXPECT_EQ(c.word(clients[2]).ctas, 3);
  const auto status = nlohmann::json::parse(c.service.status_json(c.now));
  EXPECT_EQ(status["clients"][0]["gpu"], "GPU-01010101-0101-0101-0101-010101010101");
  EXPECT_EQ(status["clients"][0]["share_ctas"], 4 * 6);
  EXPECT_EQ(status["clients"][1]["gpu"], status["clients"][2]["gpu"]);
  EXPECT_EQ(status["clients"][2]["share_ctas"], 5 * 3);
  EXPECT_EQ(status["decisions"], 3);
  EXPECT_EQ(StubWord::of(c.pages[clients[0]].unasked).ctas, 0);
  c.service.lost(c.sessions[clients[1]], c.now);
  c.step();
  EXPECT_EQ(c.word(clients[2]).ctas, 65535) << "what the other had";
  EXPECT_EQ(c.refused(clients[2], machine_of(1)), static_cast<std::uint32_t>(Code::Busy)) << "a launch is on the second";
}

TEST(Reported, AGpuOfOneUuidHasOneShape) {
  Reported c("even", several_gpus());
  const std::size_t a = c.open(), b = c.open();
  EXPECT_EQ(c.refused(a, machine_of(1, 4)), 0U);
  EXPECT_EQ(c.refused(b, machine_of(1, 5)), kInvalid);
  EXPECT_EQ(c.refused(b, machine_of(2, 5)), 0U);
  Reported alone("even");
  const std::size_t first = alone.open(), second = alone.open();
  Machine same = machine_of(1, 2);
  same.threads = 1536;
  same.cta_slots = 8;
  EXPECT_EQ(alone.refused(first, same), 0U);
  same.gpu.fill(2);
  EXPECT_EQ(alone.refused(second, same), kInvalid) << "nobody decides there";
}

TEST(Reported, GpusThatNobodyUsesAreForgotten) {
  Reported c("even", several_gpus());
  const std::size_t stays = c.open();
  EXPECT_EQ(c.refused(stays, machine_of(200)), 0U);
  for (std::uint8_t gpu = 1; gpu < 100; ++gpu) {
    const std::size_t client = c.open();
    EXPECT_EQ(c.refused(client, machine_of(gpu, 4U + gpu % 3U)), 0U) << int{gpu};
    c.service.lost(c.sessions[client], c.now);
  }
  EXPECT_EQ(c.refused(c.open(), machine_of(200)), 0U);
}

TEST(Reported, IsolatedClientsHoldTheGpuInTurns) {
  ServiceOptions options = gpu_options();
  options.isolate = true;
  Reported c("even", options);
  const std::size_t a = c.launch(), b = c.launch();
  EXPECT_EQ(c.word(a).ctas, 65535) << "alone it has all";
  EXPECT_EQ(c.word(b).state, StubState::Ready);
  c.step(TimeSlices::kSlice - 1ms);
  EXPECT_EQ(c.word(a).state, StubState::ToRun);
  c.step(1ms);
  EXPECT_EQ(c.word(a).state, StubState::ToEvict);
  EXPECT_EQ(c.word(b).state, StubState::Ready) << "until the other has left";
  c.step(5ms);
  EXPECT_EQ(c.report(a, What::Evicted), 0U);
  EXPECT_EQ(c.word(b).ctas, 65535);
  EXPECT_EQ(c.word(a).state, StubState::Ready);
  c.step(TimeSlices::kSlice - 1us);
  EXPECT_EQ(c.word(b).state, StubState::ToRun) << "a whole turn, from when it could begin";
  c.service.lost(c.sessions[b], c.now);
  c.step();
  EXPECT_EQ(c.word(a).ctas, 65535) << "at once";
  c.step(1s);
  EXPECT_EQ(c.word(a).state, StubState::ToRun) << "nobody else wants it";
}

TEST(Reported, WhoDiesAtWorkUnderMpsTakesTheOthersContexts) {
  ServiceOptions options = several_gpus("piv");
  options.takes_others = [](pid_t) { return true; };
  Reported c("piv", options);
  const std::size_t observer = c.open(), idle = c.open(), worker = c.open();
  (void)c.say(idle, machine(4));
  (void)c.say(worker, machine(4));
  c.service.lost(c.sessions[idle], c.now);
  EXPECT_FALSE(c.service.take_context_loss()) << "nothing of it was on the GPU";
  const std::size_t pretender = c.launch();
  c.service.lost(c.sessions[pretender], c.now);
  EXPECT_FALSE(c.service.take_context_loss()) << "no launch of it has begun";
  (void)c.service.take_outgoing();
  const std::size_t victim = c.launch();
  EXPECT_EQ(c.report(victim, What::Progress, 1), 0U);
  c.service.lost(c.sessions[victim], c.now);
  const auto out = c.service.take_outgoing();
  const auto said = std::ranges::find_if(out, [&](const Outgoing& o) { return o.session == c.sessions[worker]; });
  ASSERT_NE(said, out.end());
  EXPECT_EQ(Reported::error(*said).code, static_cast<std::uint32_t>(Code::ContextLost));
  EXPECT_STREQ(Reported::error(*said).text, "client 104 client died with work on the GPU: MPS ended the contexts of all");
  EXPECT_EQ(c.service.sessions(), 1U) << "who has no context has lost none: " << observer;
  EXPECT_TRUE(c.service.take_context_loss());
  EXPECT_FALSE(c.service.take_context_loss());
  const std::size_t next = c.launch();
  EXPECT_EQ(c.word(next).state, StubState::ToRun) << "the next one is served";
}

TEST(Reported, WhoseContextFailedMayHaveTakenTheOthers) {
  for (const bool fault : {false, true}) {
    ServiceOptions options = several_gpus("piv");
    std::vector<pid_t> asked;
    options.takes_others = [&](pid_t died) { return asked.push_back(died), fault; };
    Reported c("piv", options);
    const std::size_t stranger = c.open(), beside = c.open(), victim = c.open();
    for (const std::size_t client : {beside, victim}) (void)c.say(client, machine(4));
    const std::size_t busy = c.launch();
    EXPECT_EQ(c.report(busy, What::Progress, 1), 0U);
    (void)c.say(busy, make<Bye>(0));
    (void)c.say(stranger, make<Failed>(0));
    EXPECT_TRUE(asked.empty()) << "it would have said so; and a stranger has no context";
    (void)c.say(victim, make<Failed>(0));
    EXPECT_EQ(asked, std::vector<pid_t>{0});
    EXPECT_EQ(c.service.take_context_loss(), fault);
    EXPECT_EQ(c.service.sessions(), fault ? 1U : 3U) << "who has a context has lost it";
  }
}

TEST(Reported, WhoDiesBeforeItHasASessionMayBlockTheOthers) {
  ServiceOptions options = several_gpus("piv");
  std::vector<pid_t> asked;
  options.blocks_others = [&](pid_t died) { return asked.push_back(died), true; };
  Reported c("piv", options);
  const std::size_t of_100 = c.open(), other = c.open();
  (void)c.say(other, machine(4));
  for (const std::int32_t pid : {77, 100}) {
    const auto session = c.service.open({pid, false, 10}, c.pages.emplace_back(), c.now);
    c.service.handle(*session, bytes(make<Begins>(1)), c.now);
    c.service.lost(*session, c.now);
    EXPECT_TRUE(c.service.begun(pid));
  }
  (void)c.say(of_100, make<Bye>(0));
  for (const std::int32_t pid : {100, 76, 77}) c.service.ended(pid, c.now);
  EXPECT_EQ(asked, std::vector<pid_t>{77}) << "100 had a session, 76 has not begun";
  EXPECT_TRUE(c.service.take_context_loss());
  EXPECT_EQ(c.service.sessions(), 0U);
}

TEST(Reported, WhatClientsSayOfTheirKernelsIsInTheStatus) {
  Reported c;
  const std::size_t a = c.launch();
  const auto say = [&](Way way, const char* name, const char* reason, std::uint64_t launches, std::uint64_t ns) {
    Coverage m = make<Coverage>(0);
    m.way = static_cast<std::uint32_t>(way);
    m.launches = launches;
    m.gpu_ns = ns;
    std::strncpy(m.name, name, sizeof m.name - 1);
    std::strncpy(m.reason, reason, sizeof m.reason - 1);
    return c.refused(a, m);
  };
  EXPECT_EQ(say(Way::Quota, "k", "", 3, 1'000'000), 0U);
  EXPECT_EQ(say(Way::Quota, "k", "", 7, 2'500'000), 0U) << "until now, not since the last";
  EXPECT_EQ(say(Way::Native, "g", "cooperative launch", 2, 500'000), 0U);
  const auto client = nlohmann::json::parse(c.service.status_json(c.now))["clients"][0];
  EXPECT_EQ(client["kernels"]["quota"], (nlohmann::json{{"launches", 7}, {"gpu_ms", 2.5}}));
  EXPECT_EQ(client["kernels"]["native"], (nlohmann::json{{"launches", 2}, {"gpu_ms", 0.5}}));
  EXPECT_EQ(client["reasons"], (nlohmann::json{{"g", "cooperative launch"}}));
  EXPECT_EQ(say(static_cast<Way>(3), "k", "", 1, 1), static_cast<std::uint32_t>(Code::Malformed));
}

TEST(Reported, WhatIsWishedForAClientHoldsForItsKernels) {
  struct Notes : IScheduler {
    explicit Notes(std::vector<double>& to) : floors(to) {}
    Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time) override {
      for (const JobView& job : jobs) floors.push_back(job.kernel.wish.floor);
      return {};
    }
    std::vector<double>& floors;
  };
  for (const char* name : {"client", "another"}) {
    std::vector<double> floors;
    ServiceOptions options = gpu_options();
    options.wishes = {{name, {1, 0.75}}};
    Programs c([&] { return Service(two_sms(), std::make_unique<Notes>(floors), options); });
    (void)c.launch();
    ASSERT_FALSE(floors.empty());
    EXPECT_EQ(floors.back(), name == std::string("client") ? 0.75 : 0);
  }
}

TEST(Reported, WhileNothingRunsANewcomerMayBeginUnasked) {
  Reported c;
  const std::size_t a = c.launch();
  EXPECT_EQ(StubWord::of(c.pages[a].unasked).ctas, 0);
  (void)c.report(a, What::Done);
  EXPECT_EQ(StubWord::of(c.pages[a].unasked).ctas, 65535);
  EXPECT_EQ(StubWord::of(c.pages[a].unasked).sms, 65535);
}

}  // namespace
}  // namespace sluice::service
