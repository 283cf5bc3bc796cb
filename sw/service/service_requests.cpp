// SPDX-License-Identifier: Apache-2.0
// What clients ask for: each message looked at and answered.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "sw/core/errors.h"
#include "sw/policy/i_policy.h"
#include "sw/scheduler/priority.h"
#include "sw/service/session.h"

namespace sluice::service {

namespace {

/// @return nullopt when it is no text as the protocol has it
template <std::size_t n>
std::optional<std::string> text(const char (&field)[n]) {
  const char* end = std::find(field, field + n, '\0');
  if (end == field + n || end == field) return {};
  if (std::any_of(field, end, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) return {};
  return std::string(field, end);
}

bool is_priority(std::int32_t p) { return p == kThreadPriority || (p >= 0 && p <= kMaxPriority); }

}  // namespace

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
  store_word(session.page->stub[stub].word, StubWord{StubState::Prep}.packed());
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
  store_word(stub.job, kernel.job->value());
  store_word(stub.priority, kernel.priority);
  store_word(stub.tasks, std::uint64_t{m.tasks});
  for (std::uint64_t* count : {&stub.tasks_begun, &stub.tasks_done, &stub.evictions}) store_word(*count, std::uint64_t{0});
  store_word(stub.word, StubWord{StubState::Prep}.packed());
  answer(session, kernel.job->value(), kernel.priority);
}

void Service::take(Session& session, const Release& m) {
  if (m.reserved != 0) throw Refusal{Code::Malformed, "RELEASE: reserved field"};
  if (m.stub >= kStubs || !session.kernels[m.stub])
    throw Refusal{Code::UnknownStub, fmt::format("stub {}: no kernel is registered there", m.stub)};
  if (session.kernels[m.stub]->job) throw Refusal{Code::Busy, fmt::format("stub {}: its launch has not ended", m.stub)};
  session.kernels[m.stub].reset();
  store_word(session.page->stub[m.stub].word, StubWord{}.packed());
  answer(session, m.stub, session.priority);
}

}  // namespace sluice::service
