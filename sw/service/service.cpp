// SPDX-License-Identifier: Apache-2.0
#include "sw/service/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/decision_log.h"
#include "sw/scheduler/priority.h"

namespace sluice::service {

/// Why a request is not granted.
struct Service::Refusal {
  Code code;
  std::string text;
};

/// Times the scheduler, counts its calls, and tells each of them.
class Service::Logged : public IScheduler {
 public:
  Logged(std::unique_ptr<IScheduler> inner, Log log) : inner_(std::move(inner)), log_(std::move(log)) {}
  [[nodiscard]] Mode mode() const override { return inner_->mode(); }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    const auto begin = std::chrono::steady_clock::now();
    Plan plan = inner_->decide(jobs, events, now);
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    ++calls_;
    if (log_) {
      nlohmann::ordered_json line = to_json(LoggedDecision{now, {events.begin(), events.end()}, plan});
      line["before"] = shares_json(before_);
      line["us"] = us;
      log_(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      before_ = plan;
    }
    return plan;
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  std::unique_ptr<IScheduler> inner_;
  Log log_;
  Plan before_;
  std::uint64_t calls_ = 0;
};

struct Service::Kernel {
  KernelDescriptor kernel;
  std::int32_t priority;
  std::optional<JobId> job{};  ///< until it is done
};

struct Service::Session {
  SessionId id;
  Peer peer;
  Page* page;
  Time hello_by;
  std::string name{};
  std::int32_t priority = 0;
  std::uint32_t sequence = 0;
  std::array<std::optional<Kernel>, kStubs> kernels{};
  std::uint64_t launches = 0;
  Time held{};  ///< of launches that have ended

