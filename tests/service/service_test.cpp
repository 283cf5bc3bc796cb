// SPDX-License-Identifier: Apache-2.0
// The service without sockets: messages in, messages and pages out.
#include "sw/service/service.h"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>

#include "tests/service/harness.h"

namespace sluice::service {
namespace {

using namespace std::chrono_literals;

/// Clients of one service.
struct Clients {
  explicit Clients(const std::string& scheduler = "piv", ServiceOptions options = {})
      : service(make_service(
            scheduler, std::move(options), [this](const std::string& line) { decisions.push_back(line); },
            [this](const std::string& line) { events.push_back(line); })) {}

  SessionId open(Time now = {}) {
    return *service.open({static_cast<std::int32_t>(pages.size()) + 100, false, 10}, pages.emplace_back(), now);
  }
  /// The answers to one message.
  template <class Message>
  std::vector<Outgoing> say(SessionId session, const Message& message, Time now = {}) {
    service.handle(session, bytes(message), now);
    return service.take_outgoing();
  }
  SessionId ready(std::int32_t priority = kThreadPriority) {
    const SessionId session = open();
    (void)say(session, hello(1, priority));
    (void)say(session, kernel(2));
    (void)say(session, take_stub(3));
    return session;
  }
  [[nodiscard]] StubWord word(std::size_t client, std::uint32_t stub = 0) const {
    return StubWord::of(pages[client].stub[stub].word);
  }

  std::deque<Page> pages;
  std::vector<std::string> decisions, events;
  Service service;
};

Error error_of(const std::vector<Outgoing>& out) {
  Error e{};
  if (out.size() == 1 && out[0].message.size() == sizeof e) std::memcpy(&e, out[0].message.data(), sizeof e);
  return e;
}
Code code_of(const std::vector<Outgoing>& out) { return static_cast<Code>(error_of(out).code); }

TEST(Service, ALaunchRunsToItsEndAndThePageTellsIt) {
  Clients c;
  const SessionId a = c.ready();
  EXPECT_EQ(c.pages[0].magic, Page::kMagic);
  EXPECT_EQ(c.word(0).state, StubState::Prep);
  (void)c.say(a, submit(4, 0, 40));
  c.service.advance(0us);
  EXPECT_EQ(c.word(0).state, StubState::Running);
  EXPECT_EQ(c.word(0).ctas, 65535);
  EXPECT_EQ(c.pages[0].stub[0].tasks_begun, 16U) << "two SMs of eight slots";
  c.service.advance(15us);
  EXPECT_EQ(c.pages[0].stub[0].tasks_done, 16U);
  c.service.advance(30us);
  EXPECT_EQ(c.word(0).state, StubState::Done);
  EXPECT_EQ(c.pages[0].stub[0].tasks_done, 40U);
  EXPECT_EQ(c.service.open_jobs(), 0U);
  EXPECT_FALSE(c.service.next()) << "nothing is left to wake up for";
}

TEST(Service, AnImportantClientEvictsTheOtherAndTheLogSaysIt) {
  Clients c;
  const SessionId low = c.ready(2), high = c.ready(9);
  (void)c.say(low, submit(4, 0, 100));
  c.service.advance(0us);
  (void)c.say(high, submit(4, 0, 16), 5us);
  c.service.advance(5us);
  EXPECT_EQ(c.word(0).state, StubState::ToEvict);
  c.service.advance(10us);
  EXPECT_EQ(c.word(0).state, StubState::Ready);
  EXPECT_EQ(c.word(1).state, StubState::Running);
  EXPECT_EQ(c.pages[0].stub[0].evictions, 1U);
  EXPECT_TRUE(c.decisions.empty()) << "the clients do not wait for the log";
  c.service.tell_decisions();
  const auto line = nlohmann::json::parse(c.decisions.at(1));
  EXPECT_EQ(line["now_ps"], 5'000'000);
  EXPECT_EQ(line["events"][0], (nlohmann::json{{"kind", "arrived"}, {"job", 1}}));
  EXPECT_EQ(line["before"][0]["job"], 0);
  EXPECT_EQ(line["shares"][0]["job"], 1);
  EXPECT_GE(line["us"].get<double>(), 0);
  const auto status = nlohmann::json::parse(c.service.status_json(10us));
  EXPECT_EQ(status["clients"][0]["state"], "ready");
  EXPECT_EQ(status["clients"][1]["state"], "running");
  EXPECT_DOUBLE_EQ(status["clients"][0]["kernels"]["quota"]["gpu_ms"], 0.01);
  EXPECT_EQ(status["clients"][0]["kernels"]["quota"]["launches"], 1);
  EXPECT_EQ(status["decisions"], c.service.decisions());
}

TEST(Service, StatusHasExactlyTheKeysThatScriptsRead) {
  Clients c("even");
  (void)c.ready(3);
  EXPECT_EQ(
      c.service.status_json({}),
      R"({"scheduler":"even","clients":[{"pid":101,"name":"client","gpu":"","priority":3,"state":"idle","share_ctas":0,"evictions":0,)"
      R"("memory":{"limit":0,"used":0,"most":0,"refused":0},"waited_ms":0.0,"kernels":{)"
      R"("quota":{"launches":0,"gpu_ms":0.0},"native":{"launches":0,"gpu_ms":0.0}},)"
      R"("reasons":{}}],"decisions":0,"lost":0})");
}

TEST(Service, AClientHasOneStatusInMemoryHoweverManyItAsksFor) {
  Clients c;
  const SessionId a = c.open();
  for (std::uint32_t k = 1; k <= 3; ++k) c.service.handle(a, bytes(make<Status>(k)), {});
  const std::vector<Outgoing> out = c.service.take_outgoing();
  ASSERT_EQ(out.size(), 3U);
  EXPECT_FALSE(out[0].text.empty());
  for (const Outgoing& refused : {out[1], out[2]}) EXPECT_EQ(code_of({refused}), Code::Busy);
  EXPECT_FALSE(c.say(a, make<Status>(4)).front().text.empty()) << "once the first was sent";
}

TEST(Service, AStatusIsMadeOnceInAWhile) {
  Clients c;
  const SessionId a = c.ready(3);
  const auto clients = [&](std::uint32_t sequence, Time now) {
    c.service.handle(a, bytes(make<Status>(sequence)), now);
    return nlohmann::json::parse(c.service.take_outgoing().front().text)["clients"].size();
  };
  EXPECT_EQ(clients(4, {}), 1U);
  (void)c.ready(3);
  EXPECT_EQ(clients(5, Service::kStatusLife - 1ns), 1U) << "the same text";
  EXPECT_EQ(clients(6, Service::kStatusLife), 2U);
}

TEST(Service, TheStatusHasSharesEvictionsAndWaits) {
  Clients c("piv");
  const SessionId low = c.ready(1), high = c.ready(9);
  Time now{};
  (void)c.say(low, submit(4, 0, 1000));
  c.service.advance({});
  const auto of = [&](std::size_t client, const char* what) {
    return nlohmann::json::parse(c.service.status_json(now))["clients"][client][what].get<double>();
  };
  EXPECT_EQ(of(0, "share_ctas"), 16) << "both SMs, of eight CTAs each";
  now = 5us;
  (void)c.say(high, submit(4, 0, 16), now);
  c.service.advance(now);
  EXPECT_EQ(of(0, "share_ctas"), 0);
  EXPECT_EQ(of(1, "share_ctas"), 16);
  now = 8us;
  c.service.advance(now);
  EXPECT_DOUBLE_EQ(of(1, "waited_ms"), 0.003) << "blocks of 10 us have not ended";
  EXPECT_EQ(of(0, "evictions"), 0);
  now = 10us;
  c.service.advance(now);
  EXPECT_EQ(of(0, "evictions"), 1);
  EXPECT_EQ(of(1, "evictions"), 0);
  now = 13us;
  c.service.advance(now);
  EXPECT_DOUBLE_EQ(of(0, "waited_ms"), 0.003);
  EXPECT_DOUBLE_EQ(of(1, "waited_ms"), 0.005) << "it runs";
}

TEST(Service, TwoClientsOfAPolicyShareEverySm) {
  Clients c("even");
  for (const SessionId s : {c.ready(), c.ready()}) (void)c.say(s, submit(4, 0, 100));
  c.service.advance(0us);
  EXPECT_EQ(c.word(0).ctas, 4);
  EXPECT_EQ(c.word(1).ctas, 4);
  EXPECT_EQ(c.service.decisions(), 1U) << "one for both arrivals";
}

TEST(Service, OnlyRootGoesAboveItsThreadsPriority) {
  Clients c;
  const SessionId a = c.ready(25);
  const auto status = nlohmann::json::parse(c.service.status_json({}));
  EXPECT_EQ(status["clients"][0]["priority"], 10);
  Priority ask = make<Priority>(4);
  ask.stub = kAllStubs;
  ask.priority = 4;
  Ok ok{};
  const auto out = c.say(a, ask);
  std::memcpy(&ok, out.at(0).message.data(), sizeof ok);
  EXPECT_EQ(ok.priority, 4);
}

TEST(Service, MalformedMessagesEndTheirSessionAlone) {
  const auto cut = [](auto message, std::size_t size) {
    message.header.bytes = static_cast<std::uint16_t>(size);
    const auto all = bytes(message);
    return std::vector<std::byte>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  };
  const auto whole = [&](auto message) { return cut(message, sizeof message); };
  Register endless = kernel(4), strange = kernel(4);
  std::memset(endless.name, 'x', sizeof endless.name);
  strange.name[0] = '\n';
  Status unknown = make<Status>(4), liar = make<Status>(4);
  unknown.header.type = 99;
  liar.header.bytes = 9;
  const auto liar_bytes = bytes(liar);
  const std::pair<std::vector<std::byte>, Code> cases[] = {
      {{}, Code::Malformed},
      {std::vector<std::byte>(3), Code::Malformed},
      {cut(submit(4, 0, 1), 20), Code::Malformed},
      {{liar_bytes.begin(), liar_bytes.end()}, Code::Malformed},
      {whole(unknown), Code::Malformed},
      {whole(endless), Code::Malformed},
      {whole(strange), Code::Malformed},
      {whole(submit(6, 0, 1)), Code::OutOfOrder},
      {whole(submit(3, 0, 1)), Code::OutOfOrder},
      {whole(hello(4)), Code::OutOfOrder},
  };
  for (const auto& [message, code] : cases) {
    Clients c;
    const SessionId bad = c.ready(), good = c.ready();
    (void)c.say(bad, submit(100, 0, 1));  // already out of order: see below
    ASSERT_EQ(c.service.sessions(), 1U);
    const SessionId again = c.ready();
    c.service.handle(again, message, {});
    EXPECT_EQ(code_of(c.service.take_outgoing()), code);
    EXPECT_EQ(c.service.sessions(), 1U);
    EXPECT_EQ(c.service.lost_sessions(), 2U);
    EXPECT_EQ(c.events.size(), 2U);
    (void)c.say(good, submit(4, 0, 16));
    c.service.advance(10us);
    EXPECT_EQ(c.word(1).state, StubState::Done);
  }
}

TEST(Service, RefusesWithoutEndingTheSession) {
  Clients c;
  const SessionId a = c.ready();
  EXPECT_EQ(code_of(c.say(a, submit(4, 7, 1))), Code::UnknownStub);
  EXPECT_EQ(code_of(c.say(a, submit(5, 0, 0))), Code::Invalid);
  EXPECT_EQ(code_of(c.say(a, submit(6, 0, 1, 0))), Code::Invalid);
  EXPECT_EQ(code_of(c.say(a, kernel(7, 1025))), Code::Invalid);
  Register large = kernel(8);
  large.shared_bytes = 49153;
  const Error e = error_of(c.say(a, large));
  EXPECT_STREQ(e.text, "kernel kernel: one CTA needs 49153 bytes of shared memory, an SM of machine small has 49152");
  EXPECT_EQ(e.fatal, 0U);
  (void)c.say(a, submit(9, 0, 100));
  EXPECT_EQ(code_of(c.say(a, submit(10, 0, 1))), Code::Busy);
  for (std::uint32_t k = 1; k < kStubs; ++k) (void)c.say(a, take_stub(10 + k));
  EXPECT_EQ(code_of(c.say(a, take_stub(10 + kStubs))), Code::Full);
  EXPECT_EQ(c.service.sessions(), 1U);
}

TEST(Service, WhoSaysNothingIsClosedAfterASecond) {
  Clients c;
  (void)c.open(5us);
  EXPECT_EQ(c.service.next(), Time(1s + 5us));
  c.service.advance(1s + 4us);
  EXPECT_EQ(c.service.sessions(), 1U);
  c.service.advance(1s + 5us);
  EXPECT_EQ(code_of(c.service.take_outgoing()), Code::TooSlow);
  EXPECT_EQ(c.service.sessions(), 0U);
}

TEST(Service, TheSixtyFifthClientIsRefused) {
  Clients c;
  for (int k = 0; k < 64; ++k) (void)c.ready();
  Page page;
  EXPECT_FALSE(c.service.open({1, false, 10}, page, {}));
}

TEST(Service, WhoHasSaidNothingMakesRoomForOthers) {
  Clients c;
  const SessionId silent = c.open();
  for (int k = 0; k < 63; ++k) (void)c.open();
  Page page;
  EXPECT_TRUE(c.service.open({1, false, 10}, page, {}));
  EXPECT_EQ(c.service.sessions(), 64U);
  const std::vector<SessionId> closed = c.service.take_closed();
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed.front(), silent) << "the oldest";
}

TEST(Service, ALostClientsShareGoesToTheOthersAtOnce) {
  for (const bool before_the_decision : {false, true}) {
    Clients c("arrival");
    const SessionId a = c.ready(), b = c.ready();
    (void)c.say(a, submit(4, 0, 1000));
    if (!before_the_decision) c.service.advance(0us);
    (void)c.say(b, submit(4, 0, 16), 3us);
    c.service.lost(a, 3us);
    c.service.advance(3us);
    EXPECT_EQ(c.word(1).state, StubState::Running);
    EXPECT_EQ(c.service.open_jobs(), 1U);
    c.service.advance(13us);
    EXPECT_EQ(c.word(1).state, StubState::Done);
    EXPECT_FALSE(c.service.next());
  }
}

}  // namespace
}  // namespace sluice::service