  [[nodiscard]] bool is_open() const { return !name.empty(); }
};

namespace {

template <class Value>
void store(Value& place, Value value) {
  std::atomic_ref(place).store(value, std::memory_order_release);
}

/// @return nullopt when it is no text as the protocol has it
template <std::size_t n>
std::optional<std::string> text(const char (&field)[n]) {
  const char* end = std::find(field, field + n, '\0');
  if (end == field + n || end == field) return {};
  if (std::any_of(field, end, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) return {};
  return std::string(field, end);
}

std::uint16_t saturated(std::uint32_t value) { return static_cast<std::uint16_t>(std::min(value, 65535U)); }

StubState stub_state(JobState state) {
  switch (state) {
    case JobState::Prep: return StubState::Prep;
    case JobState::Ready: return StubState::Ready;
    case JobState::ToRun: return StubState::ToRun;
    case JobState::Running: return StubState::Running;
    case JobState::ToEvict: return StubState::ToEvict;
    case JobState::Done:
    case JobState::Lost: break;
  }
  return StubState::Done;
}

bool is_priority(std::int32_t p) { return p == kThreadPriority || (p >= 0 && p <= kMaxPriority); }

}  // namespace

Error refusal(Code code, std::string_view text) {
  Error e = make<Error>(0);
  e.code = static_cast<std::uint32_t>(code);
  e.fatal = 1;
  text.copy(e.text, sizeof e.text - 1);
  return e;
}

Service::Service(const MachineConfig& machine, std::unique_ptr<IScheduler> scheduler, ServiceOptions options, Log decisions,
                 Log events)
    : machine_(machine),
      scheduler_(std::make_unique<Logged>(std::move(scheduler), std::move(decisions))),
      options_(std::move(options)),
      events_(std::move(events)),
      executor_(machine_, *scheduler_, options_.costs) {}
Service::~Service() = default;

std::optional<SessionId> Service::open(const Peer& peer, Page& page, Time now) {
  if (sessions_.size() >= options_.most_sessions) return {};
  const SessionId id(++last_session_);
  std::memset(&page, 0, sizeof page);
  page.magic = Page::kMagic;
  page.version = kVersion;
  page.session = id.value();
  page.stubs = kStubs;
  sessions_.emplace(id, Session{id, peer, &page, now + options_.hello_within});
  return id;
}

template <class Message>
void Service::send(SessionId to, const Message& message, std::string text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&message);
  outgoing_.push_back({to, {bytes, bytes + sizeof message}, std::move(text)});
}

void Service::answer(const Session& session, std::uint32_t value, std::int32_t priority) {
  Ok ok = make<Ok>(session.sequence);
  ok.value = value;
  ok.priority = priority;
  send(session.id, ok);
}

void Service::say(const Session& session, const Refusal& why, bool fatal) {
  Error e = refusal(why.code, why.text);
  e.header.sequence = session.sequence;
  e.fatal = fatal ? 1 : 0;
  send(session.id, e);
  if (events_)
    events_(fmt::format("client {}{}{}: {}: {}{}", session.peer.pid, session.is_open() ? " " : "", session.name,
                        to_string(why.code), why.text, fatal ? "; session closed" : ""));
}

void Service::handle(SessionId id, std::span<const std::byte> message, Time now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  try {
    dispatch(found->second, message, now);
  } catch (const Refusal& why) {
    const bool fatal = why.code == Code::Malformed || why.code == Code::OutOfOrder || why.code == Code::Version;
    say(found->second, why, fatal);
    if (fatal) end(id, now, true);
  }
}

void Service::dispatch(Session& session, std::span<const std::byte> message, Time now) {
  Header header{};
  if (message.size() < sizeof header) throw Refusal{Code::Malformed, fmt::format("a message of {} bytes", message.size())};
  std::memcpy(&header, message.data(), sizeof header);
  if (header.bytes != message.size())
    throw Refusal{Code::Malformed, fmt::format("a message of {} bytes that says {}", message.size(), header.bytes)};
  if (header.sequence != session.sequence + 1)
    throw Refusal{Code::OutOfOrder, fmt::format("message {} after {}", header.sequence, session.sequence)};
  const auto as = [&]<class Message>(Message m) {
    if (message.size() != sizeof m)
      throw Refusal{Code::Malformed, fmt::format("type {} of {} bytes: must be {}", header.type, message.size(), sizeof m)};
    std::memcpy(&m, message.data(), sizeof m);
    return m;
  };
  const auto type = static_cast<Type>(header.type);
  const bool known =
      header.type >= static_cast<std::uint16_t>(Type::Hello) && header.type <= static_cast<std::uint16_t>(Type::Bye);
  if (!known) throw Refusal{Code::Malformed, fmt::format("type {}: there is none", header.type)};
  const bool before_hello = type == Type::Hello || type == Type::Status || type == Type::Bye;
  if (!session.is_open() && !before_hello) throw Refusal{Code::OutOfOrder, "a request before HELLO"};
  session.sequence = header.sequence;
  switch (type) {
    case Type::Hello: return take(session, as(Hello{}));
    case Type::Register: return take(session, as(Register{}));
    case Type::Priority: return take(session, as(Priority{}));
    case Type::Submit: return take(session, as(Submit{}), now);
    case Type::Release: return take(session, as(Release{}));
    case Type::Status: {
      (void)as(Status{});
      std::string json = status_json();
      StatusText m = make<StatusText>(session.sequence);
      m.length = json.size();
      return send(session.id, m, std::move(json));
    }
    default: (void)as(Bye{}); return end(session.id, now, false);
  }
}

void Service::take(Session& session, const Hello& m) {
  if (session.is_open()) throw Refusal{Code::OutOfOrder, "a second HELLO"};
  if (m.version != kVersion) throw Refusal{Code::Version, fmt::format("version {}: must be {}", m.version, kVersion)};
  const std::optional<std::string> name = text(m.name);
  if (!name) throw Refusal{Code::Malformed, "HELLO: name: must be text that ends with a zero byte"};
  if (!is_priority(m.priority))
    throw Refusal{Code::Malformed, fmt::format("HELLO: priority {}: must be 0..{}", m.priority, kMaxPriority)};
  session.name = *name;
  const auto asked = m.priority == kThreadPriority ? std::nullopt : std::optional(m.priority);
  session.priority = granted_priority(asked, session.peer.thread_priority, session.peer.root);
  Welcome welcome = make<Welcome>(session.sequence);
  welcome.session = session.id.value();
  welcome.stubs = kStubs;
  welcome.priority = session.priority;
  send(session.id, welcome);
}

void Service::take(Session& session, const Register& m) {
  const std::optional<std::string> name = text(m.name);
  if (!name || m.reserved != 0) throw Refusal{Code::Malformed, "REGISTER: name or reserved field"};
  Kernel kernel{{}, session.priority};
  kernel.kernel.name = *name;
  kernel.kernel.block_threads = m.block_threads;
  kernel.kernel.registers_per_cta = m.registers;
  kernel.kernel.shared_bytes_per_cta = m.shared_bytes;
  constexpr std::uint32_t kMostThreads = 1024;
  if (m.block_threads == 0 || m.block_threads > kMostThreads)
    throw Refusal{Code::Invalid, fmt::format("block_threads = {}: must be 1..{}", m.block_threads, kMostThreads)};
  try {
    check_fits(machine_, kernel.kernel);
  } catch (const InputError& error) {
    throw Refusal{Code::Invalid, error.what()};
  }
  const auto place = std::ranges::find_if(session.kernels, [](const auto& k) { return !k; });
  if (place == session.kernels.end()) throw Refusal{Code::Full, fmt::format("a session has {} stubs", kStubs)};
  *place = std::move(kernel);
  const auto stub = static_cast<std::uint32_t>(place - session.kernels.begin());
  store(session.page->stub[stub].word, StubWord{StubState::Prep}.packed());
  answer(session, stub, session.priority);
}

void Service::take(Session& session, const Priority& m) {
  if (!is_priority(m.priority))
    throw Refusal{Code::Invalid, fmt::format("priority = {}: must be 0..{}", m.priority, kMaxPriority)};
  const auto asked = m.priority == kThreadPriority ? std::nullopt : std::optional(m.priority);
  const std::int32_t granted = granted_priority(asked, session.peer.thread_priority, session.peer.root);
  if (m.stub == kAllStubs) {
    session.priority = granted;
    for (std::optional<Kernel>& kernel : session.kernels)
      if (kernel) kernel->priority = granted;
  } else if (m.stub < kStubs && session.kernels[m.stub]) {
    session.kernels[m.stub]->priority = granted;
  } else {
    throw Refusal{Code::UnknownStub, fmt::format("stub {}: no kernel is registered there", m.stub)};
  }
  answer(session, m.stub, granted);
}

void Service::take(Session& session, const Submit& m, Time now) {
  if (m.stub >= kStubs || !session.kernels[m.stub])
    throw Refusal{Code::UnknownStub, fmt::format("stub {}: no kernel is registered there", m.stub)};
  Kernel& kernel = *session.kernels[m.stub];
  if (kernel.job) throw Refusal{Code::Busy, fmt::format("stub {}: its launch has not ended", m.stub)};
  if (m.tasks == 0) throw Refusal{Code::Invalid, "tasks = 0: must be 1..4294967295"};
  if (m.task_ns == 0 || m.task_ns > kMaxTaskNs)
    throw Refusal{Code::Invalid, fmt::format("task_ns = {}: must be 1..{}", m.task_ns, kMaxTaskNs)};
  FakeJob job;
  job.kernel = kernel.kernel;
  job.kernel.grid_ctas = m.tasks;
  job.task_time = std::chrono::nanoseconds(m.task_ns);
  job.arrival = now;
  job.priority = kernel.priority;
  kernel.job = executor_.submit(job);
  ++session.launches;
  Stub& stub = session.page->stub[m.stub];
  store(stub.job, kernel.job->value());
  store(stub.priority, kernel.priority);
  store(stub.tasks, std::uint64_t{m.tasks});
  for (std::uint64_t* count : {&stub.tasks_begun, &stub.tasks_done, &stub.evictions}) store(*count, std::uint64_t{0});
  store(stub.word, StubWord{StubState::Prep}.packed());
  answer(session, kernel.job->value(), kernel.priority);
}

void Service::take(Session& session, const Release& m) {
  if (m.reserved != 0) throw Refusal{Code::Malformed, "RELEASE: reserved field"};
  if (m.stub >= kStubs || !session.kernels[m.stub])
    throw Refusal{Code::UnknownStub, fmt::format("stub {}: no kernel is registered there", m.stub)};
  if (session.kernels[m.stub]->job) throw Refusal{Code::Busy, fmt::format("stub {}: its launch has not ended", m.stub)};
  session.kernels[m.stub].reset();
  store(session.page->stub[m.stub].word, StubWord{}.packed());
  answer(session, m.stub, session.priority);
}

void Service::lost(SessionId session, Time now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (events_ && found->second.is_open())
    events_(fmt::format("client {} {}: gone without BYE", found->second.peer.pid, found->second.name));
  end(session, now, found->second.is_open());
}

void Service::too_slow(SessionId session, Time now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  say(found->second, {Code::TooSlow, "its socket is full of answers that it does not read"}, true);
  end(session, now, true);
}

void Service::shutdown(Time now) {
  while (!sessions_.empty()) {
    const Session& session = sessions_.begin()->second;
    send(session.id, refusal(Code::Shutdown, "the service ends"));
    end(session.id, now, false);
  }
}

void Service::end(SessionId id, Time now, bool lost) {
  const Session& session = sessions_.at(id);
  for (const std::optional<Kernel>& kernel : session.kernels) {
    if (!kernel || !kernel->job) continue;
    executor_.lose(*kernel->job, now);
    forsaken_.push_back(*kernel->job);
  }
  if (lost) ++lost_;
  closed_.push_back(id);
  sessions_.erase(id);
}

void Service::advance(Time now) {
  executor_.advance(now);
  for (const JobId job : std::exchange(forsaken_, {})) executor_.forget(job);
  std::vector<SessionId> silent;
  for (auto& [id, session] : sessions_) {
    update(session);
    if (!session.is_open() && now >= session.hello_by) silent.push_back(id);
  }
  for (const SessionId id : silent) {
    say(sessions_.at(id), {Code::TooSlow, "no HELLO"}, true);
    end(id, now, true);
  }
}

void Service::update(Session& session) {
  for (std::uint32_t k = 0; k < kStubs; ++k) {
    std::optional<Kernel>& kernel = session.kernels[k];
    if (!kernel || !kernel->job) continue;
    const FakeProgress p = executor_.progress(*kernel->job);
    Stub& stub = session.page->stub[k];
    store(stub.tasks_begun, p.tasks_begun);
    store(stub.tasks_done, p.outcome.tasks_done);
    store(stub.evictions, std::uint64_t{p.outcome.evictions});
    const std::uint64_t word = StubWord{stub_state(p.state), saturated(p.share.ctas.value()),
                                        saturated(p.share.sms.first.value()), saturated(p.share.sms.count)}
                                   .packed();
    if (p.state == JobState::Done) {
      session.held += p.outcome.held;
      executor_.forget(*kernel->job);
      kernel->job.reset();
    }
    if (word == stub.word) continue;
    store(stub.word, word);
    Changed changed = make<Changed>(0);
    changed.stub = k;
    send(session.id, changed);
  }
}

std::optional<Time> Service::next() const {
  std::optional<Time> first = executor_.next();
  for (const auto& [id, session] : sessions_)
    if (!session.is_open() && (!first || session.hello_by < *first)) first = session.hello_by;
  return first;
}

std::vector<Outgoing> Service::take_outgoing() { return std::exchange(outgoing_, {}); }
std::vector<SessionId> Service::take_closed() { return std::exchange(closed_, {}); }
std::uint64_t Service::decisions() const { return scheduler_->calls(); }

std::size_t Service::open_jobs() const {
  std::size_t jobs = forsaken_.size();
  for (const auto& [id, session] : sessions_)
    jobs += static_cast<std::size_t>(std::ranges::count_if(session.kernels, [](const auto& k) { return k && k->job; }));
  return jobs;
}

std::string Service::status_json() const {
  constexpr std::array kMostAdvanced = {JobState::Running, JobState::ToEvict, JobState::ToRun, JobState::Ready, JobState::Prep};
  auto clients = nlohmann::ordered_json::array();
  for (const auto& [id, session] : sessions_) {
    if (!session.is_open()) continue;
    Time held = session.held;
    auto best = kMostAdvanced.size();
    for (const std::optional<Kernel>& kernel : session.kernels) {
      if (!kernel || !kernel->job) continue;
      const FakeProgress p = executor_.progress(*kernel->job);
      held += p.outcome.held;
      const auto at = std::ranges::find(kMostAdvanced, p.state) - kMostAdvanced.begin();
      best = std::min(best, static_cast<std::size_t>(at));
    }
    const auto part = [](std::uint64_t launches, double ms) {
      return nlohmann::ordered_json{{"launches", launches}, {"gpu_ms", ms}};
    };
    const double ms = std::chrono::duration<double, std::milli>(held).count();
    clients.push_back({{"pid", session.peer.pid},
                       {"name", session.name},
                       {"priority", session.priority},
                       {"state", best == kMostAdvanced.size() ? "idle" : sluice::to_string(kMostAdvanced[best])},
                       {"kernels", {{"quota", part(session.launches, ms)}, {"split", part(0, 0)}, {"native", part(0, 0)}}},
                       {"reasons", nlohmann::ordered_json::object()}});
  }
  const nlohmann::ordered_json out{
      {"scheduler", options_.scheduler}, {"clients", clients}, {"decisions", decisions()}, {"lost", lost_}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sluice::service
